import { type Json, keysOf } from '../../graph/json.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { entryOf, jsonOf, locatedAt, SourceText } from './located.js';
import { readLenientJson } from './read-json.js';

/** A JSON document, with the place of everything in it. */
export interface JsonDocument {
  /** Undefined for an empty document, and for one with a fault of syntax. */
  readonly value: Json | undefined;
  /** The first fault of syntax. */
  readonly faults: readonly { readonly message: string; readonly place: SourceLocation }[];
  /** Whether there is a value at this JSON pointer. */
  has(pointer: string): boolean;
  /** The place of the value at a JSON pointer, or of the nearest value around it. */
  placeOf(pointer: string): SourceLocation;
  /** The place of the key in a JSON pointer's last segment, or else {@link placeOf}. */
  keyPlaceOf(pointer: string): SourceLocation;
}

/**
 * Reads JSON as TypeScript reads its configuration files: comments and trailing commas are no faults, and the last of
 * two members of one name counts.
 *
 * @param file - path for the places, relative to the project's root.
 */
export function parseJsonDocument(file: string, text: string): JsonDocument {
  const source = new SourceText(file, text.replace(/^\ufeff/, ''));
  const { root, faults } = readLenientJson(source);
  const placeOf = (pointer: string): SourceLocation => {
    const { start, end } = root === undefined ? { start: 0, end: 0 } : locatedAt(root, pointer);
    return source.place(start, end, pointer);
  };
  return {
    value: root === undefined ? undefined : jsonOf(root),
    faults,
    has: (pointer) => root !== undefined && locatedAt(root, pointer).pointer === pointer,
    placeOf,
    keyPlaceOf: (pointer) => {
      const parent = pointer.slice(0, Math.max(pointer.lastIndexOf('/'), 0));
      const around = root === undefined ? undefined : locatedAt(root, parent);
      const name = keysOf(pointer).at(-1) ?? '';
      const isParent = around?.kind === 'map' && around.pointer === parent;
      const key = isParent ? entryOf(around, name)?.key : undefined;
      return key === undefined ? placeOf(pointer) : source.place(key.start, key.end, pointer);
    },
  };
}
