import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Json, JsonSchema } from '../../graph/json.js';

/** Why a value is not what a schema describes, as the end of a sentence; nothing where it is. */
export function schemaFault(schema: JsonSchema, value: Json): string | undefined {
  const ajv = new Ajv2020({ ownProperties: true, strict: false, logger: false });
  formats.default(ajv);
  const validate = ajv.compile(schema);
  if (validate(value)) return undefined;
  const [first] = validate.errors ?? [];
  const where = first?.instancePath ? `\`${first.instancePath}\` ` : 'it ';
  return `${where}${first?.message ?? 'does not fit'}`;
}
