import type { SchemaFault } from '../../formats/json-schema/schema-compiler.js';
import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import { serverTexts } from './server-texts.js';

const { listedSchemas: texts } = serverTexts;

/**
 * What keeps clients from reading the list in which a tool has this schema: MCP takes schemas of objects alone, and
 * clients refuse a whole list for one that is not.
 */
export function listedSchemaFaults(schema: JsonSchema): SchemaFault[] {
  const given: Json = schema;
  if (!isJsonObject(given)) return [{ pointer: '', problem: texts.notSchema }];
  const { type, properties, required } = given;
  if (type !== 'object') return [{ pointer: '/type', problem: texts.notOfObject(type) }];
  const faults: SchemaFault[] = [];
  if (properties !== undefined && !isJsonObject(properties))
    faults.push({ pointer: '/properties', problem: texts.notProperties });
  for (const [name, property] of isJsonObject(properties) ? Object.entries(properties) : []) {
    if (!isJsonObject(property))
      faults.push({ pointer: `/properties/${escaped(name)}`, problem: texts.notProperty });
  }
  const isList = Array.isArray(required) && required.every((name) => typeof name === 'string');
  if (required !== undefined && !isList) faults.push({ pointer: '/required', problem: texts.notRequired });
  return faults;
}

/** A name in a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
