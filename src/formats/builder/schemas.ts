import type { Json, JsonSchema } from '../../graph/json.js';
import { SchemaCompiler } from '../json-schema/schema-compiler.js';
import { reasons } from './errors.js';
import { constantExpr } from './expressions.js';

/** Shared, since it is expensive to compile a schema again. */
const schemas = new SchemaCompiler();

/** Why a value is not a JSON Schema. */
export function schemaReasons(schema: JsonSchema): string[] {
  // Programs may pass any value, even one with cycles.
  const plain = constantExpr(schema);
  if ('fault' in plain) return [reasons.schema('', `is not JSON: ${plain.fault}`)];
  if (plain.value.kind !== 'dict') return [reasons.schema('', 'is not an object')];
  return schemas.faults(schema).map(({ pointer, problem }) => reasons.schema(pointer, problem));
}

/** Why a default does not fit its schema. */
export function defaultReasons(fallback: Json, schema: JsonSchema): string[] {
  const plain = constantExpr(fallback);
  if ('fault' in plain) return [reasons.default(`it is not JSON: ${plain.fault}`)];
  return schemas
    .check(schema, fallback)
    .map(({ instancePath, message = 'is not valid' }) =>
      reasons.default(`${instancePath === '' ? 'it' : `'${instancePath}'`} ${message}`),
    );
}
