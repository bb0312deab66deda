import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, Value } from '../json.js';
import { Budget, evaluate } from './evaluate.js';

function encoded(fn: string, value: Value): Value {
  const literal = value === undefined ? { kind: 'literal' as const } : { kind: 'literal' as const, value };
  return evaluate({ kind: 'call', fn, args: [literal] }, { lookup: () => undefined }, new Budget(1_000_000));
}

describe('uriComponent', () => {
  test.each([
    ['plain-1._~', 'plain-1._~'],
    ['../../secret?x#y', '..%2F..%2Fsecret%3Fx%23y'],
    ["!'()*", '%21%27%28%29%2A'],
    ['50%', '50%25'],
    ['größe 😀', 'gr%C3%B6%C3%9Fe%20%F0%9F%98%80'],
    ['\uD800', '%EF%BF%BD'],
    [4.5, '4.5'],
    ['', ''],
  ])('%j', (value, expected) => {
    expect(encoded('uriComponent', value)).toBe(expected);
  });

  test('is undone by decoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const uri = encoded('uriComponent', text);
        expect(uri).toMatch(/^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/);
        expect(decodeURIComponent(String(uri))).toBe(text);
      }),
    );
  });

  test.each<[Json | undefined]>([[null], [undefined], [true], [['a']], [{}]])('refuses %j', (value) => {
    expect(() => encoded('uriComponent', value)).toThrow('text or a number');
  });
});

test('uriReserved keeps what has a meaning in an address, and what is encoded already', () => {
  expect(encoded('uriReserved', "a/b?c=d&e#f:@!$'()*+,;[]")).toBe("a/b?c=d&e#f:@!$'()*+,;[]");
  expect(encoded('uriReserved', '100%25 of %zz "x"')).toBe('100%25%20of%20%25zz%20%22x%22');
});
