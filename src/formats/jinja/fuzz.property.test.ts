import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { JsonObject } from '../../graph/json.js';
import type { Span } from '../../graph/source-location.js';
import { render } from './render.fixture.js';
import type { Place } from './syntax.js';
import { anyTemplate } from './templates.fixture.js';

const numRuns = isNightly ? 1_000_000 : 5_000;

const context: JsonObject = {
  state: { a: 'text', l: [1, 2, 3], n: 2.5, o: { k: 'v', constructor: 'data' } },
  inputs: { q: 'it' },
  item: { name: 'x', tags: ['t'] },
};

const FOREIGN = new Set<unknown>([
  Object.prototype,
  Array.prototype,
  String.prototype,
  Function.prototype,
  Object,
  Array,
]);

/** Whether a value is JSON, and shares no part with the host language. */
function isPlain(value: unknown, depth = 0): boolean {
  if (value === undefined || value === null || ['string', 'boolean'].includes(typeof value)) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || FOREIGN.has(value) || depth > 100) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOwn = prototype === Object.prototype || prototype === Array.prototype || prototype === null;
  return isOwn && Object.values(value).every((part) => isPlain(part, depth + 1));
}

/** Whether offsets are a range in a text. */
function isIn(length: number, { start, end }: Place): boolean {
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= length;
}

describe('random templates', () => {
  test(
    'end with plain JSON, or an error with a code, at places inside the template',
    () => {
      const before = Object.getOwnPropertyNames(Object.prototype).length;
      fc.assert(
        fc.property(
          anyTemplate,
          fc.constantFrom('value' as const, 'text' as const, 'reader' as const),
          (template, position) => {
            const places: Place[] = [];
            const at = (start: number, end: number): Span => {
              places.push({ start, end });
              return [1, 1 + start, 1, 1 + end];
            };
            const rendered = render(template, position, context, { budget: 100_000, at });
            if ('value' in rendered) expect(isPlain(rendered.value)).toBe(true);
            else expect(rendered.error).toMatch(/^(?:fault|E_[A-Z_]+)$/);
            // A fault at the end of a template is one character behind it.
            const faults = ('at' in rendered && rendered.at) || [];
            expect(places.every((place) => isIn(template.length, place))).toBe(true);
            expect(faults.every((place) => isIn(template.length + 1, place))).toBe(true);
          },
        ),
        { numRuns },
      );
      expect(Object.getOwnPropertyNames(Object.prototype).length).toBe(before);
    },
    isNightly ? 1_800_000 : 120_000,
  );
});
