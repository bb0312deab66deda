import { describe, expect, test } from 'vitest';
import { canonicalJson, hashGraph } from '../../graph/canonical.js';
import type { Node } from '../../graph/kinds/node.js';
import type { CallNode, Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { ask, wait } from './constructs.fixture.js';
import type { RunState } from './contract.js';
import { advance, start } from './engine.js';
import type { Event } from './events.js';
import { call, chain, done, graph, lit, Run, read, step } from './graph.fixture.js';
import { outstanding } from './read.js';
import { GraphMismatchError } from './state.js';
import { rowsText } from './tables.fixture.js';

describe('commands', () => {
  test('E5: the text of the idempotency key is of run, node key and generation', () => {
    const run = new Run(graph([call('a'), call('b')]));
    const keyOf = (node: string) => canonicalJson(['call', 'run-1', node, 1]);
    expect(run.commands[0]).toMatchObject({ kind: 'callTool', key: keyOf('a'), generation: 1 });
    expect(run.commands[1]).toMatchObject({ kind: 'callTool', key: keyOf('b'), generation: 1 });
  });

  test('outstanding lists every unanswered command as it was issued', () => {
    const run = new Run(graph([call('a', { x: lit(1) }), read('b')]));
    expect(outstanding(run.state)).toEqual({ commands: run.commands, more: false });
    run.returns('a');
    expect(outstanding(run.state).commands.map((command) => command.id)).toEqual(['b#1']);
  });

  test('a resource is read from its evaluated URI', () => {
    const run = new Run(graph(chain(call('a'), read('b', step('a', 'uri'))))).returns('a', {
      uri: 'res://x',
    });
    expect(run.commands).toContainEqual({
      kind: 'readResource',
      id: 'b#1',
      node: 'b',
      resource: 'resource-b',
      uri: 'res://x',
      dueAt: 61_000,
      seq: 2,
    });
    run.returns('b', { uri: 'res://x', text: 'hi' });
    expect(run.tables.outputs.b).toEqual({ uri: 'res://x', text: 'hi' });
  });
});

describe('E17: one limit per attempt, in its command', () => {
  const dueAt = (run: Run, node: string) => {
    const command = run.tables.commands[`${node}#1`];
    return command?.dueAt;
  };

  test('it is due after the node’s own limit, or after 60 000 ms', () => {
    const run = new Run(graph([call('a'), call('b', {}, { timeoutMs: 250 }), read('c')]));
    expect([dueAt(run, 'a'), dueAt(run, 'b'), dueAt(run, 'c')]).toEqual([61_000, 1_250, 61_000]);
  });

  test('it is due at the run’s deadline where that comes first', () => {
    const run = new Run(graph([call('a'), call('b', {}, { timeoutMs: 250 })]), {}, 1_300);
    expect([dueAt(run, 'a'), dueAt(run, 'b')]).toEqual([1_300, 1_250]);
  });

  test('there is no timer besides, and so an answer in time calls none off', () => {
    const run = new Run(graph([call('a'), read('b')]));
    expect(run.commands.map(({ kind }) => kind)).toEqual(['callTool', 'readResource']);
    expect(run.returns('a').commands).toEqual([]);
    expect(outstanding(run.state).commands.map(({ id }) => id)).toEqual(['b#1']);
  });

  test('when it fires, the call is cancelled and has failed with an unknown outcome', () => {
    const run = new Run(graph([call('a', {}, { timeoutMs: 250 })])).fires('a');
    expect(run.commands).toEqual([{ kind: 'cancelCall', id: 'a#1:cancel', call: 'a#1' }]);
    const failure = { code: 'E_TIMEOUT', message: 'Timed out after 250 ms.', outcomeUnknown: true };
    expect(run.state.run).toMatchObject({ status: 'failed', failedNode: 'a', failure });
    expect(run.last.facts[0]).toMatchObject({
      kind: 'callReturned',
      attempted: true,
      outcome: { ok: false, failure },
    });
  });

  test('the failure names the deadline when that was the limit', () => {
    const run = new Run(graph([call('a')]), {}, 5_000).fires('a');
    expect(run.state.run.failure).toMatchObject({ code: 'E_DEADLINE', outcomeUnknown: true });
  });

  test('after the deadline nothing is attempted, but what needs no attempt is done', () => {
    const late = new Run(graph(chain(call('a'), call('b'))), {}, 5_000);
    late.at = 5_000;
    late.returns('a');
    expect(late.commands).toEqual([]);
    expect(late.tables.nodes.b).toMatchObject({
      status: 'failed',
      attempt: 0,
      failure: { code: 'E_DEADLINE' },
    });
    expect(late.tables.nodes.b?.failure).not.toHaveProperty('outcomeUnknown');

    const ends = new Run(graph(chain(call('a'), done('out', step('a')))), {}, 5_000);
    ends.at = 5_001;
    expect(ends.returns('a', 1).state.run).toMatchObject({ status: 'succeeded', result: 1 });
  });

  test('a clock that steps back leaves a limit as long as it is', () => {
    const run = new Run(graph(chain(call('a'), call('b', {}, { timeoutMs: 100 }))));
    run.at = 400;
    run.returns('a');
    expect(dueAt(run, 'b')).toBe(500);
    expect(run.returns('b').state.run.status).toBe('succeeded');
  });
});

describe('cancellation', () => {
  test('calls in flight are called off, everything open is cancelled', () => {
    const run = new Run(
      graph([call('a'), call('b', {}, { after: ['a'] }), call('c')], { maxConcurrency: 1 }),
    );
    run.send({ kind: 'cancelled', at: 2_000, reason: 'the caller left' });
    expect(run.commands).toEqual([{ kind: 'cancelCall', id: 'a#1:cancel', call: 'a#1' }]);
    expect(['a', 'b', 'c'].map((id) => run.status(id))).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(outstanding(run.state)).toEqual({ commands: [], more: false });
    expect(run.last.facts.map((fact) => fact.kind)).toEqual([
      'callReturned',
      'nodeCancelled',
      'nodeCancelled',
      'nodeCancelled',
      'finished',
    ]);
    expect(run.last.facts[0]).toMatchObject({
      outcome: { failure: { code: 'E_CANCELLED', outcomeUnknown: true } },
    });
    expect(run.state.run).toMatchObject({
      status: 'cancelled',
      failure: { code: 'E_CANCELLED', message: 'The run was cancelled: the caller left' },
    });
    expect(run.state.queue.isEmpty).toBe(true);
  });

  test('cancelling while calls settle after a failure makes the run cancelled', () => {
    const run = new Run(graph([call('a'), call('b')])).fails('a');
    run.send({ kind: 'cancelled', at: 2_000, reason: 'enough' });
    expect([run.state.run.status, run.status('a'), run.status('b')]).toEqual([
      'cancelled',
      'failed',
      'cancelled',
    ]);
  });

  test('cancelling a run that has ended changes nothing', () => {
    const run = new Run(graph([]));
    const before = rowsText(run.state);
    run.send({ kind: 'cancelled', at: 2_000, reason: 'late' });
    expect(run.last).toMatchObject({ changes: [], commands: [], facts: [] });
    expect(rowsText(run.state)).toBe(before);
  });
});

describe('events that answer nothing', () => {
  const two = graph([call('a'), read('b'), wait('c', { durationMs: lit(10) }), ask('d')]);
  const failure = { code: 'E_TOOL', message: 'broke' };

  test.each<[string, Event]>([
    ['an unknown command', { kind: 'toolReturned', at: 0, command: 'x#1', value: 1 }],
    ['an inherited name', { kind: 'toolReturned', at: 0, command: 'constructor', value: 1 }],
    ['a tool’s result for a read', { kind: 'toolReturned', at: 0, command: 'b#1', value: 1 }],
    ['a tool’s failure for a read', { kind: 'toolFailed', at: 0, command: 'b#1', failure, attempted: true }],
    ['a resource for a call', { kind: 'resourceRead', at: 0, command: 'a#1', value: {} }],
    ['a resource’s failure for a call', { kind: 'resourceFailed', at: 0, command: 'a#1', failure }],
    ['a result for a timer', { kind: 'toolReturned', at: 0, command: 'c#1', value: 1 }],
    ['a timer that was never started', { kind: 'timerFired', at: 0, command: 'a#1:timer' }],
    ['the time of a question without a limit', { kind: 'timerFired', at: 0, command: 'd#1' }],
    ['another attempt', { kind: 'toolReturned', at: 0, command: 'a#2', value: 1 }],
  ])('%s changes nothing', (_name, event) => {
    const run = new Run(two);
    const before = rowsText(run.state);
    run.send(event);
    expect(run.last).toMatchObject({ changes: [], commands: [], facts: [] });
    expect(rowsText(run.state)).toBe(before);
  });

  test('G9: of a result and a timeout the first one wins, once', () => {
    const result = new Run(two).returns('a', 1).fires('a');
    expect(result.last.changes).toEqual([]);
    expect(result.status('a')).toBe('succeeded');
    const timeout = new Run(two).fires('a').returns('a', 1);
    expect(timeout.last).toMatchObject({ commands: [], facts: [] });
    expect([timeout.status('a'), timeout.tables.outputs]).toEqual(['failed', {}]);
    expect(timeout.returns('a', 1).last.changes).toEqual([]);
  });
});

describe('graphs', () => {
  test('G8: another graph than the run’s is a fault of the host', () => {
    const one = graph([call('a')]);
    const other = graph([call('a'), call('b')]);
    const { state } = start(planOf(one), {}, { runId: 'r', at: 0 });
    const send = () => advance(planOf(other), state, [{ kind: 'cancelled', at: 1, reason: 'x' }]);
    expect(send).toThrow(GraphMismatchError);
    expect(send).toThrow(hashGraph(one));
  });

  test('an equal graph of another object is the same graph', () => {
    const one = graph([call('a')]);
    const { state } = start(planOf(one), {}, { runId: 'r', at: 0 });
    const copy = JSON.parse(JSON.stringify(one)) as Graph;
    const next = advance(planOf(copy), state, [{ kind: 'toolReturned', at: 1, command: 'a#1', value: null }]);
    expect(next.state.run.status).toBe('succeeded');
  });

  const shared = { after: [], join: 'none_failed', executor: 'server' } as const;
  const pause: Node = { ...shared, executor: 'client', kind: 'wait', id: 'pause', durationMs: lit(1) };
  const fallbackNode: Node = call('a', {}, { onError: { fallbackNode: 'b' } });
  const ends: Node = done('a', lit(1), { onError: { value: lit(2) } });
  const undoing = { tool: 'u', input: { kind: 'dict', entries: [] } } as const;
  const client: Node = { ...(call('a') as CallNode), executor: 'client', compensate: undoing };

  test.each<[string, Graph, string, string | undefined]>([
    ['a node that the client cannot execute', graph([call('a'), pause]), 'E_UNSUPPORTED', 'pause'],
    ['a fallback that is not there', graph([fallbackNode]), 'E_GRAPH', undefined],
    ['a fallback for how the run ends', graph([ends]), 'E_ON_ERROR_TYPE', 'a'],
    ['a compensation for what the client did', graph([client]), 'E_UNSUPPORTED', 'a'],
    ['a cycle', graph([call('a', { x: step('b') }), call('b', {}, { after: ['a'] })]), 'E_GRAPH', undefined],
    ['a node that waits for itself', graph([call('a', {}, { after: ['a'] })]), 'E_GRAPH', undefined],
    ['a dependency that is not there', graph([call('a', {}, { after: ['x'] })]), 'E_GRAPH', undefined],
    ['two nodes of one name', graph([call('a'), read('a')]), 'E_GRAPH', undefined],
  ])('%s fails the run before anything is attempted', (_name, of, code, node) => {
    const run = new Run(of);
    expect(run.commands).toEqual([]);
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code } });
    expect(run.state.run.failedNode).toBe(node);
    expect(run.facts.at(-1)).toMatchObject({ kind: 'finished', status: 'failed', failure: { code } });
    const ends = run.facts.filter(({ kind }) => kind === 'nodeFailed' || kind === 'nodeSkipped');
    expect(ends).toHaveLength(of.nodes.length);
  });
});

