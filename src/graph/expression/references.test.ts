import { describe, expect, test } from 'vitest';
import { call, dict, get, literal, ref, text } from './build.fixture.js';
import { references } from './references.js';
import type { Expr } from './tree.js';

/** `a`, or `?a` for a guarded one. */
function shown(expr: Expr): string[] {
  return references(expr).map(({ ref: { path }, guarded }) => `${guarded ? '?' : ''}${path.join('.')}`);
}

const a = ref('steps', 'a');
const b = ref('inputs', 'b');
const c = ref('steps', 'c', 'x', 0);

describe('references', () => {
  test('are found in written order, wherever they stand', () => {
    const expr = dict({
      one: text('js', 'x', a, { kind: 'list', items: [{ value: b }] }),
      two: get(c, ref('inputs', 'k')),
    });
    expect(shown(expr)).toEqual(['a', 'b', 'c.x.0', 'k']);
    expect(shown({ kind: 'dict', entries: [{ spread: a }] })).toEqual(['a']);
    expect(shown({ kind: 'compare', left: a, ops: [{ op: 'lt.js', right: b }] })).toEqual(['a', 'b']);
    expect(shown(literal('inputs.x'))).toEqual([]);
  });

  test('are guarded where absence is provided for', () => {
    expect(shown(call('coalesce', a, b, c))).toEqual(['?a', '?b', 'c.x.0']);
    expect(shown(call('isNullish', a))).toEqual(['?a']);
    expect(shown(get(get(a, 'x', true), b))).toEqual(['?a', 'b']);
    // biome-ignore lint/suspicious/noThenProperty: the name is the model's
    expect(shown({ kind: 'conditional', truth: 'boolean', test: a, then: b, else: c })).toEqual([
      '?a',
      'b',
      'c.x.0',
    ]);
    expect(shown({ kind: 'and', truth: 'truthy.js', items: [a, b, c] })).toEqual(['?a', '?b', 'c.x.0']);
    expect(shown({ kind: 'or', truth: 'truthy.js', items: [a, b] })).toEqual(['?a', 'b']);
    expect(shown({ kind: 'not', truth: 'truthy.js', of: a })).toEqual(['a']);
  });

  test('below a guarded position are guarded', () => {
    expect(shown(call('coalesce', dict({ x: text('js', a) }), literal(1)))).toEqual(['?a']);
  });

  test('of the kinds of later versions are found as well', () => {
    const later: Expr[] = [
      { kind: 'slice', of: a, start: b, end: c, step: a },
      { kind: 'arithmetic', op: 'sub', left: a, right: b },
      { kind: 'negate', of: a },
      { kind: 'each', as: 'x', in: a, where: b, body: ref('local', 'x') },
      { kind: 'let', name: 'x', value: a, body: ref('local', 'x') },
      { kind: 'call', fn: 'isNullish', args: [], named: [{ name: 'of', value: a }] },
    ];
    expect(later.map(shown)).toEqual([
      ['a', 'b', 'c.x.0', 'a'],
      ['a', 'b'],
      ['a'],
      ['a', 'b', 'x'],
      ['a', 'x'],
      ['a'],
    ]);
  });
});
