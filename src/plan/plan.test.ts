import { describe, expect, test } from 'vitest';
import { hashGraph } from '../graph/canonical.js';
import {
  back,
  body,
  branch,
  compensate,
  foreach,
  parallel,
  runs,
  undo,
  withTasks,
} from '../runtime/engine/constructs.fixture.js';
import {
  again,
  call,
  chain,
  coalesce,
  compute,
  graph,
  list,
  lit,
  read,
  step,
} from '../runtime/engine/graph.fixture.js';
import { planOf } from './compile.js';
import type { PlannedNode, WorkflowPlan } from './plan.js';

/** The ids of the nodes of which something holds. */
function which({ nodes }: WorkflowPlan, holds: (node: PlannedNode) => boolean): string[] {
  return nodes.filter(holds).map(({ node: { id } }) => id);
}

function idsOf(nodes: readonly (PlannedNode | undefined)[]): (string | undefined)[] {
  return nodes.map((each) => each?.node.id);
}

describe('a planned node', () => {
  test('has an ordinal that is its position in the workflow', () => {
    const nodes = [call('a'), foreach('loop', lit([]), body([call('b'), call('c')])), call('d')];
    const { main } = planOf(graph(nodes));
    expect(idsOf(main.nodes)).toEqual(['a', 'loop', 'b', 'c', 'd']);
    expect(main.nodes.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3, 4]);
  });

  test('takes a slot for calls, reads and functions', () => {
    const fn = { name: 'f', hash: 'x' };
    const nodes = [call('a'), read('b'), compute('c', list(), { function: fn }), compute('d', lit(1))];
    expect(which(planOf(graph(nodes)).main, ({ takesSlot }) => takesSlot)).toEqual(['a', 'b', 'c']);
  });

  test('is ready at once if it waits for nothing, or nothing can select it', () => {
    const nodes = [
      call('a', {}, { onError: { fallbackNode: 'c' } }),
      call('b', {}, { after: ['a'] }),
      call('c'),
      compensate('d', [undo('t')]),
    ];
    const { main } = planOf(graph(nodes));
    expect(which(main, ({ isReadyAtStart }) => isReadyAtStart)).toEqual(['a', 'd']);
    expect(which(main, ({ hasSelection }) => hasSelection)).toEqual(['a', 'c', 'd']);
  });

  test('has the nodes that its compensations refer to without a guard', () => {
    const undoing = undo('t', { one: step('a'), two: coalesce(step('b'), lit(1)), three: step('inside') });
    const nodes = [
      call('a', {}, { compensate: undo('u', { id: step('a', 'id') }) }),
      call('b'),
      foreach('loop', lit([]), body([call('inside')])),
      compensate('d', [undoing, undo('u', { twice: list(step('a'), step('a')) })]),
    ];
    const { byId } = planOf(graph(nodes)).main;
    const refersTo = (id: string) => byId.get(id)?.compensations.map((each) => idsOf(each.refersTo));
    expect(refersTo('a')).toEqual([['a']]);
    expect(refersTo('b')).toEqual([]);
    expect(refersTo('d')).toEqual([['a', undefined], ['a']]);
  });

  test('has the `parallel` nodes around it that roll back, the innermost first', () => {
    const inner = parallel('inner', { x: body([call('deep')]) }, { onPartialFailure: 'rollback' });
    const outer = parallel('outer', { y: body([inner, call('a')]) }, { onPartialFailure: 'rollback' });
    const { byId } = planOf(graph([outer, parallel('other', { z: body([call('b')]) })])).main;
    expect(idsOf(byId.get('deep')?.rolledBackBy ?? [])).toEqual(['inner', 'outer']);
    expect(idsOf(byId.get('a')?.rolledBackBy ?? [])).toEqual(['outer']);
    expect(byId.get('outer')?.rolledBackBy).toEqual([]);
    expect(byId.get('b')?.rolledBackBy).toEqual([]);
  });
});

describe('a node runs again', () => {
  test('where a container around it has a retry', () => {
    const tried = foreach('loop', lit([]), body([branch('arm', [[lit(true), body([call('in')])]])]), {
      retry: again(1),
    });
    const nodes = [call('a', {}, { retry: again(1) }), tried, foreach('once', lit([]), body([call('b')]))];
    expect(which(planOf(graph(nodes)).main, ({ isRepeatable }) => isRepeatable)).toEqual(['arm', 'in']);
  });

  test('where a workflow node that leads to it has a retry, or is in such a container', () => {
    const deep = graph([call('x')], { name: 'deep' });
    const task = graph([runs('next', 'deep')], { name: 'task' });
    const alone = graph([call('y')], { name: 'alone' });
    const nodes = [runs('first', 'task', {}, { retry: again(1) }), runs('second', 'alone')];
    const { main, tasks } = planOf(withTasks(graph(nodes), task, deep, alone));
    const repeatable = (plan: WorkflowPlan | undefined) =>
      plan === undefined ? undefined : which(plan, ({ isRepeatable }) => isRepeatable);
    expect(repeatable(main)).toEqual([]);
    expect(repeatable(tasks.get('task'))).toEqual(['next']);
    expect(repeatable(tasks.get('deep'))).toEqual(['x']);
    expect(repeatable(tasks.get('alone'))).toEqual([]);
  });

  test('where a goto jumps over it, over a container around it, or over a workflow node that leads to it', () => {
    const task = graph([call('x')], { name: 'task' });
    const nodes = chain(
      call('before'),
      foreach('loop', lit([]), body([call('in')])),
      runs('run', 'task'),
      back('again', 'loop', 2),
      call('behind'),
    );
    const { main, tasks } = planOf(withTasks(graph(nodes), task));
    expect(which(main, ({ mayStartOver }) => mayStartOver)).toEqual(['loop', 'in', 'run', 'again']);
    expect(tasks.get('task')?.nodes.map(({ mayStartOver }) => mayStartOver)).toEqual([true]);
  });
});

