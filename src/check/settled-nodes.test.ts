import { describe, expect, test } from 'vitest';
import { call, list, literal, ref } from '../graph/expression/build.fixture.js';
import type { CompareOp, Expr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { CallNode, Graph } from '../graph/model.js';
import { at, fails, returns, step } from './check-graph.fixture.js';
import { arm, body, branches, findings, loop, parallel, undoes, undoing } from './constructs.fixture.js';

const put = (line: number, id: string, more: Partial<CallNode> = {}): Node => step(line, id, 'put', {}, more);
const node = (line: number, id: string, ...path: string[]): Expr => at(line, ref('nodes', id, ...path));
const compare = (left: Expr, op: CompareOp, right: Expr): Expr => ({
  kind: 'compare',
  left,
  ops: [{ op, right }],
});
const is = (line: number, id: string, status: string): Expr =>
  compare(node(line, id, 'status'), 'eq.deep', at(line, literal(status)));
/** A call on line 5 that runs where this holds. */
const where = (when: Expr, more: Partial<CallNode> = {}): Node => put(5, 'b', { when, ...more });

const found = (nodes: readonly Node[], more: Partial<Graph> = {}): string[] =>
  findings(nodes, more).filter((each) => /^SW(3|40(05|06|18))/.test(each));

const open = { failFast: false } as const;

describe('SW3019: a status that no step has', () => {
  test('in a comparison, with the nearest one or all of them', () => {
    expect(found([put(3, 'a'), where(is(5, 'a', 'faild'))], open)).toEqual([
      'SW3019 5:20 no step settles as `faild` | did you mean `failed`?',
    ]);
    expect(found([put(3, 'a'), where(is(5, 'a', 'running'))], open)).toEqual([
      'SW3019 5:20 no step settles as `running` | use one of `succeeded`, `failed`, `handled`, `skipped`, `cancelled`',
    ]);
  });

  test('on the left, in a list, and with a value of another type', () => {
    const left = compare(at(5, literal('done')), 'eq.strict', node(5, 'a', 'status'));
    const among = call('contains', list(literal('failed'), at(5, literal('ok'))), node(5, 'a', 'status'));
    const flag = compare(
      call('coalesce', node(5, 'a', 'status'), literal(null)),
      'ne.deep',
      at(5, literal(true)),
    );
    for (const [when, value] of [
      [left, 'done'],
      [among, 'ok'],
      [flag, 'true'],
    ] as const)
      expect(found([put(3, 'a'), where(when)], open)[0]).toMatch(
        `SW3019 5:20 no step settles as \`${value}\``,
      );
  });
});

describe('SW3020: a status that a step never has there', () => {
  const never = (nodes: readonly Node[], more: Partial<Graph> = {}): string[] =>
    found(nodes, more).map((each) => each.split(' | ')[0]?.replace('SW3020 5:20 ', '') ?? '');
  const ends = '`a` is never `failed` where `b` reads it: a failure of `a` ends the steps behind it';

  test('because a failure ends the steps behind it', () => {
    expect(never([put(3, 'a'), where(is(5, 'a', 'failed'))])).toEqual([ends]);
    expect(never([put(3, 'a'), where(is(5, 'a', 'failed'))], open)).toEqual([]);
    expect(never([put(3, 'a'), where(is(5, 'a', 'failed'))], { errorStrategy: { kind: 'collect' } })).toEqual(
      [],
    );
  });

  test('because of its join, directly and through others', () => {
    const join = '`a` is never `failed` where `b` reads it: the `join` of `b` skips it where `a` fails';
    const reads = (more: Partial<CallNode>): Node => where(is(5, 'a', 'failed'), more);
    expect(never([put(3, 'a'), reads({ after: ['a'] })], open)).toEqual([join]);
    expect(never([put(3, 'a'), reads({ after: ['a'], join: 'all_done' })], open)).toEqual([]);
    const between = put(4, 'm', { after: ['a'] });
    expect(never([put(3, 'a'), between, reads({ after: ['m'] })], open)).toEqual([join]);
    const either = { after: ['m', 'other'], join: 'one_success' } as const;
    expect(never([put(3, 'a'), put(3, 'other'), between, reads(either)], open)).toEqual([]);
    expect(never([put(3, 'a'), between, reads({ after: ['m'], join: 'one_success' })], open)).toEqual([join]);
  });

  test('because nothing takes over, skips or cancels it', () => {
    expect(never([put(3, 'a'), where(is(5, 'a', 'handled'))])).toEqual([
      '`a` is never `handled` where `b` reads it: no other step takes over for `a`',
    ]);
    expect(never([put(3, 'a'), where(is(5, 'a', 'skipped'))])).toEqual([
      '`a` is never `skipped` where `b` reads it: nothing skips `a`',
    ]);
    expect(never([put(3, 'a'), where(is(5, 'a', 'cancelled'))], open)).toEqual([
      '`a` is never `cancelled` where `b` reads it: what cancels `a` ends the steps behind it as well',
    ]);
    const handled = put(3, 'a', { onError: { fallbackNode: 'c' } });
    expect(never([handled, put(4, 'c'), where(is(5, 'a', 'handled'))])).toEqual([]);
    expect(never([put(3, 'a', { when: literal(false) }), where(is(5, 'a', 'skipped'))])).toEqual([]);
  });

  test('of an `error` step in a branch that may fail alone', () => {
    const both = parallel(
      3,
      'both',
      { x: body([fails(3, literal('no'))]) },
      { onPartialFailure: 'continue' },
    );
    expect(never([both, where(is(5, 'stop', 'failed'))])).toEqual([]);
    expect(never([both, where(is(5, 'stop', 'succeeded'))])).toEqual([
      '`stop` is never `succeeded` where `b` reads it: `stop` ends what it is in',
    ]);
  });

  test('but not in what may settle without it', () => {
    const both = (more: object): Node => parallel(3, 'both', { x: body([put(3, 'a')]) }, more);
    const reads = where(is(5, 'a', 'failed'));
    expect(never([both({}), reads])).toEqual([
      '`a` is never `failed` where `b` reads it: a failure of `both` ends the steps behind it',
    ]);
    expect(never([both({ onPartialFailure: 'continue' }), reads])).toEqual([]);
    expect(never([both({ onError: { value: literal(0) } }), reads])).toEqual([]);
    const arms = branches(3, 'both', [arm('one', body([put(3, 'a')]))], { onError: { value: literal(0) } });
    expect(never([arms, reads])).toEqual([]);
  });

  test('of a list, if it has none of them', () => {
    const among = (...words: string[]): Node =>
      where(call('contains', list(...words.map((word) => literal(word))), node(5, 'a', 'status')));
    expect(never([put(3, 'a'), among('failed', 'cancelled')])).toEqual([ends]);
    expect(never([put(3, 'a'), among('failed', 'succeeded')])).toEqual([]);
  });

  test('of a failure that is not there, also in the result', () => {
    const reads = step(5, 'b', 'add-task', { task: node(5, 'a', 'error', 'code') });
    const message = '`a` has no failure where `b` reads it: a failure of `a` ends the steps behind it';
    expect(never([put(3, 'a'), reads])).toEqual([message]);
    expect(never([put(3, 'a', { onError: { value: literal(0) } }), reads])).toEqual([]);
    expect(findings([put(3, 'a')], { returns: node(9, 'a', 'error') })).toEqual([
      'SW3020 9:20 `a` has no failure where `add-task` reads it: there is no result where `a` fails | let a value or another step take over with `attempt`',
    ]);
  });

  test('but not for what undoes a step', () => {
    const both = parallel(
      3,
      'both',
      { x: body([put(3, 'a')]) },
      { onPartialFailure: 'rollback', compensateNode: 'u' },
    );
    expect(
      never([both, undoes(5, 'u', undoing('add-task', { task: node(5, 'a', 'error', 'code') }))]),
    ).toEqual([]);
  });
});

describe('SW3004: a step that settles later', () => {
  test('than the reader, which is it, is in it, or undoes it', () => {
    const later = '`b` reads how `a` settled, which it does later';
    const messages = (...nodes: Node[]): string[] =>
      found(nodes, open).map((each) => each.split(' | ')[0]?.replace('SW3004 5:20 ', '') ?? '');
    expect(messages(where(is(5, 'b', 'failed')))).toEqual([
      '`b` reads how it settles itself, which is not known before it has run',
    ]);
    expect(messages(where(is(5, 'a', 'failed')), put(6, 'a'))).toEqual([later]);
    expect(messages(parallel(3, 'a', { x: body([where(is(5, 'a', 'failed'))]) }))).toEqual([later]);
    const both = parallel(
      3,
      'a',
      { x: body([put(3, 'c')]) },
      { onPartialFailure: 'rollback', compensateNode: 'b' },
    );
    expect(messages(both, undoes(5, 'b', undoing('add-task', { task: node(5, 'a', 'status') })))).toEqual([
      later,
    ]);
  });
});

describe('other faults', () => {
  test('unknown steps and parts, and steps in loops', () => {
    expect(found([put(3, 'aa'), where(is(5, 'ab', 'failed'))], open)).toEqual([
      'SW3001 5:20 nothing here is bound to `ab` | did you mean `aa`?',
    ]);
    const reads = (...path: string[]): Node => step(5, 'b', 'add-task', { task: node(5, 'a', ...path) });
    expect(found([put(3, 'a'), reads('error', 'mesage')], open)).toEqual([
      'SW4005 5:20 the outcome of `a` has no `error.mesage` | did you mean `message`?',
    ]);
    expect(found([put(3, 'a'), reads('state')], open)).toEqual([
      'SW4005 5:20 the outcome of `a` has no `state` | did you mean `status`?',
    ]);
    const inLoop = loop(3, 'all', literal([1]), body([put(3, 'a')]));
    expect(found([inLoop, reads('status')], open)[0]).toMatch(
      'SW4018 5:20 `a` cannot be read here: it is in loop `all`',
    );
  });

  test('a status is a guard for the value', () => {
    const value = at(9, ref('steps', 'p', 'total'));
    const maybe = step(3, 'p', 'list-pages', {}, { when: literal(false) });
    const guarded = returns(9, value, { when: is(9, 'p', 'succeeded') });
    expect(findings([maybe, returns(9, value)]).join()).toContain('SW4024');
    expect(findings([maybe, guarded]).join()).not.toContain('SW4024');
  });
});
