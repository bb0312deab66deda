import fc from 'fast-check';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import {
  back,
  body,
  branch,
  compensate,
  field,
  foreach,
  item,
  parallel,
  runs,
  set,
  undo,
  withTasks,
} from './constructs.fixture.js';
import { again, call, chain, coalesce, graph, lit, step, text } from './graph.fixture.js';

/** What makes one of these graphs differ from another. */
interface Shape {
  readonly outerTries: number;
  readonly tripTries: number;
  readonly callTries: number;
  readonly jumps: number;
  readonly ignoreError: boolean;
  /** Each attempt and visit sends another input. */
  readonly changes: boolean;
  /** Another node undoes for the parallel. */
  readonly hasCleaner: boolean;
  readonly failFast: boolean;
  readonly maxConcurrency: number;
  readonly timeoutMs: number;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  outerTries: fc.nat({ max: 2 }),
  tripTries: fc.nat({ max: 1 }),
  callTries: fc.nat({ max: 1 }),
  jumps: fc.nat({ max: 2 }),
  ignoreError: fc.boolean(),
  changes: fc.boolean(),
  hasCleaner: fc.boolean(),
  failFast: fc.boolean(),
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  timeoutMs: fc.integer({ min: 1, max: 60 }),
});

/** Graphs that book and undo in every construct, some inside retries and loops. */
export const randomUndoGraph: fc.Arbitrary<Graph> = shape.map((of) => {
  const { ignoreError } = of;
  const undoes = (id: string) => undo(`undo-${id}`, { of: step(id) }, { ignoreError });
  const booking = (id: string, input = {}) =>
    call(id, input, { compensate: undoes(id), retry: again(of.callTries, { delayMs: 3 }) });
  const left = chain(booking('l'), runs('sub', 'task'));
  const right = chain(booking('r', { n: field('n') }), call('x', {}, { timeoutMs: of.timeoutMs }));
  const trip = parallel(
    'trip',
    { left: body(left), right: body(right) },
    {
      ...{ onPartialFailure: 'rollback', retry: again(of.tripTries), after: ['s'] },
      ...(of.hasCleaner ? { compensateNode: 'clean' } : {}),
    },
  );
  const steps = [undoes('l'), undo('undo-r', { of: coalesce(step('r'), lit(0)) }), undo('note')];
  const inner: Node[] = [
    booking('a', { n: field('n') }),
    set('s', { n: of.changes ? text(field('n'), 'x') : lit('x') }, { after: ['a'] }),
    trip,
    ...(of.hasCleaner ? [compensate('clean', steps)] : []),
    call('last', {}, { after: ['trip'], timeoutMs: of.timeoutMs }),
  ];
  const compensateLine = undo('undo-line', { n: item('item'), of: step('line') }, { ignoreError });
  const line = call('line', {}, { compensate: compensateLine, timeoutMs: of.timeoutMs });
  const nodes: Node[] = [
    branch('around', [[undefined, body(inner)]], { retry: again(of.outerTries) }),
    back('again', 'around', of.jumps, { onLimit: 'continue', after: ['around'] }),
    foreach('lines', lit([1, 2, 3]), body([line]), { onItemError: 'continue', concurrency: 2 }),
    call('sure', {}, { after: ['again'] }),
  ];
  const state = [{ name: 'n', scope: 'run', schema: {}, initial: 0 } as const];
  const task = graph([booking('t')], { name: 'task' });
  const { failFast, maxConcurrency } = of;
  return withTasks(graph(nodes, { state, failFast, maxConcurrency }), task);
});
