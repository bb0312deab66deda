import { describe, expect, test } from 'vitest';
import { call, dict, get, list, literal, map, method, ref, text } from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { CallNode, Graph } from '../graph/model.js';
import { argument, at, computes, fails, returns, step } from './check-graph.fixture.js';
import {
  arm,
  body,
  branches,
  either,
  findings,
  goesBack,
  loop,
  parallel,
  undoing,
} from './constructs.fixture.js';

const flag = ref('inputs', 'flag');
const put = (line: number, id: string, more: Partial<CallNode> = {}): Node => step(line, id, 'put', {}, more);
const maybe = put(3, 'a', { when: flag });
const total = at(5, ref('steps', 'a', 'total'));
const reads = (value: Expr, more = {}): Node => returns(5, value, { after: ['a'], ...more });
const not = (of: Expr): Expr => ({ kind: 'not', truth: 'boolean', of });
const there = not(call('isNullish', ref('steps', 'a')));

function found(nodes: readonly Node[], more: Partial<Graph> = {}): string[] {
  return findings(nodes, { inputs: [argument('flag', { type: 'boolean' })], ...more }).filter((each) =>
    each.startsWith('SW4024'),
  );
}

const skipped = (where: string, name: string, step: string): string =>
  `SW4024 ${where} \`${name}\` may have been skipped where \`${step}\` reads from it | provide for its absence with \`?.\` or \`??\`, or let \`${step}\` run only where \`${name}\` has`;
const fault = [skipped('5:20', 'a', 'output')];

describe('SW4024: a step that may have been skipped', () => {
  test('on its condition', () => {
    expect(found([maybe, reads(total)])).toEqual(fault);
    expect(found([put(3, 'a'), reads(total)])).toEqual([]);
  });

  test('by its dependencies', () => {
    const join = 'none_failed_min_one_success';
    const chain = (own: CallNode['join']): Node[] => [
      put(3, 'first', { when: flag }),
      put(4, 'a', { after: ['first'], join: own }),
      reads(total),
    ];
    expect(found(chain('none_failed'))).toEqual([]);
    expect(found(chain('all_success'))).toEqual(fault);
    expect(found(chain(join))).toEqual(fault);
    const two = [put(3, 'b'), put(3, 'first', { when: flag }), put(4, 'a', { after: ['first', 'b'], join })];
    expect(found([...two, reads(total)])).toEqual([]);
  });

  test('because it was not selected, or its fallback ran', () => {
    const chosen = [either(2, 'way', 'a', body([])), put(3, 'a'), computes(5, 'c', total)];
    expect(found(chosen)).toEqual([skipped('5:20', 'a', 'c')]);
    const replaced = [put(3, 'a', { onError: { fallbackNode: 'b' } }), put(4, 'b'), reads(total)];
    expect(found(replaced)).toEqual(fault);
    const valued = [put(3, 'a', { onError: { value: dict({ total: literal(0) }) } }), reads(total)];
    expect(found(valued)).toEqual([]);
  });

  test('in an arm that was not taken', () => {
    expect(found([either(3, 'b', body([put(4, 'a')]), body([])), reads(total, { after: [] })])).toEqual(
      fault,
    );
    const only = branches(3, 'b', [arm('yes', body([put(4, 'a')]), flag)]);
    expect(found([only, reads(total, { after: [] })])).toEqual([]);
  });

  test('in a branch that may have failed', () => {
    const side = (more: object): Node => parallel(3, 'p', { one: body([put(4, 'a')]) }, more);
    expect(found([side({}), reads(total, { after: [] })])).toEqual([]);
    expect(found([side({ onPartialFailure: 'continue' }), reads(total, { after: [] })])).toEqual(fault);
    expect(found([side({ onError: { value: literal(1) } }), reads(total, { after: [] })])).toEqual(fault);
    expect(found([side({ when: flag }), reads(total, { after: [] })])).toEqual(fault);
  });

  test('read by a step in a container, by a result, or by a fallback', () => {
    expect(found([maybe, loop(4, 'l', literal([1]), body([computes(5, 'c', total)]))])).toEqual([
      skipped('5:20', 'a', 'c'),
    ]);
    expect(found([maybe, loop(5, 'l', literal([1]), body([], total))])).toEqual([skipped('5:20', 'a', 'l')]);
    expect(found([maybe], { returns: total })).toEqual([skipped('5:20', 'a', 'add-task')]);
    expect(found([maybe, put(5, 'b', { onError: { value: total } })])).toEqual([skipped('5:20', 'a', 'b')]);
  });

  test('reported once for a step and the step that it reads', () => {
    expect(found([maybe, reads(list(total, total, at(6, ref('steps', 'a', 'x'))))])).toEqual(fault);
  });

  test.each([
    ['a key', get(ref('steps', 'a'), 'total')],
    ['a method', method('trim.js', ref('steps', 'a'))],
    ['items', map(ref('steps', 'a'), 'x', literal(1))],
    ['within a text', text('js', 'a', ref('steps', 'a', 'total'))],
    ['last of several', call('coalesce', flag, ref('steps', 'a', 'total'))],
  ] as [string, Expr][])('read in %s', (_, value) => {
    expect(found([maybe, reads(value)])).toHaveLength(1);
  });

  test('given to a tool that requires it', () => {
    const given = (key: string): Node =>
      step(5, 'b', 'add-task', { task: literal(''), page: literal(null), [key]: at(5, ref('steps', 'a')) });
    expect(found([maybe, given('task')])).toEqual([skipped('5:20', 'a', 'b')]);
    const free = step(5, 'b', 'list-pages', { limit: ref('steps', 'a') });
    expect(found([maybe, free])).toEqual([]);
  });
});

