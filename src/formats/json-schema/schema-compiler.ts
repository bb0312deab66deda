import { createRequire } from 'node:module';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type formats from 'ajv-formats';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonSchema, pointerKey } from '../../graph/json.js';
import { getOrInsert, uniqueBy } from '../../graph/maps.js';
import { currentSchema, mapSubschemas } from './dialect.js';
import { patternOf, readPattern } from './regular-expression.js';

export interface SchemaFault {
  /** JSON pointer into the schema, '' for the whole. */
  readonly pointer: string;
  /** What is wrong, as the end of a sentence. */
  readonly problem: string;
}

/**
 * Finds the regular expressions of a schema, and of all schemas inside it, that cannot be used: those of `pattern` and
 * of `patternProperties`.
 */
export function patternFaults(schema: JsonSchema): SchemaFault[] {
  const faults: SchemaFault[] = [];
  visit(schema, '', faults);
  return faults;
}

function visit(schema: Json, pointer: string, faults: SchemaFault[]): void {
  if (!isJsonObject(schema)) return;
  if (typeof schema.pattern === 'string') inspect(schema.pattern, `${pointer}/pattern`, faults);
  mapSubschemas(schema, (part, inside) => {
    visit(part, `${pointer}${inside}`, faults);
    return part;
  });
  if (!isJsonObject(schema.patternProperties)) return;
  for (const source of Object.keys(schema.patternProperties))
    inspect(source, `${pointer}/patternProperties/${pointerKey(source)}`, faults);
}

function inspect(source: string, pointer: string, faults: SchemaFault[]): void {
  const reading = readPattern(source);
  if (!reading.ok) faults.push({ pointer, problem: reading.why });
}

/** A pattern that a schema was left without. */
export interface PatternFault extends SchemaFault {
  readonly pattern: string;
}

/** Escapes of other languages, such as `\\A` and `\\Z`: ECMAScript takes them for the letter without the flag `u`. */
const FOREIGN_ESCAPE = /(?<!\\)(?:\\\\)*\\[aACeEFgGhHiIjJKlLmMNoOqQRTUVXyYzZ]/;

/**
 * A schema without the patterns that cannot be used. A pattern that is valid without the flag `u` alone, such as
 * `^[\\w-.]+$`, is written as one with it.
 */
export function withUsablePatterns(schema: JsonSchema): {
  readonly schema: JsonSchema;
  readonly patterns: readonly PatternFault[];
} {
  const patterns: PatternFault[] = [];
  return { schema: repaired(schema, '', patterns), patterns };
}

function repaired(schema: JsonSchema, at: string, faults: PatternFault[]): JsonSchema {
  const usable = (pattern: string, pointer: string): string | undefined => {
    const reading = readPattern(pattern);
    if (reading.ok) return pattern;
    const written = patternOf({ source: pattern, flags: '' });
    if (!FOREIGN_ESCAPE.test(pattern) && written.ok && readPattern(written.pattern).ok)
      return written.pattern;
    faults.push({ pattern, pointer: `${at}/${pointer}`, problem: reading.why });
    return undefined;
  };
  const inner = mapSubschemas(schema, (part, pointer) =>
    isJsonObject(part) ? repaired(part, `${at}${pointer}`, faults) : part,
  );
  const { pattern, patternProperties, ...rest } = inner;
  let result = inner;
  if (typeof pattern === 'string') {
    const own = usable(pattern, 'pattern');
    if (own !== pattern) result = { ...rest, ...defined({ patternProperties, pattern: own }) };
  }
  if (!isJsonObject(patternProperties)) return result;
  const names = Object.keys(patternProperties).map((name) => [
    name,
    usable(name, `patternProperties/${pointerKey(name)}`),
  ]);
  if (names.every(([name, own]) => name === own)) return result;
  const { additionalProperties, patternProperties: _, ...open } = result;
  const isWhole = names.every(([, own]) => own !== undefined);
  return {
    ...open,
    patternProperties: Object.fromEntries(
      names.flatMap(([name = '', own]) => (own === undefined ? [] : [[own, patternProperties[name] ?? {}]])),
    ),
    // Keys that the pattern would have named are not further ones.
    ...(isWhole ? defined({ additionalProperties }) : {}),
  };
}

/**
 * Which regular expressions of a schema are applied: `all`, where one that cannot be used makes the schema invalid, or
 * `usable`, which ignores those. The latter is for a schema that was converted from an author's, such as one of zod,
 * which checks the same values itself.
 */
type Patterns = 'all' | 'usable';

/** A fault of a value, as a keyword of the schema reports it. */
export interface ValueFault {
  readonly keyword: string;
  /** JSON pointer to the value, '' for the whole. */
  readonly instancePath: string;
  /** Path to the keyword in the schema, after `#`. */
  readonly schemaPath: string;
  /** Details that depend on the keyword: `missingProperty`, `additionalProperty`, `allowedValues`, … */
  readonly params: Readonly<Record<string, unknown>>;
  /** What is wrong, as the end of a sentence. */
  readonly message?: string;
  /** The key that a schema of `propertyNames` refuses. */
  readonly propertyName?: string;
}

/**
 * Checks values against JSON Schemas of the dialect that they declare, draft 2020-12 by default, with `format` asserted.
 * Each schema is compiled once, on first use. A check finds all faults of a value. It fills in no defaults and coerces
 * nothing.
 */
