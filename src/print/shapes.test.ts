import { describe, expect, test } from 'vitest';
import { computes, step } from '../check/check-graph.fixture.js';
import { arm, body, branches } from '../check/constructs.fixture.js';
import { literal } from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Node, Scope } from '../graph/kinds/node.js';
import { attemptOf, soleBody } from './shapes.js';

const lit = (value: string | number | boolean): Expr => literal(value);
const call = (id: string, options: Partial<Node> = {}): Node =>
  ({ ...step(1, id, 'put'), ...options }) as Node;
const compute = (id: string): Node => computes(1, id, lit(1));

/** Cases by condition; without one it is `else`. */
function branch(id: string, arms: readonly (readonly [Expr | undefined, Scope | string])[]): Node {
  const cases = arms.flatMap(([when, to], index) => (when === undefined ? [] : [arm(`c${index}`, to, when)]));
  const rest = arms.find(([when]) => when === undefined)?.[1];
  const otherwise = typeof rest === 'object' ? { else: { id: 'else', body: rest } } : {};
  return branches(1, id, cases, otherwise);
}

const risky = call('a', { onError: { fallbackNode: 'b' } });
const holding = (nodes: readonly Node[], when = lit(true)): Node => branch('x', [[when, body(nodes)]]);
const idsOf = (nodes: readonly Node[] | undefined) => nodes?.map(({ id }) => id);

describe('a branch that decides nothing', () => {
  test('has one case that holds always', () => {
    expect(soleBody(holding([call('a')]))).toEqual(body([call('a')]));
  });

  test.each([
    ['a condition', holding([call('a')], lit(false))],
    ['a condition that only counts as true', holding([call('a')], lit(1))],
    ['a step to lead to', branch('x', [[lit(true), 'b']])],
    [
      'another case',
      branch('x', [
        [lit(true), body([])],
        [lit(true), body([])],
      ]),
    ],
    [
      'an `else`',
      branch('x', [
        [lit(true), body([])],
        [undefined, body([])],
      ]),
    ],
    ['another kind', call('a')],
  ])('not with %s', (_what, node) => {
    expect(soleBody(node)).toBeUndefined();
  });
});

describe('an attempt', () => {
  test('has the tried steps and the alternative', () => {
    const attempt = attemptOf(holding([compute('v'), { ...risky, after: ['v'] }, call('b')]));
    expect([idsOf(attempt?.tried), attempt?.risky.id, idsOf(attempt?.otherwise)]).toEqual([
      ['v', 'a'],
      'a',
      ['b'],
    ]);
  });

  test('may have more steps that take over', () => {
    const attempt = attemptOf(holding([risky, call('b'), call('c', { after: ['b'] })]));
    expect(idsOf(attempt?.otherwise)).toEqual(['b', 'c']);
  });

  test.each([
    ['nothing takes over', [call('a'), call('b')]],
    ['a value does', [call('a', { onError: { value: lit(1) } })]],
    ['what takes over is part of the order as well', [risky, call('b', { after: ['a'] })]],
    ['something follows the step that is tried', [risky, call('b'), call('c', { after: ['a'] })]],
    ['something follows both', [risky, call('b'), call('c', { after: ['a', 'b'] })]],
    ['something begins at once', [risky, call('b'), call('c')]],
    ['another step is between', [risky, call('c', { after: ['a'] }), call('b')]],
    ['two steps may fail', [call('c', { onError: { fallbackNode: 'b' } }), risky, call('b')]],
    ['a branch leads to it as well', [branch('c', [[lit(true), 'b']]), risky, call('b')]],
    ['it takes over from what is not there', [risky, call('d')]],
  ])('is none where %s', (_why, nodes) => {
    expect(attemptOf(holding(nodes))).toBeUndefined();
  });
});
