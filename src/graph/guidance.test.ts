import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expr } from './expression/tree.js';
import { guidanceText, type Placeholder, parsePath } from './guidance.js';
import type { Span } from './source-location.js';

const at: Span = [1, 1, 1, 2];
const literal = (value: string): Expr => ({ kind: 'literal', value });

/** The parts of a text in which every name is its own value, as they are read. */
function partsOf(text: string): readonly string[] {
  const { parts } = guidanceText(text, at, ({ root }) => (root === undefined ? undefined : literal(root)));
  return parts.map(shown);
}

function shown(part: string | Expr): string {
  if (typeof part === 'string') return part;
  if (part.kind === 'literal') return `<${String(part.value)}>`;
  if (part.kind !== 'get' || part.key.kind !== 'literal') throw new Error('another expression');
  return `${shown(part.of)}${part.optional ? '?' : ''}[${JSON.stringify(part.key.value)}]`;
}

describe('guidanceText', () => {
  test.each<[string, readonly string[]]>([
    ['', []],
    ['plain', ['plain']],
    ['{a}', ['<a>']],
    ['Add {a} to { b.c }.', ['Add ', '<a>', ' to ', '<b>?["c"]', '.']],
    ['{a}{b}', ['<a>', '<b>']],
    ['{a.0.1.x-y}', ['<a>?[0]?[1]?["x-y"]']],
    ['{a.00}', ['<a>?["00"]']],
    ['{{a}}', ['{a}']],
    ['{{{a}}}', ['{', '<a>', '}']],
    ['{{{{}}', ['{{}']],
    ['a } b { c', ['a } b { c']],
    ['{äöü.$x}', ['<äöü>?["$x"]']],
    ['{task-name.of-it}', ['<task-name>?["of-it"]']],
  ])('%j', (text, parts) => {
    expect(partsOf(text)).toEqual(parts);
  });

  test.each(['{}', '{ }', '{0}', '{a b}', '{a.}', '{.a}', '{a..b}', '{-a}', '{a[0]}'])(
    'a placeholder that names nothing has no root: %j',
    (text) => {
      const met: Placeholder[] = [];
      guidanceText(text, at, (placeholder) => void met.push(placeholder));
      expect(met).toEqual([{ text: text.slice(1, -1).trim(), at }]);
    },
  );

  test('what has no value is left out, and the others stay', () => {
    const { parts } = guidanceText('a {x} b {y} c', at, ({ root }) =>
      root === 'y' ? literal('v') : undefined,
    );
    expect(parts.map(shown)).toEqual(['a  b ', '<v>', ' c']);
  });

  test('parts may have places of their own', () => {
    const placeOf = (start: number, end: number): Span => [1, start + 1, 1, end + 1];
    const text = guidanceText('See {a.b}', at, () => literal('v'), placeOf);
    const place = [1, 5, 1, 10];
    expect(text.at).toEqual(at);
    expect(text.parts[1]).toEqual({
      kind: 'get',
      at: place,
      of: { kind: 'literal', value: 'v', at: place },
      key: { kind: 'literal', at: place, value: 'b' },
      optional: true,
    });
  });

  test('any text without placeholders is itself once its braces are doubled', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'a', '.', ' ', 'ä', '\n') }), (text) => {
        const { parts } = guidanceText(text.replace(/[{}]/g, '$&$&'), at, () => undefined);
        expect(parts.join('')).toBe(text);
      }),
    );
  });
});

describe('parsePath', () => {
  test.each([
    ['a', ['a']],
    ['a.0.b-c', ['a', 0, 'b-c']],
    ['999999999999999', [999_999_999_999_999]],
    ['1000000000000000', ['1000000000000000']],
  ])('%j', (text, path) => {
    expect(parsePath(text)).toEqual(path);
  });

  test.each(['', '.', 'a.', '.a', 'a..b', 'a b', 'a[0]'])('%j is not a path', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });
});
