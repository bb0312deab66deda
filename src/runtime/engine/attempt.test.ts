import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import {
  ask,
  body,
  branch,
  compensate,
  field,
  foreach,
  parallel,
  runs,
  set,
  shell,
  undo,
  withTasks,
} from './constructs.fixture.js';
import type { Failure } from './events.js';
import {
  again,
  broken,
  call,
  chain,
  compute,
  done,
  graph,
  list,
  lit,
  Run,
  read,
  step,
  stop,
} from './graph.fixture.js';
import { outstanding } from './read.js';

const task = (nodes: readonly Node[], options: Partial<Graph> = {}): Graph =>
  graph(nodes, { task: true, ...options });

const BROKE: Failure = { code: 'E_TOOL', message: 'broke' };

/** Keys of the nodes that have stopped. */
function stopped(run: Run): string[] {
  return outstanding(run.state).commands.flatMap((command) =>
    command.kind === 'requestAction' && command.action.type === 'step' ? [command.node] : [],
  );
}

function retry(run: Run, node: string): Run {
  return run.send({ kind: 'retryRequested', at: run.at, node });
}

function failsFor(run: Run, node: string, failure = BROKE): Run {
  const command = outstanding(run.state).commands.find((each) => each.node === node)?.id ?? '';
  return run.send({ kind: 'actionFailed', at: run.at, command, failure });
}

describe('N13: a step of a task that fails', () => {
  test('waits with its call, and what does not need it runs on', () => {
    const run = new Run(task([call('a', { n: lit(1) }), call('b'), call('c', { x: step('a') })])).fails('a');
    const action = { type: 'step', failure: BROKE, schema: {}, tool: 'tool-a', args: { n: 1 } };
    expect(run.last.facts.slice(1)).toEqual([
      { kind: 'waiting', node: 'a', nodeKind: 'call', command: 'a#2', action },
    ]);
    expect(run.commands).toEqual([{ kind: 'requestAction', id: 'a#2', node: 'a', action, seq: 3 }]);
    expect([run.status('a'), run.status('b'), run.status('c')]).toEqual(['waiting', 'running', 'pending']);
    run.returns('b', 2).answers('a', 7);
    expect(run.tables.commands['c#1']).toMatchObject({ input: { x: 7 } });
    expect(run.returns('c', 'end').state.run.status).toBe('succeeded');
    expect(run.kinds()).toContain('answered a');
    expect(run.kinds()).not.toContain('nodeFailed a');
  });

  test('fails in a workflow without `task`', () => {
    expect(new Run(graph([call('a')])).fails('a').state.run.status).toBe('failed');
    const inner = graph([call('a')], { name: 'inner', task: true });
    expect(new Run(withTasks(graph([runs('w', 'inner')]), inner)).fails('w/a').state.run.status).toBe(
      'failed',
    );
  });

  test('waits inside a workflow that the task runs', () => {
    const inner = graph([call('a')], { name: 'inner', returns: step('a') });
    const run = new Run(withTasks(task([runs('w', 'inner')], { returns: step('w') }), inner)).fails('w/a');
    expect(stopped(run)).toEqual(['w/a']);
    expect(run.answers('w/a', 5).state.run.result).toBe(5);
  });

  test('has no slot while it waits', () => {
    const run = new Run(task([call('a'), call('b')], { maxConcurrency: 1 })).fails('a');
    expect(run.inFlight).toEqual(['a', 'b']);
  });

  test('is tried again on request, once, with the same key, and waits again', () => {
    const run = new Run(task([call('a', {}, { retry: again(1) })], { returns: step('a') }))
      .fails('a')
      .fails('a');
    expect(stopped(run)).toEqual(['a']);
    retry(run, 'a');
    expect(run.commands[0]).toMatchObject({ kind: 'cancelCall', call: 'a#3' });
    expect(run.commands[1]).toMatchObject({ kind: 'callTool', id: 'a#4', attempt: 4 });
    expect(new Set(run.calls.map(({ key }) => key)).size).toBe(1);
    expect(stopped(run.fails('a', { code: 'E_OTHER', message: 'still' }))).toEqual(['a']);
    expect(run.tables.commands['a#5']).toMatchObject({ action: { failure: { code: 'E_OTHER' } } });
    retry(run, 'a').returns('a', 3);
    expect([run.state.run.status, run.state.run.result]).toEqual(['succeeded', 3]);
  });

  test('sends the same input again, although a field was written since', () => {
    const state = [{ name: 'n', scope: 'run', schema: {}, initial: 1 }] as const;
    const nodes = [call('a', { n: field('n') }), call('b'), set('s', { n: step('b') })];
    const run = new Run(task(nodes, { state })).fails('a').returns('b', 2);
    retry(run, 'a');
    expect(run.calls.at(-1)).toMatchObject({ tool: 'tool-a', input: { n: 1 } });
  });

  test('is tried again on a request for it alone', () => {
    const run = new Run(task([call('a'), ask('q')])).fails('a');
    for (const node of ['q', 'b', '']) expect(retry(run, node).last.changes).toEqual([]);
    expect(retry(run, 'a').commands.length).toBe(2);
    expect(retry(run, 'a').commands[0]).toMatchObject({ kind: 'callTool', id: 'a#3' });
  });

  test('takes one result; a second one and one that is late have no effect', () => {
    const run = new Run(task([call('a'), call('b')])).fails('a').answers('a', 1);
    const late = (value: Json) => run.send({ kind: 'actionSubmitted', at: run.at, command: 'a#2', value });
    expect(late(2).last.changes).toEqual([]);
    run.fails('b');
    retry(run, 'b');
    expect(run.send({ kind: 'actionSubmitted', at: run.at, command: 'b#2', value: 1 }).last.changes).toEqual(
      [],
    );
    expect(run.returns('b', 2).state.run.status).toBe('succeeded');
  });

  test('fails when its action fails, as it would have without a task', () => {
    const nodes = [call('a'), call('b', { x: step('a') }), call('c')];
    const plain = new Run(graph(nodes)).fails('a').returns('c');
    const run = failsFor(new Run(task(nodes)).fails('a'), 'a').returns('c');
    expect(run.state.run.failure).toEqual(plain.state.run.failure);
    expect(run.tables.nodes.b).toEqual(plain.tables.nodes.b);
    expect(run.facts.slice(-4)).toEqual(plain.facts.slice(-4));
  });

  test('has no time limit, and a later attempt starts before the deadline only', () => {
    const run = new Run(task([call('a')]), {}, 5_000).fails('a');
    expect(run.tables.commands['a#2']).not.toHaveProperty('dueAt');
    run.at = 5_000;
    expect(retry(run, 'a').state.run.failure?.code).toBe('E_DEADLINE');
    const other = new Run(task([call('a')]), {}, 5_000).fails('a');
    other.at = 9_000;
    expect(other.answers('a', 1).state.run.status).toBe('succeeded');
  });

  test('fails by the deadline of the run', () => {
    const run = new Run(task([call('a')]), {}, 5_000);
    run.at = 5_000;
    expect(run.fires('a').state.run.failure?.code).toBe('E_DEADLINE');
  });

  test('is withdrawn when the run is cancelled', () => {
    const run = new Run(task([call('a')])).fails('a').cancel();
    expect(run.commands).toEqual([{ kind: 'cancelCall', id: 'a#2:cancel', call: 'a#2' }]);
    expect([run.state.run.status, run.status('a')]).toEqual(['cancelled', 'cancelled']);
  });

  test('does not wait if it is an `error`, undoes, or its condition has no value', () => {
    expect(new Run(task([stop('e')])).state.run.status).toBe('failed');
    expect(new Run(task([call('a', {}, { when: broken })])).state.run.status).toBe('failed');
    const nodes = [
      call('a'),
      call('b', { x: step('a') }, { onError: { fallbackNode: 'u' } }),
      compensate('u', [undo('un-a', { x: step('a') })]),
    ];
    const run = new Run(task(nodes)).returns('a', 1).fails('b').returns('u');
    expect(run.state.run.status).toBe('failed');
  });
});

