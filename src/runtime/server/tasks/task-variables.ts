import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { issueProblems } from '../../tools/schema-problems.js';
import { TaskVariableError } from './progress.js';

/**
 * Returns a variable that is text; `undefined` for one that is missing.
 * @throws TaskVariableError for a variable that is not text.
 */
export function getString(variables: JsonObject, key: string): string | undefined {
  const value = ownProperty(variables, key);
  if (value === undefined || typeof value === 'string') return value;
  throw new TaskVariableError(key, 'is not text');
}

/**
 * Returns a variable that is a number; `undefined` for one that is missing.
 * @throws TaskVariableError for a variable that is not a number.
 */
export function getNumber(variables: JsonObject, key: string): number | undefined {
  const value = ownProperty(variables, key);
  if (value === undefined || typeof value === 'number') return value;
  throw new TaskVariableError(key, 'is not a number');
}

/**
 * Returns a variable as a Standard Schema, such as one of zod, reads it; `undefined` for one that is missing.
 * @throws TaskVariableError for a variable that does not match the schema.
 */
export async function getTyped<T>(
  variables: JsonObject,
  key: string,
  schema: StandardSchemaV1<unknown, T>,
): Promise<T | undefined> {
  const value = ownProperty(variables, key);
  if (value === undefined) return undefined;
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const problems = issueProblems(result.issues).map(({ message }) => message);
  throw new TaskVariableError(key, `does not match its schema: ${problems.join('; ')}`);
}