describe('changes', () => {
  test('they name the rows touched, once each, whatever the size of the graph', () => {
    const many = Array.from({ length: 500 }, (_, index) => call(`n${index}`, {}, { after: ['gate'] }));
    const run = new Run(graph([call('gate'), call('a'), call('b', {}, { after: ['a'] }), ...many]));
    run.returns('a', { ok: true });
    expect(run.last.changes.map(({ op, table, key }) => `${op} ${table} ${key}`)).toEqual([
      'put nodes a',
      'put run run-1',
      'put nodes b',
    ]);
  });

  test('once nothing new may start, those who waited are not touched any more', () => {
    const run = new Run(graph([call('bad'), call('slow'), call('next', {}, { after: ['slow'] })]));
    run.fails('bad').returns('slow');
    expect(run.last.changes.map(({ table, key }) => `${table} ${key}`)).not.toContain('nodes next');
  });

  test('a row that was handed out does not change afterwards', () => {
    const run = new Run(graph(chain(call('a'), call('b'))));
    const { changes } = run.last;
    const before = JSON.stringify(changes);
    run.returns('a').returns('b');
    expect(JSON.stringify(changes)).toBe(before);
  });

  test('the rows looked at do not grow with the length of the run nor with the size of the graph', () => {
    const looksAt = (size: number, answered: number) => {
      const run = new Run(graph(chain(...Array.from({ length: size }, (_, index) => call(`n${index}`)))));
      for (let index = 0; index < answered; index += 1) run.returns(`n${index}`, index);
      let looks = 0;
      const count = <K extends keyof typeof Reflect>(name: K) => ({
        [name]: (...given: never[]) => {
          looks += 1;
          return (Reflect[name] as (...args: never[]) => unknown)(...given);
        },
      });
      const traps = {
        ...count('get'),
        ...count('getOwnPropertyDescriptor'),
        ...count('ownKeys'),
        ...count('has'),
      };
      Object.assign(run.state.root, { nodes: new Proxy(run.state.root.nodes, traps) });
      const command = `n${answered}#1`;
      advance(run.plan, run.state, [{ kind: 'toolReturned', at: 9, command, value: answered }]);
      return looks;
    };
    expect(looksAt(1_000, 500)).toBe(looksAt(10, 1));
  });

  test('advance gives back the state it was given', () => {
    const one = graph([call('a')]);
    const state: RunState = start(planOf(one), {}, { runId: 'r', at: 0 }).state;
    expect(
      advance(planOf(one), state, [{ kind: 'toolReturned', at: 1, command: 'a#1', value: null }]).state,
    ).toBe(state);
  });
});
