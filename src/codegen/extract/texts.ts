import { ownProperty } from '../../graph/json.js';
import type { Place } from '../../graph/place.js';
import type { ReadOptions } from './read-options.js';

/** The named options that were given as text. */
export function textOptions<K extends string>(
  options: ReadOptions,
  names: readonly K[],
): { readonly [P in K]?: string } {
  const found: [string, string][] = [];
  for (const name of names) {
    const value = ownProperty(options.values, name);
    if (typeof value === 'string') found.push([name, value]);
  }
  return Object.fromEntries(found) as { readonly [P in K]?: string };
}

/** Where an option's value stands, or else the decorator. */
export function placeOfOption(options: ReadOptions, name: string, fallback: Place): Place {
  return ownProperty(options.syntax, name)?.place ?? fallback;
}