describe('N13: a step of any kind', () => {
  test.each<[string, Node, (run: Run) => Run, Json, Json]>([
    ['call without a value for its input', call('n', { x: broken }), (run) => run, 4, 4],
    ['resource', read('n'), (run) => run.fails('n'), { uri: 'u', text: 't' }, { uri: 'u', text: 't' }],
    ['compute', compute('n', broken), (run) => run, 4, 4],
    [
      'compute of a function',
      compute('n', list(), { function: { name: 'f', hash: 'h' } }),
      (run) => run.fails('n'),
      4,
      4,
    ],
    ['branch', branch('n', [[lit(false), body([])]]), (run) => run, 4, 4],
    ['foreach', foreach('n', lit(7), body([])), (run) => run, [1], [1]],
    ['workflow', runs('n', 'inner', { x: lit(1) }), (run) => run, 4, 4],
    ['ask', ask('n'), (run) => failsFor(run, 'n'), { confirmed: true }, { confirmed: true }],
    [
      'ask with options that are wrong',
      ask('n', 'choice', { options: lit(1) }),
      (run) => run,
      { selected: 'x' },
      { selected: 'x' },
    ],
    [
      'shell',
      shell('n'),
      (run) => failsFor(run, 'n'),
      { exit_code: 0 },
      { stdout: '', stderr: '', exit_code: 0 },
    ],
  ])('%s takes its result from outside', (_name, node, fail, value, result) => {
    const inner = graph([], { name: 'inner' });
    const run = fail(new Run(withTasks(task([node], { returns: step('n') }), inner)));
    expect(stopped(run)).toEqual(['n']);
    expect(run.answers('n', value).state.run).toMatchObject({ status: 'succeeded', result });
  });

  test.each<[string, Node, (run: Run) => Run, (run: Run) => Run]>([
    ['call without a value for its input', call('n', { x: broken }), (run) => run, (run) => run],
    ['resource', read('n'), (run) => run.fails('n'), (run) => run.fails('n')],
    ['compute', compute('n', broken), (run) => run, (run) => run],
    ['branch', branch('n', [[lit(false), body([])]]), (run) => run, (run) => run],
    ['foreach', foreach('n', lit(7), body([])), (run) => run, (run) => run],
    ['ask', ask('n'), (run) => failsFor(run, 'n'), (run) => failsFor(run, 'n')],
  ])('%s is tried again, and waits again', (_name, node, fail, failAgain) => {
    const run = fail(new Run(task([node])));
    const first = outstanding(run.state).commands[0]?.id;
    failAgain(retry(run, 'n'));
    expect(stopped(run)).toEqual(['n']);
    expect(outstanding(run.state).commands[0]?.id).not.toBe(first);
    expect(run.kinds().filter((kind) => kind === 'nodeStarted n')).toHaveLength(1);
  });

  test('takes no result of another shape', () => {
    const run = new Run(task([ask('n')]));
    failsFor(run, 'n');
    expect(run.answers('n', 'yes').last.changes).toEqual([]);
  });

  test('a command that fails again waits again', () => {
    const run = new Run(task([shell('n', lit('x'), { failOnError: true })])).answers('n', { exit_code: 1 });
    expect(stopped(run)).toEqual(['n']);
    expect(stopped(run.answers('n', { exit_code: 2 }))).toEqual(['n']);
    expect(run.answers('n', { exit_code: 0 }).state.run.status).toBe('succeeded');
  });

  test('a value that is too large to be written waits again', () => {
    const state = [{ name: 'f', scope: 'run', schema: {} }] as const;
    const limits = { steps: 10, stateBytes: 20 };
    const run = new Run(task([call('n', {}, { writes: 'f' })], { state, limits })).returns(
      'n',
      'x'.repeat(30),
    );
    expect(stopped(run)).toEqual(['n']);
    expect(stopped(run.answers('n', 'y'.repeat(30)))).toEqual(['n']);
    expect(run.answers('n', 'y').tables.fields.f).toEqual({ value: 'y' });
  });
});

