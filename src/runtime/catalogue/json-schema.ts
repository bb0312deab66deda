import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../../graph/json.js';

/**
 * Compiles JSON Schemas (draft 2020-12, formats asserted), each once and on first use. Nothing a schema says is
 * ignored in part: all faults of a value are found. Defaults are not filled in and nothing is coerced.
 */
export class SchemaCompiler {
  readonly #ajv = new Ajv2020({
    allErrors: true,
    // Inherited members such as `constructor` are not properties of a value.
    ownProperties: true,
    // Unknown keywords are annotations, as the standard says.
    strict: false,
    validateFormats: true,
    addUsedSchema: false,
    logger: false,
  });
  readonly #compiled = new WeakMap<JsonSchema, ValidateFunction>();

  constructor() {
    formats.default(this.#ajv);
  }

  /**
   * The faults of a value; none when the schema accepts it.
   * @throws Error when the schema is not valid.
   */
  check(schema: JsonSchema, value: unknown): readonly ErrorObject[] {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      const { $schema: _dialect, ...body } = schema;
      validate = this.#ajv.compile(body);
      this.#compiled.set(schema, validate);
    }
    return validate(value) ? [] : (validate.errors ?? []);
  }
}