describe('nothing is reported if the read is guarded', () => {
  test.each([
    ['?.', get(ref('steps', 'a'), 'total', true)],
    ['a chain that ends', get(get(ref('steps', 'a'), 'x', true), 'y')],
    ['??', call('coalesce', ref('steps', 'a', 'total'), literal(0))],
    ['a question', call('isNullish', ref('steps', 'a', 'total'))],
    ['nothing is read from it', list(ref('steps', 'a'))],
    // biome-ignore lint/suspicious/noThenProperty: the name is the model's
    ['a condition', { kind: 'conditional', truth: 'boolean', test: there, then: total }],
    ['a test before', { kind: 'and', truth: 'boolean', items: [there, total] }],
    ['an alternative', { kind: 'or', truth: 'boolean', items: [not(there), total] }],
    // biome-ignore lint/suspicious/noThenProperty: the name is the model's
    ['the same condition', { kind: 'conditional', truth: 'boolean', test: flag, then: total }],
  ] as [string, Expr][])('with %s', (_, value) => {
    expect(found([maybe, reads(value)])).toEqual([]);
  });

  test('the other side of a condition is another condition', () => {
    const wrong: Expr = {
      kind: 'conditional',
      truth: 'boolean',
      test: flag,
      // biome-ignore lint/suspicious/noThenProperty: the name is the model's
      then: literal(1),
      else: total,
    };
    expect(found([maybe, reads(wrong)])).toEqual(fault);
  });

  test('with a condition of the step, of its container or of its case', () => {
    expect(found([maybe, reads(total, { when: there })])).toEqual([]);
    expect(found([maybe, reads(total, { when: flag })])).toEqual([]);
    expect(
      found([maybe, reads(total, { when: { kind: 'and', truth: 'boolean', items: [literal(true), flag] } })]),
    ).toEqual([]);
    const inside = body([computes(5, 'c', total)], ref('steps', 'c'));
    expect(found([maybe, branches(4, 'b', [arm('yes', inside, there)])])).toEqual([]);
    expect(found([maybe, loop(4, 'l', literal([1]), inside, { when: flag })])).toEqual([]);
    const chosen = [maybe, branches(4, 'b', [arm('yes', 'c', there)]), computes(5, 'c', total)];
    expect(found(chosen)).toEqual([]);
  });

  test('with an end of the run before', () => {
    const stop = fails(4, literal('none'), { when: not(there), after: ['a'] });
    expect(found([maybe, stop, reads(total, { after: ['stop'] })])).toEqual([]);
    expect(found([maybe, stop, put(4, 'b', { after: ['stop'] }), reads(total, { after: ['b'] })])).toEqual(
      [],
    );
    expect(found([maybe, stop, reads(total)])).toEqual(fault);
    expect(found([maybe, stop], { returns: total })).toEqual([]);
    const back = goesBack(4, 'stop', 'a', { when: not(there), after: ['a'] });
    expect(found([maybe, back, reads(total, { after: ['stop'] })])).toEqual([]);
    const inArm = branches(4, 'b', [arm('no', body([fails(4, literal('none'))]), not(there))], {
      after: ['a'],
    });
    expect(found([maybe, inArm, reads(total, { after: ['b'] })])).toEqual([]);
  });

  test('with a join that needs it', () => {
    expect(found([maybe, reads(total, { join: 'all_success' })])).toEqual([]);
    const one = { join: 'none_failed_min_one_success' };
    expect(found([maybe, reads(total, one)])).toEqual([]);
    const other = put(4, 'b');
    expect(found([maybe, other, reads(total, { ...one, after: ['a', 'b'] })])).toEqual(fault);
    const behind = put(4, 'b', { after: ['a'], join: 'none_failed_min_one_success' });
    expect(found([maybe, behind, reads(total, { ...one, after: ['a', 'b'] })])).toEqual([]);
  });

  test('with who selects it', () => {
    const nodes = [
      maybe,
      branches(4, 'b', [arm('yes', 'c', flag)], { after: ['a'], join: 'all_success' }),
      computes(5, 'c', total),
    ];
    expect(found(nodes)).toEqual([]);
  });

  test('in a compensation: then there is nothing to undo', () => {
    const compensate = undoing('add-task', { task: ref('steps', 'a', 'id'), page: literal(null) });
    expect(found([maybe, put(5, 'b', { compensate })])).toEqual([]);
  });

  test('with the condition both parts of a chain have', () => {
    const chain = [put(3, 'x.1', { when: flag }), put(4, 'x', { when: flag, after: ['x.1'] })];
    const second = step(
      5,
      'y',
      'list-pages',
      { limit: ref('steps', 'x.1', 'total') },
      { when: flag, after: ['x'] },
    );
    expect(found([...chain, second])).toEqual([]);
  });
});

test('long chains of conditions are checked in time', () => {
  const nodes: Node[] = [put(3, 's0', { when: flag })];
  for (let index = 1; index < 2000; index++) {
    const before = `s${index - 1}`;
    nodes.push(
      fails(4, literal('m'), {
        id: `e${index}`,
        when: call('isNullish', ref('steps', before)),
        after: [before],
      }),
      step(
        5,
        `s${index}`,
        'list-pages',
        { limit: ref('steps', before, 'n') },
        { when: flag, after: [`e${index}`] },
      ),
    );
  }
  expect(found(nodes)).toEqual([]);
});