describe('N13: what handles the failure of a step', () => {
  test.each<[string, Node, (run: Run) => Run]>([
    ['its fallback', call('n', {}, { onError: { value: lit(1) } }), (run) => run.fails('n')],
    [
      'a fallback of a container',
      branch('b', [[undefined, body([call('n')])]], { onError: { value: lit(1) } }),
      (run) => run.fails('n'),
    ],
    [
      'a loop that continues',
      foreach('b', lit([1]), body([call('n')]), { onItemError: 'continue' }),
      (run) => run.fails('n[0]'),
    ],
    [
      'a loop that reports',
      foreach('b', lit([1]), body([call('n')]), { onItemError: 'report' }),
      (run) => run.fails('n[0]'),
    ],
    [
      'a `parallel` that continues',
      parallel('b', { x: body([call('n')]), y: body([]) }, { onPartialFailure: 'continue' }),
      (run) => run.fails('n'),
    ],
  ])('%s', (_name, node, fail) => {
    expect(fail(new Run(task([node]))).state.run.status).toBe('succeeded');
  });

  test('a fallback without a value does not: the step waits', () => {
    const run = new Run(task([call('n', {}, { onError: { value: broken } })])).fails('n');
    expect(stopped(run)).toEqual(['n']);
  });

  test('a retry of a container does, until its attempts are over', () => {
    const nodes = [branch('b', [[undefined, body([call('n')])]], { retry: again(1) })];
    const run = new Run(task(nodes)).fails('n');
    expect(run.tables.commands['n@1~2#1']).toMatchObject({ kind: 'callTool' });
    expect(stopped(run.fails('n'))).toEqual(['n']);
    const permanent = new Run(task(nodes)).fails('n', BROKE, false);
    expect(stopped(permanent)).toEqual(['n']);
  });

  test.each([
    ['settles', foreach('b', lit([1]), body([call('n')]), { onItemError: 'settle' }), 'n[0]'],
    ['rolls back', parallel('b', { x: body([call('n')]) }, { onPartialFailure: 'rollback' }), 'n'],
  ])('a container that %s passes on that it failed, and waits itself', (_name, node, key) => {
    const run = new Run(task([node])).fails(key);
    expect(stopped(run)).toEqual(['b']);
    retry(run, 'b').returns(key, 1);
    expect(run.state.run.status).toBe('succeeded');
  });

  test('a container that passes failures on has its step wait', () => {
    const items = foreach('b', lit([1, 2]), body([call('n')], step('n')));
    const run = new Run(task([items], { returns: step('b') })).fails('n[0]');
    expect(stopped(run)).toEqual(['n[0]']);
    run.answers('n[0]', 1).returns('n[1]', 2);
    expect(run.state.run.result).toEqual([1, 2]);
  });

  test.each([
    ['a branch', branch('b', [[undefined, body([call('n'), stop('e', lit('no'), { after: ['n'] })])]])],
    ['a loop', foreach('b', lit([1]), body([call('n'), stop('e', lit('no'), { after: ['n'] })]))],
    ['a `parallel`', parallel('b', { x: body([call('n'), stop('e', lit('no'), { after: ['n'] })]) })],
  ])('%s passes on what an `error` in it says: the task fails', (_name, node) => {
    const run = new Run(task([node]));
    run.returns(run.inFlight[0] ?? '');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { message: 'no' } });
  });

  test('a workflow that undoes on failure waits after that, and one that does not passes failures on', () => {
    const run = (onFailure: Partial<Graph>) => {
      const nodes = [call('a', {}, { compensate: undo('un-a') }), call('n', {}, { after: ['a'] })];
      const inner = graph(nodes, { name: 'inner', ...onFailure });
      return new Run(withTasks(task([runs('w', 'inner')]), inner)).returns('w/a').fails('w/n');
    };
    const plain = run({});
    expect(stopped(plain)).toEqual(['w/n']);
    expect(failsFor(plain, 'w/n').state.run).toMatchObject({ status: 'failed', failure: BROKE });
    const undone = run({ onFailure: 'undo' });
    const undoing = undone.calls.at(-1);
    expect(undoing).toMatchObject({ tool: 'un-a', isCompensation: true });
    undone.send({ kind: 'toolReturned', at: undone.at, command: undoing?.id ?? '', value: null });
    expect(stopped(undone)).toEqual(['w']);
  });

  test('a container that times out while its step waits, waits itself', () => {
    const nodes = [branch('b', [[undefined, body([call('n')])]], { timeoutMs: 50 })];
    const run = new Run(task(nodes)).fails('n').fires('b');
    expect([run.status('n'), stopped(run)]).toEqual(['cancelled', ['b']]);
  });
});

