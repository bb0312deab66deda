import { expect, test } from 'vitest';
import type { Graph } from '../../src/graph/model.js';
import { again, call, graph, node, scope, undoing } from './build.js';
import { drive, ENGINE } from './drive.js';
import { type Story, tell } from './oracle.js';
import { compared } from './same.js';
import type { Reply, World } from './world.js';

/** Every abandoned call is still answered. */
const LATE = [1];

const gives = (after: number): Reply => ({ kind: 'value', after, value: { id: after } });
const breaks = (after: number): Reply => ({
  ...{ kind: 'failure', after, attempted: true },
  failure: { code: 'X_DOWN', message: 'no answer' },
});
const hangs: Reply = { kind: 'hang' };

/** What the oracle tells, which the engine must tell as well. */
function run(of: Graph, world: Omit<World, 'luck'>): Story {
  const story = tell(of, {}, { ...world, luck: LATE });
  const { expected, actual } = compared(story, drive(ENGINE, of, {}, { ...world, luck: LATE }));
  expect(actual).toEqual(expected);
  return story;
}

const branch = (id: string, options: Parameters<typeof call>[2] = {}) => ({
  id,
  body: scope([call(id, {}, options)]),
});

test('what succeeds once more while a cancelled run is undone is undone next', () => {
  const timeoutMs = 25;
  const undone = (id: string) => branch(id, { compensate: undoing(id), timeoutMs });
  const branches = [undone('a'), undone('b'), undone('c'), branch('fails', { timeoutMs })];
  const all = node(
    'parallel',
    'all',
    { onPartialFailure: 'abort', branches },
    { retry: again(1, { delayMs: 0 }) },
  );
  const same = (after: number): Reply => ({ kind: 'value', after, value: { id: 1 } });
  const replies = {
    ...{ a: [same(10), same(30)], b: [same(12), hangs], c: [same(14), hangs], fails: [breaks(20), hangs] },
    undo_c: [gives(20)],
  };
  // The second calls time out at 45 ms, that of `a` succeeds at 50 ms, and `c` is undone at 65 ms.
  const { undone: report } = run(graph([all]), { replies, cancel: { at: 30, compensate: true } });
  expect(report).toEqual({ done: ['undo_c', 'undo_a', 'undo_b'], failed: [], not_run: [] });
});

test('an effect is not late any more once a step has succeeded with the same key', () => {
  const all = node(
    'parallel',
    'all',
    { onPartialFailure: 'rollback', branches: [branch('book'), branch('fails')] },
    { timeoutMs: 20, retry: again(1, { delayMs: 0 }) },
  );
  // The first call of `book` succeeds at 30 ms, after its timeout, and the second one at 35 ms.
  const replies = { book: [gives(30), gives(15)], fails: [hangs, breaks(18)] };
  const { remains } = run(graph([all]), { replies, tools: { book: 'key' } });
  expect(remains.notUndone).toEqual([{ step: 'book', failure: 'E_NOT_UNDOABLE' }]);
});

test('a late answer to a call that has succeeded since does not make its effect the newest one', () => {
  const all = node(
    'parallel',
    'all',
    {
      onPartialFailure: 'rollback',
      branches: [branch('book'), branch('pay', { compensate: undoing('pay') }), branch('fails')],
    },
    { timeoutMs: 20, retry: again(1, { delayMs: 0 }) },
  );
  // The second call of `book` succeeds at 23 ms, `pay` at 24 ms, and the first call of `book` at 30 ms.
  const replies = {
    ...{ book: [gives(30), gives(3)], pay: [hangs, gives(4)], fails: [hangs, breaks(18)] },
    undo_pay: [breaks(1)],
  };
  const { remains } = run(graph([all]), { replies, tools: { book: 'idempotent' } });
  expect(remains.notUndone).toMatchObject([{ step: 'pay' }, { step: 'book' }]);
});

test('what another node undoes while a cancelled run halts is not told as not run', () => {
  const trip = (book: string, fails: string) =>
    node('parallel', `trip_${book}`, {
      onPartialFailure: 'rollback',
      branches: [branch(book, { compensate: undoing(book) }), branch(fails)],
    });
  const lost: Reply = {
    ...{ kind: 'failure', after: 60, attempted: true },
    failure: { code: 'X_LOST', message: 'no answer', outcomeUnknown: true },
  };
  const replies = {
    ...{ a: [gives(10)], b: [gives(12)], fails_a: [breaks(20)], fails_b: [breaks(20)] },
    ...{ undo_a: [lost], undo_b: [breaks(20)] },
  };
  const both = graph([trip('a', 'fails_a'), trip('b', 'fails_b')], { failFast: false });
  const { undone: report, remains } = run(both, { replies, cancel: { at: 30, compensate: true } });
  expect(report).toMatchObject({ done: [], failed: [{ tool: 'undo_b' }], not_run: [] });
  expect(remains.notUndone).toMatchObject([{ step: 'b' }, { step: 'a', outcomeUnknown: true }]);
});

test('calls in flight settle before what came before them is undone', () => {
  const all = [call('a', {}, { compensate: undoing('a') }), call('b', {}, { compensate: undoing('b') })];
  const replies = { a: [gives(10)], b: [gives(40)] };
  const { undone, at } = run(graph(all), { replies, cancel: { at: 20, compensate: true } });
  expect(undone).toEqual({ done: ['undo_b', 'undo_a'], failed: [], not_run: [] });
  expect(at).toBeGreaterThanOrEqual(40);
});

test('so do calls in a branch that is aborted inside a rollback', () => {
  const inner = node('parallel', 'inner', {
    onPartialFailure: 'abort',
    branches: [branch('b', { compensate: undoing('b') }), branch('fails')],
  });
  const outer = node('parallel', 'outer', {
    onPartialFailure: 'rollback',
    branches: [branch('a', { compensate: undoing('a') }), { id: 'in', body: scope([inner]) }],
  });
  const replies = { a: [gives(10)], b: [gives(40)], fails: [breaks(20)] };
  const { failure } = run(graph([outer]), { replies });
  expect(failure?.details).toMatchObject({ compensation: { done: ['undo_b', 'undo_a'] } });
});
