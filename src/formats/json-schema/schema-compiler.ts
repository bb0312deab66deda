import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../../graph/json.js';
import { patternFaults, readPattern, type SchemaFault } from './pattern.js';
/**
 * Which regular expressions of a schema are applied: `all`, where one that cannot be used makes the schema invalid, or
 * `usable`, which ignores those. The latter is for a schema that was converted from an author's, such as one of zod,
 * which checks the same values itself.
 */
export type Patterns = 'all' | 'usable';

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
    const known = this.#compilers.get(patterns);
    if (known !== undefined) return known;
    const made = compiler(patterns);
    this.#compilers.set(patterns, made);
    return made;
  }
}

const NO_FAULTS: readonly ValueFault[] = [];

interface Compiler {
  readonly ajv: Ajv2020;
  readonly compiled: WeakMap<JsonSchema, ValidateFunction>;
}

function compiler(patterns: Patterns): Compiler {
  const ajv = new Ajv2020({
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
  formats.default(ajv);
  return { ajv, compiled: new WeakMap() };
}

/** Compiles the regular expressions of schemas for Ajv. */
function engine(patterns: Patterns) {
  const read = (source: string) => {
    const found = readPattern(source);
    if (!found.ok && patterns === 'all') throw new Error(`the pattern "${source}" ${found.why}`);
    const test = (text: string): boolean => !found.ok || found.pattern.test(text);
    // Ajv identifies patterns by their text.
    return { test, toString: () => source };
  };
  return Object.assign(read, { code: 'readPattern' });
}

function compiled(schema: JsonSchema, { ajv, compiled: known }: Compiler): ValidateFunction {
  let validate = known.get(schema);
  if (validate === undefined) {
    const { $schema: _dialect, ...body } = schema;
    validate = ajv.compile(body);
    known.set(schema, validate);
  }
  return validate;
}

/** Keeps the first fault of each place: a value that no alternative of a union accepts has one for each of them. */
function firstPerPlace(faults: readonly SchemaFault[]): SchemaFault[] {
  const places = new Set<string>();
  return faults.filter(({ pointer }) => !places.has(pointer) && places.add(pointer));
}
