import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import { readPattern } from './pattern.js';

/** Something wrong with a schema: where in it (JSON pointer, '' for the whole), and what, as the end of a sentence. */
export interface SchemaFault {
  readonly pointer: string;
  readonly problem: string;
}

/** Keywords that hold a schema. */
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
/** Keywords that hold a list of schemas. */
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords that hold schemas by names. */
const NAMED = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/**
 * The regular expressions of a schema that cannot be used, each with its place: those of `pattern` and of
 * `patternProperties`, in the schema and in all schemas inside it.
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
        const inside = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (keyword === 'patternProperties') inspect(name, inside, faults);
        visit(member, inside, faults);
      }
    }
  }
}

function inspect(source: string, pointer: string, faults: SchemaFault[]): void {
  const read = readPattern(source);
  if (!read.ok) faults.push({ pointer, problem: read.why });
}