describe('what a node waits for', () => {
  const waits = (plan: WorkflowPlan, id: string) => {
    const { after, sources, orders, joins } = plan.byId.get(id) as PlannedNode;
    return { after: idsOf(after), sources: idsOf(sources), orders: idsOf(orders), joins: idsOf(joins) };
  };

  test('is what it names, each once; a guarded reference only orders', () => {
    const values = { one: step('a'), two: step('a', 'x'), three: coalesce(step('b'), lit(1)) };
    const { main } = planOf(graph([call('a'), call('b'), call('c', values, { after: ['a'] })]));
    expect(waits(main, 'c')).toEqual({
      after: ['a'],
      sources: ['a', 'b'],
      orders: ['a', 'b'],
      joins: ['a'],
    });
  });

  test('is what anything inside it reads around it, and nothing that is inside it as well', () => {
    const inner = foreach('inner', lit([]), body([call('x', { v: step('a') }), call('y', { v: step('x') })]));
    const { main } = planOf(graph([call('a'), foreach('outer', lit([]), body([inner], step('inner')))]));
    expect(waits(main, 'outer').orders).toEqual(['a']);
    expect(waits(main, 'inner').orders).toEqual([]);
    expect(waits(main, 'y').orders).toEqual(['x']);
  });

  test('is listed once however many there are', () => {
    const ids = Array.from({ length: 30 }, (_, index) => `s${index}`);
    const all = list(...[...ids, ...ids].map((id) => step(id)));
    const { main } = planOf(graph([...ids.map((id) => call(id)), compute('all', all, { after: ids })]));
    expect(waits(main, 'all')).toEqual({ after: ids, sources: ids, orders: ids, joins: ids });
  });

  test('orders a read of a later node, which is not a source', () => {
    const { main } = planOf(graph([call('a', { v: step('b') }), call('b')]));
    expect(waits(main, 'a')).toEqual({ after: [], sources: [], orders: ['b'], joins: ['b'] });
  });

  test('grows by a jump: what waits for a part of the loop waits for its end', () => {
    const nodes = [...chain(call('a'), back('again', 'a', 2)), call('c', { v: step('a') })];
    const { main } = planOf(graph(nodes));
    expect(waits(main, 'c')).toEqual({ after: [], sources: ['a'], orders: ['a', 'again'], joins: ['a'] });
  });
});

describe('the plan of a graph with faults', () => {
  test.each([
    ['a name that is not there', [call('a', { v: step('gone') }), call('b', { v: step('a') })]],
    ['two nodes of one name', [call('a'), call('a'), call('b', { v: step('a') })]],
    ['a route to itself', [call('a', {}, { onError: { fallbackNode: 'a' } }), call('b', { v: step('a') })]],
  ])('is resolved as far as it goes: %s', (_, nodes) => {
    const { main, fault } = planOf(graph(nodes));
    expect(fault?.failure.code).toBe('E_GRAPH');
    expect(idsOf(main.byId.get('b')?.orders ?? [])).toEqual(['a']);
  });

  test('names the first of two nodes with one id', () => {
    const { main } = planOf(graph([call('a'), read('a')]));
    expect(main.byId.get('a')?.node.kind).toBe('call');
    expect([...main.duplicates]).toEqual(['a']);
  });

  test('reports what this version cannot run', () => {
    const [a] = [compute('a', lit(1), { executor: 'client' })];
    expect(planOf(graph([a])).fault).toEqual({
      failure: {
        code: 'E_UNSUPPORTED',
        message: "Node 'a' has the executor 'client', which this version cannot run.",
      },
      node: a,
    });
  });
});

describe('plans', () => {
  const sample = () => graph([call('a')]);

  test('are made once for each graph object', () => {
    const one = sample();
    expect(planOf(one)).toBe(planOf(one));
    expect(planOf(one)).not.toBe(planOf(sample()));
  });

  test('are shared by graphs of one hash, where that is known', () => {
    const [one, other] = [sample(), sample()];
    const hash = hashGraph(one);
    expect(planOf(other, hash)).toBe(planOf(one, hash));
    expect(planOf(other)).toBe(planOf(one));
    expect(planOf(one).hash).toBe(hash);
  });

  test('are shared from when the hash is known', () => {
    const [one, other] = [graph([call('shared')]), graph([call('shared')])];
    expect(planOf(one)).not.toBe(planOf(other));
    const hash = hashGraph(one);
    const shared = planOf(one, hash);
    for (const plan of [planOf(other, hash), planOf(other), planOf(one)]) expect(plan).toBe(shared);
  });

  test('are not shared with a graph of another hash', () => {
    const other = graph([call('b')]);
    expect(planOf(other, hashGraph(other))).not.toBe(planOf(sample(), hashGraph(sample())));
  });

  test('hash a graph when the hash is asked for', () => {
    const one = sample();
    expect(planOf(one).hash).toBe(hashGraph(one));
  });
});
