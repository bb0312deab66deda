import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import type { Node } from '../../graph/model.js';
import { delegate, shell } from './constructs.fixture.js';
import type { Event } from './events.js';
import { again, broken, call, error, graph, input, list, lit, Run, step, text } from './graph.fixture.js';
import { commandOf, outstanding, refusedValues } from './read.js';

const RESPONSE = { type: 'object', required: ['n'] } as const;

/** The action that a node waits for. */
function actionOf(run: Run, command: string) {
  const owed = commandOf(run.state, command);
  return owed?.kind === 'requestAction' ? owed.action : undefined;
}

describe('N12: work of the client', () => {
  test('is a command, which ends with its result', () => {
    const work = shell('ls', text('ls ', input('dir')), {
      argv: list(lit('-l')),
      env: { kind: 'dict', entries: [{ key: 'LANG', value: lit('C') }] },
    });
    const run = new Run(graph([work], { returns: step('ls') }), { dir: 'src' });
    expect(actionOf(run, 'ls#1')).toMatchObject({
      ...{ type: 'shell', command: 'ls src', argv: ['-l'], env: { LANG: 'C' }, timeoutMs: 30_000 },
      schema: { required: ['exit_code'] },
    });
    expect([run.status('ls'), run.facts.at(-1)?.kind]).toEqual(['waiting', 'waiting']);
    run.answers('ls', { exit_code: 1, stderr: 'no' });
    expect(run.state.run.result).toEqual({ stdout: '', stderr: 'no', exit_code: 1 });
  });

  test('is a call of a tool that the client has, with any result', () => {
    const work = call('issue', { title: lit('x') }, { executor: 'client', tool: 'github.create_issue' });
    const run = new Run(graph([work], { returns: step('issue') }));
    expect(actionOf(run, 'issue#1')).toEqual({
      ...{
        type: 'mcp_call',
        tool: 'github.create_issue',
        args: { title: 'x' },
        schema: {},
        timeoutMs: 30_000,
      },
    });
    expect([run.state.running, run.calls]).toEqual([0, []]);
    expect(run.answers('issue', { id: 7 }).state.run.result).toEqual({ id: 7 });
  });

  test('is a task of an agent', () => {
    const work = delegate('find', { agent: '@researcher', tools: ['search'], responseSchema: RESPONSE });
    const run = new Run(graph([work], { returns: step('find', 'response') }));
    expect(actionOf(run, 'find#1')).toMatchObject({
      ...{ type: 'delegate', instructions: 'do find', agent: '@researcher', tools: ['search'], json: true },
      ...{ timeoutMs: 300_000, schema: { properties: { response: RESPONSE } } },
    });
    expect(run.answers('find', { response: { n: 1 } }).state.run.result).toEqual({ n: 1 });
  });

  test.each([{}, { responseSchema: RESPONSE }])('has one schema of results in all runs: %o', (options) => {
    const task = graph([delegate('find', options)]);
    const [one, other] = [new Run(task), new Run(task)].map((run) => actionOf(run, 'find#1')?.schema);
    expect(one).toBeDefined();
    expect(other).toBe(one);
  });

  test.each<[string, Node, Json[]]>([
    [
      'a command',
      shell('a'),
      [{}, { exit_code: '0' }, { exit_code: 1.5 }, { exit_code: 0, stdout: 1 }, 'done', null],
    ],
    ['a task', delegate('a'), [{}, { response: 1 }, 'done', { response: 'x', tokens_used: 'many' }]],
    ['a task with a schema', delegate('a', { responseSchema: { type: 'array' } }), [{ response: {} }, []]],
  ])('a result of %s that has another shape has no effect', (_what, work, bad) => {
    const run = new Run(graph([work]));
    for (const value of bad) expect(run.answers('a', value).last).toMatchObject({ changes: [], facts: [] });
  });

  test.each<[string, Node]>([
    ['a command that is a number', shell('a', lit(1))],
    ['arguments that are a text', shell('a', lit('x'), { argv: lit('y') })],
    ['arguments that are numbers', shell('a', lit('x'), { argv: list(lit(1)) })],
    ['an environment of numbers', shell('a', lit('x'), { env: lit({ N: 1 }) })],
    ['instructions that are a list', delegate('a', { prompt: lit([]) })],
    ['an input without a value', call('a', { x: broken }, { executor: 'client' })],
  ])('fails before it is requested for %s, and has no other attempt', (_what, work) => {
    const run = new Run(graph([{ ...work, retry: again(1) } as Node]));
    expect([run.state.run.status, run.facts.some(({ kind }) => kind === 'waiting')]).toEqual([
      'failed',
      false,
    ]);
  });

  test('a command that ends with another exit code than 0 fails only on demand, and is retried', () => {
    const fallback = { value: list(error('code'), error('attempts')) };
    const work = shell('a', lit('x'), { failOnError: true, retry: again(1), onError: fallback });
    const run = new Run(graph([work], { returns: step('a') }));
    run.answers('a', { exit_code: 2 });
    expect(outstanding(run.state).commands.map(({ id }) => id)).toEqual(['a#2']);
    expect(run.answers('a', { exit_code: 2, stdout: 's' }).state.run.result).toEqual(['E_EXIT_CODE', 2]);
    const good = new Run(graph([work], { returns: step('a', 'exit_code') })).answers('a', { exit_code: 0 });
    expect(good.state.run.result).toBe(0);
  });

  test('a failure says how long an output is that is too long for its details', () => {
    const run = new Run(graph([shell('a', lit('x'), { failOnError: true })]));
    const details = { details_omitted: { size: 70_038, limit: 65_536 } };
    run.answers('a', { exit_code: 2, stdout: 's'.repeat(70_000) });
    expect(run.state.run.failure).toMatchObject({ code: 'E_EXIT_CODE', details });
  });

  test('its limit begins when it is delivered first, and has a grace of 30 seconds', () => {
    const run = new Run(graph([shell('a', lit('x'), { timeoutMs: 500, retry: again(1) }), shell('b')]));
    run.send({ kind: 'timerFired', at: 1e9, command: 'a#1' });
    expect([run.last.changes, commandOf(run.state, 'a#1')]).toMatchObject([[], { id: 'a#1' }]);
    run.at = 5_000;
    run.delivers('a');
    expect(run.commands).toMatchObject([
      { kind: 'requestAction', id: 'a#1', deliveredAt: 5_000, dueAt: 35_500 },
    ]);
    expect(outstanding(run.state).commands.map(({ id }) => id)).toEqual(['a#1', 'b#1']);
    run.at = 6_000;
    expect(run.delivers('a').last).toMatchObject({ changes: [], commands: [] });
    run.at = 35_500;
    run.fires('a');
    expect(run.commands).toMatchObject([
      { kind: 'cancelCall', call: 'a#1' },
      { kind: 'requestAction', id: 'a#2' },
    ]);
    const { dueAt } = (run.commands[1] ?? {}) as { dueAt?: number };
    expect(dueAt).toBeUndefined();
    run.delivers('a').fires('a');
    expect(run.tables.nodes.a?.failure).toEqual({ code: 'E_TIMEOUT', message: 'Timed out after 500 ms.' });
    expect(
      run.send({ kind: 'actionSubmitted', at: 1e9, command: 'a#1', value: { exit_code: 0 } }).last.changes,
    ).toEqual([]);
  });

  test('the deadline of the run holds before it is delivered, and after', () => {
    const run = new Run(graph([shell('a'), shell('b')]), {}, 9_000);
    expect(outstanding(run.state).commands).toMatchObject([{ dueAt: 9_000 }, { dueAt: 9_000 }]);
    run.delivers('a');
    expect(outstanding(run.state).commands).toMatchObject([
      { deliveredAt: 1_000, dueAt: 9_000 },
      { dueAt: 9_000 },
    ]);
    run.at = 9_000;
    expect(run.fires('a').state.run.failure?.code).toBe('E_DEADLINE');
  });

  test('a question has no delivery', () => {
    const run = new Run(graph([call('a')]));
    expect(run.send({ kind: 'actionDelivered', at: 1, command: 'a#1' }).last.changes).toEqual([]);
  });

  const refuse = (problem: string): Event => ({
    ...{ kind: 'valueRefused', at: 1_000, command: 'a#1', problems: [problem] },
  });

  test('the third response that does not fit its schema fails a task permanently', () => {
    const run = new Run(graph([delegate('a', { responseSchema: RESPONSE, retry: again(2) })]));
    run.send(refuse('no n')).send(refuse('n is a text'));
    expect([refusedValues(run.state, 'a#1'), run.status('a')]).toEqual([
      [['no n'], ['n is a text']],
      'waiting',
    ]);
    run.send(refuse('no n'));
    expect(run.state.run.failure).toMatchObject({
      code: 'E_RESULT_SHAPE',
      message: 'No result fits in 3 tries: no n',
    });
    const other = new Run(graph([delegate('a')]));
    expect(other.send(refuse('odd')).last.changes).toEqual([]);
  });

  test('a failure that the client reports fails the attempt', () => {
    const run = new Run(graph([delegate('a', { retry: again(1) })]));
    const fail = (command: string) =>
      run.send({ kind: 'actionFailed', at: 1, command, failure: { code: 'E_LIMIT', message: 'busy' } });
    expect(fail('a#1').commands).toMatchObject([{ kind: 'requestAction', id: 'a#2' }]);
    expect(fail('a#2').state.run.failure).toEqual({ code: 'E_LIMIT', message: 'busy' });
  });

  test('is withdrawn when the run is cancelled or its scope ends', () => {
    const run = new Run(graph([shell('a'), delegate('b')])).cancel();
    expect(run.commands).toMatchObject([
      { kind: 'cancelCall', call: 'a#1' },
      { kind: 'cancelCall', call: 'b#1' },
    ]);
    const failing = new Run(graph([shell('a'), call('b')])).fails('b');
    expect([failing.commands, failing.status('a')]).toMatchObject([
      [{ kind: 'cancelCall', call: 'a#1' }],
      'cancelled',
    ]);
  });
});
