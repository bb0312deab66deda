import { createRequire } from 'node:module';
import type { Ajv2020, Options, ValidateFunction } from 'ajv/dist/2020.js';
import type formats from 'ajv-formats';
import type { RE2JS } from 're2js';
import { isJsonObject, type Json, type JsonSchema, pointerKey } from '../../graph/json.js';

/** A regular expression that is matched in time proportional to the text. */
interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/** A compiled pattern, or the reason why it cannot be used, as the end of a sentence. */
export type ReadPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly why: string };

/**
 * Compiles a `pattern` of JSON Schema: an ECMAScript regular expression with the flag `u`. RE2 matches it (Cox,
 * "Regular Expression Matching Can Be Simple And Fast", 2007) with the meaning it has in ECMAScript. Patterns that need
 * backtracking are refused: lookaround and back-references. So are counts above 1000, and classes `\p{…}` that RE2 does
 * not have.
 */
export function readPattern(source: string): ReadPattern {
  try {
    new RegExp(source, 'u');
  } catch (error) {
    return { ok: false, why: `is not a regular expression: ${reasonOf(error)}` };
  }
  const re2 = loadRe2();
  try {
    const compiled = re2.compile(re2.translateRegExp(toRe2(source)));
    return { ok: true, pattern: { test: (text) => compiled.test(text) } };
  } catch (error) {
    return { ok: false, why: `cannot be matched in linear time: ${reasonOf(error)}` };
  }
}

/** The characters that `\s` and `\S` match in ECMAScript. In RE2 `\s` matches only ASCII white space. */
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** The characters that `.` matches in ECMAScript. In RE2 only `\n` ends a line. */
const DOT = '[^\\n\\r\\x{2028}\\x{2029}]';

/** The parts of a pattern that differ between the two languages, and escapes, which may contain such parts. */
const PARTS = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\.|[.[\]]/gisu;

/** Translates a valid ECMAScript pattern to RE2, except for the parts that `translateRegExp` translates. */
function toRe2(source: string): string {
  let isInClass = false;
  return source.replace(PARTS, (part, high?: string, low?: string) => {
    if (high !== undefined && low !== undefined) return codePoint(`0x${high}`, `0x${low}`);
    const set = part === '\\s' ? SPACE : part === '\\S' ? NO_SPACE : undefined;
    if (set !== undefined) return isInClass ? set : `[${set}]`;
    // RE2 would match the name as text.
    if (part === '\\k') throw new Error('it refers back to a group');
    if (isInClass) {
      if (part === ']') isInClass = false;
      if (part === '\\b') return '\\x08';
      // `[[` would begin a POSIX class.
      return part === '[' ? '\\[' : part;
    }
    if (part === '[') isInClass = true;
    return part === '.' ? DOT : part;
  });
}

/** The escape of the character of a surrogate pair. */
function codePoint(high: string, low: string): string {
  const character = String.fromCharCode(Number(high), Number(low));
  return `\\x{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^(?:error parsing regexp|Invalid regular expression): /, '');
}

/** A fault of a schema. */
export interface SchemaFault {
  /** JSON pointer into the schema, '' for the whole. */
  readonly pointer: string;
  /** What is wrong, as the end of a sentence. */
  readonly problem: string;
}

/** Keywords whose value is a schema. */
const SCHEMA = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose value is a list of schemas. */
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords whose value is an object of schemas. */
const NAMED = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/**
 * Finds the regular expressions of a schema, and of all schemas inside it, that cannot be used: those of `pattern` and
 * of `patternProperties`.
 */
export function patternFaults(schema: JsonSchema): SchemaFault[] {
  const faults: SchemaFault[] = [];
  visit(schema, '', faults);
  return faults;
}

function visit(schema: Json | undefined, pointer: string, faults: SchemaFault[]): void {
  if (!isJsonObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${pointer}/${keyword}`;
    if (keyword === 'pattern' && typeof value === 'string') inspect(value, at, faults);
    else if (SCHEMA.has(keyword)) visit(value, at, faults);
    else if (LIST.has(keyword) && Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, `${at}/${index}`, faults);
    } else if (NAMED.has(keyword) && isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        const inside = `${at}/${pointerKey(name)}`;
        if (keyword === 'patternProperties') inspect(name, inside, faults);
        visit(member, inside, faults);
      }
    }
  }
}

