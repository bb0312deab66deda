import { describe, expect, test } from 'vitest';
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
import { type PlannedNode, planOf, type WorkflowPlan } from './plan.js';

/** The ids of the nodes of which something holds. */
function which({ nodes }: WorkflowPlan, holds: (node: PlannedNode) => boolean): string[] {
  return nodes.filter(holds).map(({ node: { id } }) => id);
}

function idsOf(nodes: readonly (PlannedNode | undefined)[]): (string | undefined)[] {
  return nodes.map((each) => each?.node.id);
}

describe('a planned node', () => {
  test('has an ordinal that is its place in the workflow', () => {
    const nodes = [call('a'), foreach('loop', lit([]), body([call('b'), call('c')])), call('d')];
    const { main } = planOf(graph(nodes));
    expect(idsOf(main.nodes)).toEqual(['a', 'loop', 'b', 'c', 'd']);
    expect(main.nodes.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3, 4]);
  });

  test('takes a slot for calls, reads and functions', () => {
    const fn = { name: 'f', hash: 'x' };
    const nodes = [call('a'), read('b'), compute('c', list(), { function: fn }), compute('d', lit(1))];
    expect(which(planOf(graph(nodes)).main, ({ takesPlace }) => takesPlace)).toEqual(['a', 'b', 'c']);
  });

  test('is due at once where it waits for nothing, or nothing can select it', () => {
    const nodes = [
      call('a', {}, { onError: { fallbackNode: 'c' } }),
      call('b', {}, { after: ['a'] }),
      call('c'),
      compensate('d', [undo('t')]),
    ];
    const { main } = planOf(graph(nodes));
    expect(which(main, ({ isDueAtOnce }) => isDueAtOnce)).toEqual(['a', 'd']);
    expect(which(main, ({ hasSelection }) => hasSelection)).toEqual(['a', 'c', 'd']);
  });

  test('knows what its compensations plainly refer to', () => {
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

  test('knows the `parallel` nodes around it that roll back, the innermost first', () => {
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
