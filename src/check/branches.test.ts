import { describe, expect, test } from 'vitest';
import { get, literal, ref } from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Json } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type { BranchCase } from '../graph/model.js';
import { argument, at, computes, step } from './check-graph.fixture.js';
import { arm, asks, body, branches, findings, loop, yes } from './constructs.fixture.js';

function is(left: Expr, value: Json): Expr {
  return { kind: 'compare', left, ops: [{ op: 'eq.strict', right: literal(value) }] };
}

function anyOf(...items: Expr[]): Expr {
  return { kind: 'or', truth: 'boolean', items };
}

const inputs = [argument('mode', { type: 'string', enum: ['a', 'b', 'c'] })];
const mode = ref('inputs', 'mode');
const flag = ref('steps', 'asked', 'flag');

function arms(...conditions: Expr[]): BranchCase[] {
  return conditions.map((when, index) => arm(`arm${index}`, body([], literal(index)), when));
}

function found(cases: readonly BranchCase[], before: readonly Node[] = [], more = {}): string[] {
  return findings([step(1, 'asked', 'put'), ...before, branches(3, 'b', cases, more)], { inputs });
}

describe('SW4022: no case may hold', () => {
  const left = (values: string): string[] => [
    `SW4022 3:1 step \`b\` fails where none of its cases holds${values} | ${
      values === ''
        ? 'add an `else`, or put conditions in the place of `match`'
        : 'add a case for each of them, with nothing in it where nothing is to be done'
    }`,
  ];

  test('where there is no else', () => {
    expect(found(arms(mode))).toEqual(left(''));
    expect(found(arms(is(mode, 'a'), flag))).toEqual(left(''));
    const otherwise = { else: { id: 'no', body: body([]) } };
    expect(found(arms(mode), [], otherwise)).toEqual([]);
    expect(found(arms(mode, yes))).toEqual([]);
  });

  test('unless each value has a case', () => {
    expect(found(arms(is(mode, 'a'), is(mode, 'b'), is(mode, 'c')))).toEqual([]);
    const turned: Expr = { kind: 'compare', left: literal('c'), ops: [{ op: 'eq.strict', right: mode }] };
    expect(found(arms(anyOf(is(mode, 'a'), is(mode, 'b')), turned))).toEqual([]);
  });

  test('and names the values that have none', () => {
    expect(found(arms(is(mode, 'b')))).toEqual(left(': for `"a"`, `"c"`'));
    const many = [argument('mode', { enum: [1, 2, 3, 4, 5, 6, 7] })];
    expect(findings([branches(3, 'b', arms(is(mode, 7)))], { inputs: many })).toEqual(
      left(': for `1`, `2`, `3`, `4`, `5` and 1 more'),
    );
  });

  test('knows the values of booleans, answers, items and computed values', () => {
    const sure = ref('steps', 'sure', 'confirmed');
    const asked = asks(2, 'sure', 'confirm');
    expect(
      found(arms(is(sure, true), is(sure, false)), [asked]).filter((each) => !each.startsWith('SW3011')),
    ).toEqual([]);
    const chosen = ref('steps', 'way', 'selected');
    const choice = asks(2, 'way', 'choice', { options: literal(['x', 'y']) });
    expect(found(arms(is(chosen, 'x')), [choice])).toContain(left(': for `"y"`')[0]);
    const question = computes(2, 'q', is(mode, 'a'));
    expect(found(arms(is(ref('steps', 'q'), true)), [question])).toEqual(left(': for `false`'));
    const inner = branches(3, 'b', arms(is(ref('item', 'x'), true)));
    expect(findings([loop(2, 'l', literal([true]), body([inner]))])).toEqual(left(': for `false`'));
  });

  test('is reported if the values are unknown', () => {
    const value = get(ref('steps', 'other'), 'kind');
    expect(findings([step(2, 'other', 'put'), branches(3, 'b', arms(is(value, 'a')))])).toEqual(left(''));
    expect(findings([branches(3, 'b', arms(is(mode, 'a')))], { inputs: [argument('mode')] })).toEqual(
      left(''),
    );
  });
});

describe('SW4023: a case is never taken', () => {
  const never = (name: string, first: string, where = '3:1'): string =>
    `SW4023 ${where} case \`${name}\` of step \`b\` is never taken: \`${first}\` is taken wherever it holds | remove one of the two, or change its condition`;
  const otherwise = { else: { id: 'no', body: body([]) } };

  test('if an earlier case has the same condition', () => {
    const cases = arms(is(mode, 'a'), flag, at(3, is(mode, 'a')), { ...flag, at: [9, 1, 9, 2] });
    expect(found(cases, [], otherwise)).toEqual([
      never('arm2', 'arm0', '3:20'),
      never('arm3', 'arm1', '9:1'),
    ]);
  });

  test('if earlier cases have all its values', () => {
    const cases = arms(
      anyOf(is(mode, 'a'), is(mode, 'b')),
      is(mode, 'b'),
      anyOf(is(mode, 'a'), is(mode, 'c')),
    );
    expect(found(cases, [], otherwise)).toEqual([never('arm1', 'arm0')]);
  });

  test('if its values are impossible', () => {
    const never = (name: string, values: string): string =>
      `SW4023 3:1 case \`${name}\` of step \`b\` is never taken: the value is never ${values} | remove it, or correct its value`;
    const cases = arms(is(mode, 'a'), is(mode, 'd'), anyOf(is(mode, 1), is(mode, '1')));
    expect(found(cases, [], otherwise)).toEqual([never('arm1', '`"d"`'), never('arm2', '`1` or `"1"`')]);
  });

  test('but may be if one of its values is possible, or they are unknown', () => {
    expect(found(arms(anyOf(is(mode, 1), is(mode, 'b'))), [], otherwise)).toEqual([]);
    expect(found(arms(is(flag, 'd'), flag, is(mode, 'a')), [], otherwise)).toEqual([]);
  });

  test('but may be if it tests another value', () => {
    const cases = arms(is(mode, 'a'), is(flag, 'a'), is(mode, 'b'), {
      ...is(mode, 'a'),
      kind: 'compare',
    } as Expr);
    expect(found(cases.slice(0, 3), [], otherwise)).toEqual([]);
  });
});