function inspect(source: string, pointer: string, faults: SchemaFault[]): void {
  const reading = readPattern(source);
  if (!reading.ok) faults.push({ pointer, problem: reading.why });
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
}

/**
 * Checks values against JSON Schemas (draft 2020-12, with `format` asserted). Each schema is compiled once, on first
 * use. A check finds all faults of a value. It fills in no defaults and coerces nothing.
 */
export class SchemaCompiler {
  /** Made on first use, since each is expensive. */
  readonly #compilers = new Map<Patterns, Compiler>();

  /**
   * Returns the faults of a value; none if it matches the schema.
   *
   * @throws Error for an invalid schema.
   */
  check(schema: JsonSchema, value: unknown, patterns: Patterns = 'all'): readonly ValueFault[] {
    const validate = compiled(schema, this.#compiler(patterns));
    return validate(value) ? NO_FAULTS : (validate.errors ?? []);
  }

  /** Returns the faults of a schema itself; none if {@link check} can use it. */
  faults(schema: JsonSchema, patterns: Patterns = 'all'): readonly SchemaFault[] {
    const { ajv } = this.#compiler(patterns);
    const { $schema: _dialect, ...body } = schema;
    const unusable = patterns === 'all' ? patternFaults(schema) : [];
    ajv.validateSchema(body);
    // An invalid pattern violates the format `regex` too.
    const malformed = (ajv.errors ?? []).filter(({ params }) => params.format !== 'regex');
    const faults = [
      ...unusable,
      ...malformed.map(({ instancePath, message = '' }) => ({ pointer: instancePath, problem: message })),
    ];
    if (faults.length > 0) return firstPerPlace(faults);
    try {
      compiled(schema, this.#compiler(patterns));
      return [];
    } catch (error) {
      return [
        { pointer: '', problem: `cannot be used: ${error instanceof Error ? error.message : String(error)}` },
      ];
    }
  }

  #compiler(patterns: Patterns): Compiler {
    const existing = this.#compilers.get(patterns);
    if (existing !== undefined) return existing;
    const created = compiler(patterns);
    this.#compilers.set(patterns, created);
    return created;
  }
}

const NO_FAULTS: readonly ValueFault[] = [];

interface Compiler {
  readonly ajv: Ajv2020;
  readonly compiled: WeakMap<JsonSchema, ValidateFunction>;
}

function compiler(patterns: Patterns): Compiler {
  const ajv = makeAjv({
    allErrors: true,
    // Inherited members such as `constructor` are not properties of a value.
    ownProperties: true,
    // Unknown keywords are annotations, as in the standard.
    strict: false,
    validateFormats: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: engine(patterns) },
  });
  return { ajv, compiled: new WeakMap() };
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

function compiled(schema: JsonSchema, { ajv, compiled: cache }: Compiler): ValidateFunction {
  let validate = cache.get(schema);
  if (validate === undefined) {
    const { $schema: _dialect, ...body } = schema;
    validate = ajv.compile(body);
    cache.set(schema, validate);
  }
  return validate;
}

/** Keeps the first fault of each place: a value that no alternative of a union accepts has one for each of them. */
function firstPerPlace(faults: readonly SchemaFault[]): SchemaFault[] {
  const places = new Set<string>();
  return faults.filter(({ pointer }) => !places.has(pointer) && places.add(pointer));
}

/**
 * The libraries that check values, loaded with the first value to check: a server starts and lists its tools without
 * them. They are loaded by `require`, since a check is synchronous.
 */
function load<Module>(name: string): Module {
  return createRequire(import.meta.url)(name) as Module;
}

/** Makes a compiler of schemas of draft 2020-12 that knows the formats. */
function makeAjv(options: Options): Ajv2020 {
  const ajv = new (load<{ readonly Ajv2020: typeof Ajv2020 }>('ajv/dist/2020.js').Ajv2020)(options);
  load<typeof formats>('ajv-formats').default(ajv);
  return ajv;
}

let re2: typeof RE2JS | undefined;

function loadRe2(): typeof RE2JS {
  re2 ??= load<{ readonly RE2JS: typeof RE2JS }>('re2js').RE2JS;
  return re2;
}