export class SchemaCompiler {
  /** Made on first use, since each is expensive. */
  readonly #compilers = new Map<Patterns, ReturnType<typeof compilerWith>>();

  /**
   * Returns the faults of a value; none if it matches the schema.
   *
   * @throws Error for an invalid schema.
   */
  check(schema: JsonSchema, value: unknown, patterns: Patterns = 'all'): readonly ValueFault[] {
    const validate = this.#validatorOf(schema, patterns);
    return validate(value) ? NO_FAULTS : (validate.errors ?? []);
  }

  /** Returns the faults of a schema itself; none if {@link check} can use it. */
  faults(schema: JsonSchema, patterns: Patterns = 'all'): readonly SchemaFault[] {
    const unusable = patterns === 'all' ? patternFaults(schema) : [];
    const { errors } = checkedByMetaSchema(bodyOf(schema));
    // An invalid pattern violates the format `regex` too.
    const malformed = (errors ?? []).filter(({ params }) => params.format !== 'regex');
    const faults = [
      ...unusable,
      ...malformed.map(({ instancePath, message = '' }) => ({ pointer: instancePath, problem: message })),
    ];
    // A value that no alternative of a union accepts has a fault for each of them.
    if (faults.length > 0) return uniqueBy(faults, ({ pointer }) => pointer);
    try {
      this.#validatorOf(schema, patterns);
      return [];
    } catch (error) {
      return [
        { pointer: '', problem: `cannot be used: ${error instanceof Error ? error.message : String(error)}` },
      ];
    }
  }

  #validatorOf(schema: JsonSchema, patterns: Patterns): ValidateFunction {
    return getOrInsert(this.#compilers, patterns, () => compilerWith(patterns))(schema);
  }
}

const NO_FAULTS: readonly ValueFault[] = [];

function compilerWith(patterns: Patterns): (schema: JsonSchema) => ValidateFunction {
  const ajv = makeAjv(patterns);
  const compiled = new WeakMap<JsonSchema, ValidateFunction>();
  return (schema) =>
    getOrInsert(compiled, schema, () => {
      const body = bodyOf(schema);
      const meta = checkedByMetaSchema(body);
      if (meta.errors) throw new Error(`schema is invalid: ${meta.errorsText()}`);
      const validate = ajv.compile(body);
      ajv.removeSchema(body);
      return validate;
    });
}

/** Shared, since the meta-schema takes more than ten times as long to compile as the schemas of a server. */
let metaSchema: Ajv2020 | undefined;

/** Returns the compiler that has the faults of a schema. */
function checkedByMetaSchema(schema: JsonSchema): Ajv2020 {
  metaSchema ??= makeAjv('all');
  metaSchema.validateSchema(schema);
  return metaSchema;
}

/** Makes a compiler of schemas of draft 2020-12 that knows the formats. */
function makeAjv(patterns: Patterns): Ajv2020 {
  const ajv = new (load<{ readonly Ajv2020: typeof Ajv2020 }>('ajv/dist/2020.js').Ajv2020)({
    allErrors: true,
    // Inherited members such as `constructor` are not properties of a value.
    ownProperties: true,
    // Unknown keywords are annotations, as in the standard.
    strict: false,
    validateFormats: true,
    // The schema that is compiled is the one that `#` names.
    addUsedSchema: true,
    validateSchema: false,
    logger: false,
    code: { regExp: engine(patterns) },
  });
  load<typeof formats>('ajv-formats').default(ajv);
  return ajv;
}

/** Compiles the regular expressions of schemas for Ajv. */
function engine(patterns: Patterns) {
  const read = (source: string) => {
    const reading = readPattern(source);
    if (!reading.ok && patterns === 'all') throw new Error(`the pattern "${source}" ${reading.why}`);
    const test = (text: string): boolean => !reading.ok || reading.pattern.test(text);
    // Ajv identifies patterns by their text.
    return { test, toString: () => source };
  };
  return Object.assign(read, { code: 'readPattern' });
}

/** A schema in the one dialect that is compiled. */
function bodyOf(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, ...body } = currentSchema(schema);
  return body;
}

/**
 * The libraries that check values, loaded with the first value to check: a server starts and lists its tools without
 * them. They are loaded by `require`, since a check is synchronous.
 */
function load<Module>(name: string): Module {
  return createRequire(import.meta.url)(name) as Module;
}

/** Shared, since it is expensive to compile a schema again. */
let shared: SchemaCompiler | undefined;

/** Why a value is not what a schema describes, as the end of a sentence; `undefined` where it is. */
export function valueFault(schema: JsonSchema, value: Json): string | undefined {
  shared ??= new SchemaCompiler();
  const [first] = shared.check(schema, value, 'usable');
  if (first === undefined) return undefined;
  const { instancePath, keyword, params, message = 'does not fit' } = first;
  const where = instancePath ? `\`${instancePath}\` ` : 'it ';
  const allowed = keyword === 'enum' ? (params.allowedValues as readonly Json[]) : [];
  const values = allowed.slice(0, 10).map((each) => JSON.stringify(each));
  return `${where}${values.length === 0 ? message : `must be one of ${values.join(', ')}`}`;
}
