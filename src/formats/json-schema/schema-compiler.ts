import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../../graph/json.js';
import { readPattern } from './pattern.js';
import { patternFaults, type SchemaFault } from './pattern-faults.js';

/**
 * Which regular expressions of a schema hold: `all`, and one that cannot be used makes the schema useless; or those that
 * are `usable`, for a schema that was made from an author's own one, which checks the same values by its own means.
 */
export type Patterns = 'all' | 'usable';

/** A fault of a value, as the keyword of the schema that found it tells it. */
export interface ValueFault {
  readonly keyword: string;
  /** JSON pointer to the value, '' for the whole. */
  readonly instancePath: string;
  /** Path to the keyword in the schema, after `#`. */
  readonly schemaPath: string;
  /** What the keyword says of it, by keyword: `missingProperty`, `additionalProperty`, `allowedValues`, … */
  readonly params: Readonly<Record<string, unknown>>;
  /** The end of a sentence. */
  readonly message?: string;
}

/**
 * Compiles JSON Schemas (draft 2020-12, formats asserted), each once and on first use. Nothing a schema says is
 * ignored in part: all faults of a value are found. Defaults are not filled in and nothing is coerced.
 */
export class SchemaCompiler {
  /** Made when they are needed first: each is dear. */
  readonly #compilers = new Map<Patterns, Compiler>();

  /**
   * The faults of a value; none when the schema accepts it.
   * @throws Error when the schema is not valid.
   */
  check(schema: JsonSchema, value: unknown, patterns: Patterns = 'all'): readonly ValueFault[] {
    const validate = compiled(schema, this.#compiler(patterns));
    return validate(value) ? NO_FAULTS : (validate.errors ?? []);
  }

  /** What is wrong with a schema itself; nothing where {@link check} can use it. */
  faults(schema: JsonSchema, patterns: Patterns = 'all'): readonly SchemaFault[] {
    const { ajv } = this.#compiler(patterns);
    const { $schema: _dialect, ...body } = schema;
    const unusable = patterns === 'all' ? patternFaults(schema) : [];
    ajv.validateSchema(body);
    // A pattern that is none breaks the format `regex` as well.
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
    // Unknown keywords are annotations, as the standard says.
    strict: false,
    validateFormats: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: engine(patterns) },
  });
  formats.default(ajv);
  return { ajv, compiled: new WeakMap() };
}

/** Reads the regular expressions of schemas for Ajv. */
function engine(patterns: Patterns) {
  const read = (source: string) => {
    const found = readPattern(source);
    if (!found.ok && patterns === 'all') throw new Error(`the pattern "${source}" ${found.why}`);
    const test = (text: string): boolean => !found.ok || found.pattern.test(text);
    // Ajv tells patterns apart by their text.
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

/** What no alternative of a union accepts is told by each of them. */
function firstPerPlace(faults: readonly SchemaFault[]): SchemaFault[] {
  const places = new Set<string>();
  return faults.filter(({ pointer }) => !places.has(pointer) && places.add(pointer));
}