describe('N13: a scope that ends', () => {
  test('with an `error` or a failure fails the steps that wait', () => {
    const nodes = [call('a'), call('b'), stop('e', lit('no'), { after: ['b'] })];
    const run = new Run(task(nodes)).fails('a').returns('b');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { message: 'no' } });
    expect(run.state.run.failures).toMatchObject([{ node: 'a', failure: BROKE }, { node: 'e' }]);
  });

  test.each([['before'], ['after']])('with a `return` fails, if a step failed %s it', (when) => {
    const run = new Run(task([call('a'), call('b'), done('r', lit(1), { after: ['b'] })]));
    if (when === 'before') run.fails('a').returns('b');
    else run.returns('b').fails('a');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: BROKE });
  });
});

describe('N13: the effect of a call that was made outside', () => {
  const pay = call('pay', {}, { compensate: undo('refund', { id: step('pay', 'id') }) });

  test('is undone with the others', () => {
    const run = new Run(task(chain(pay, call('b')))).fails('pay').answers('pay', { id: 'p1' }).fails('b');
    run.cancel(true);
    expect(run.commands.at(-1)).toMatchObject({ kind: 'callTool', tool: 'refund', input: { id: 'p1' } });
  });

  test('resolves what is not known of an idempotent call, and of no other', () => {
    const unknown: Failure = { ...BROKE, outcomeUnknown: true };
    const left = (safety: 'idempotent' | 'key' | 'none') =>
      new Run(task([call('a')]), {}, undefined, undefined, { 'tool-a': safety })
        .fails('a', unknown)
        .answers('a', 1).remains.unknown;
    expect(left('idempotent')).toEqual([]);
    expect(left('key')).toEqual([{ step: 'a', tool: 'tool-a' }]);
    expect(left('none')).toEqual([{ step: 'a', tool: 'tool-a' }]);
  });

  test('is not that of a later attempt of a container', () => {
    const inner = body([call('a'), call('b', { x: step('a') })]);
    const nodes = [branch('c', [[undefined, inner]], { retry: again(1) })];
    const tools = { 'tool-a': 'key' } as const;
    const run = new Run(task(nodes), {}, undefined, undefined, tools).fails('a', BROKE, false);
    run.answers('a', 1).fails('b');
    const keys = run.calls.filter(({ tool }) => tool === 'tool-a').map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
  });
});
