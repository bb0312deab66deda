import type { JsonType } from '../check/schema-view.js';

type Types = ReadonlySet<JsonType> | undefined;

/**
 * Whether a value may be given for a parameter: `same` by their types, or an item of a list, or as the only item;
 * `text` if it has to be written as text first; `no` if neither.
 */
export function fitOf(given: Types, taken: Types): 'same' | 'text' | 'no' {
  if (given === undefined || taken === undefined) return 'same';
  const numbers = (types: ReadonlySet<JsonType>) => types.has('integer') || types.has('number');
  if ([...given].some((type) => type !== 'null' && taken.has(type))) return 'same';
  if (numbers(given) && numbers(taken)) return 'same';
  return taken.has('string') && !given.has('boolean') ? 'text' : 'no';
}
