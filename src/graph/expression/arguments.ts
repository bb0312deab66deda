import type { Value } from '../json.js';
import { unreachable } from '../unreachable.js';

/** What an argument of a function may be. With a `?` it may be absent as well, given as absent or left out. */
export type ArgumentKind = 'any' | 'text' | 'list' | 'text or list' | 'text?' | 'number?';

/** Whether a value may be given where this kind is taken. */
export function isOfKind(value: Value, kind: ArgumentKind): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'text':
      return typeof value === 'string';
    case 'list':
      return Array.isArray(value);
    case 'text or list':
      return typeof value === 'string' || Array.isArray(value);
    case 'text?':
      return value === undefined || typeof value === 'string';
    case 'number?':
      return value === undefined || typeof value === 'number';
    default:
      return unreachable(kind);
  }
}

/** A kind as a sentence needs it. */
export function describeArgument(kind: ArgumentKind): string {
  switch (kind) {
    case 'any':
      return 'a value';
    case 'list':
      return 'a list';
    case 'text or list':
      return 'text or a list';
    case 'text':
    case 'text?':
      return 'text';
    case 'number?':
      return 'a number';
    default:
      return unreachable(kind);
  }
}
