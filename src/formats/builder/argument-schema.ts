import type { Json, JsonSchema } from '../../graph/json.js';
import type { Input } from '../../graph/model.js';
import { SchemaCompiler } from '../json-schema/schema-compiler.js';
import { constantExpr } from './constants.js';
import type { ArgumentDefinition } from './definition.js';
import { InvalidOptionError, reasons, type WorkflowError } from './errors.js';

/** The schema of an argument that says nothing of it. */
const TEXT: JsonSchema = { type: 'string' };

/** Shared: to compile the same schema again is dear. */
const schemas = new SchemaCompiler();

/**
 * What the values of an argument are checked by, and what stands in for them. Parts that were reported are left out; a
 * schema among them becomes that of anything.
 *
 * @param report is told what is wrong with the schema, or with a default that does not fit it.
 */
export function valuesOf(
  { name, schema = TEXT, default: standing }: ArgumentDefinition,
  report: (error: WorkflowError) => void,
): Pick<Input, 'schema' | 'default'> {
  const owner = `argument '${name}'`;
  const found = schema === TEXT ? [] : schemaReasons(schema);
  const isUsable = found.length === 0;
  const misfits = standing === undefined || !isUsable ? [] : standingReasons(standing, schema);
  for (const reason of [...found, ...misfits]) report(new InvalidOptionError({ owner, reason }));
  if (!isUsable) return { schema: {} };
  return { schema, ...(standing === undefined || misfits.length > 0 ? {} : { default: standing }) };
}

function schemaReasons(schema: JsonSchema): string[] {
  // A schema of a program's making may be anything, also a cycle.
  const plain = constantExpr(schema);
  if ('fault' in plain) return [reasons.schema('', `is not JSON: ${plain.fault}`)];
  if (plain.value.kind !== 'dict') return [reasons.schema('', 'is no object')];
  return schemas.faults(schema).map(({ pointer, problem }) => reasons.schema(pointer, problem));
}

function standingReasons(standing: Json, schema: JsonSchema): string[] {
  const plain = constantExpr(standing);
  if ('fault' in plain) return [reasons.standing(`it is not JSON: ${plain.fault}`)];
  return schemas
    .check(schema, standing)
    .map(({ instancePath, message = 'is not valid' }) =>
      reasons.standing(`${instancePath === '' ? 'it' : `'${instancePath}'`} ${message}`),
    );
}
