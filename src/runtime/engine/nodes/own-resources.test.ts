import { describe, expect, test } from 'vitest';
import { ask, body, parallel } from '../constructs.fixture.js';
import type { Command } from '../contract.js';
import { again, broken, call, chain, graph, lit, Run, read } from '../graph.fixture.js';
import { outstanding } from '../read.js';

const resources = [
  { resource: 'guide', uri: 'res://guide' },
  { resource: 'rules', uri: 'res://rules' },
];
const content = (text: string) => ({ uri: 'res://x', text });
const shown = ({ commands }: Run) => commands.map((command) => [command.kind, command.id]);
const uriOf = (commands: readonly Command[]) =>
  commands.flatMap((command) => (command.kind === 'readResource' ? command.uri : []));

describe("N9: a node's own resources", () => {
  test('are read one after the other, before its call', () => {
    const run = new Run(graph([call('a', {}, { resources })]));
    expect(shown(run)).toEqual([['readResource', 'a#1:resource:0']]);
    expect(run.status('a')).toBe('waiting');
    run.returns('a', content('one'));
    expect(shown(run)).toEqual([['readResource', 'a#1:resource:1']]);
    run.returns('a', content('two'));
    expect(shown(run)).toEqual([['callTool', 'a#1']]);
    run.returns('a', 'done');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.tables.outputs).toEqual({ a: 'done' });
    expect(run.kinds()).toEqual([
      'nodeStarted a',
      'resourceShown a',
      'resourceShown a',
      'callIssued a',
      'callReturned a',
      'nodeSucceeded a',
      'finished',
    ]);
  });

  test('are read before a question, and before a read', () => {
    const run = new Run(
      graph(chain(ask('a', 'model', { expects: {}, resources }), read('b', lit('res://b'), { resources }))),
    );
    run.returns('a', content('one')).returns('a', content('two')).answers('a', 'yes');
    expect(uriOf(run.commands)).toEqual(['res://guide']);
    run.returns('b', content('one')).returns('b', content('two'));
    expect(uriOf(run.commands)).toEqual(['res://b']);
    expect(run.returns('b', content('three')).state.run.status).toBe('succeeded');
  });

  test('fail the node where a read fails, and its tool was not reached', () => {
    const failure = { code: 'E_RESOURCE_READ', message: 'gone' };
    const run = new Run(graph([call('a', {}, { resources })])).fails('a', failure);
    expect(run.state.run).toMatchObject({ status: 'failed', failedNode: 'a', failure });
    expect(run.calls).toEqual([]);
    const [, fact] = run.facts;
    expect(fact).toMatchObject({
      kind: 'resourceShown',
      uri: 'res://guide',
      outcome: { ok: false, failure },
    });
  });

  test('are read again in the next attempt where they were not read, and never twice', () => {
    const run = new Run(graph([call('a', {}, { resources, retry: again(3) })]));
    run.returns('a', content('one')).fails('a');
    expect(shown(run)).toEqual([['readResource', 'a#2:resource:1']]);
    run.returns('a', content('two'));
    expect(shown(run)).toEqual([['callTool', 'a#2']]);
    run.fails('a');
    expect(shown(run)).toEqual([['callTool', 'a#3']]);
    expect(run.returns('a').state.run.status).toBe('succeeded');
  });

  test('leave the failure to the fallback of the node', () => {
    const run = new Run(graph([call('a', {}, { resources, onError: { value: lit('instead') } })])).fails('a');
    expect(run.tables.outputs).toEqual({ a: 'instead' });
    expect(run.facts).toContainEqual(expect.objectContaining({ kind: 'handled', attempts: 0 }));
  });

  test('time out as calls do', () => {
    const run = new Run(graph([call('a', {}, { resources, timeoutMs: 250 })])).fires('a');
    expect(run.commands).toEqual([
      { kind: 'cancelCall', id: 'a#1:resource:0:cancel', call: 'a#1:resource:0' },
    ]);
    expect(run.state.run.failure).toEqual({ code: 'E_TIMEOUT', message: 'Timed out after 250 ms.' });
  });

  test('are shown before an input without a value fails the call', () => {
    const run = new Run(graph([call('a', { x: broken }, { resources })]));
    run.returns('a', content('one')).returns('a', content('two'));
    expect(run.state.run.failure?.code).toBe('E_NOT_AN_OBJECT');
  });

  test('take no slot, and the call waits for one', () => {
    const run = new Run(graph([call('a', {}, { resources }), call('b')], { maxConcurrency: 1 }));
    run.returns('a', content('one')).returns('a', content('two'));
    expect(run.inFlight).toEqual(['b']);
    run.returns('b');
    expect(run.inFlight).toEqual(['a']);
    expect(run.returns('a').state.run.status).toBe('succeeded');
  });

  test('are withdrawn where the scope ends, and no call follows', () => {
    const run = new Run(graph([call('a', {}, { resources }), call('b')])).fails('b');
    expect(run.status('a')).toBe('cancelled');
    expect(outstanding(run.state).commands).toEqual([]);
    expect(run.state.run.status).toBe('failed');
  });

  test('are withdrawn where the call waits for a slot when the scope ends', () => {
    const run = new Run(graph([call('a', {}, { resources }), call('b')], { maxConcurrency: 1 }));
    run.returns('a', content('one')).returns('a', content('two')).fails('b');
    expect(run.status('a')).toBe('cancelled');
    expect(run.calls.map(({ node }) => node)).toEqual(['b']);
  });

  test('are withdrawn where the run is cancelled, or a parallel aborts', () => {
    expect(new Run(graph([call('a', {}, { resources })])).cancel().status('a')).toBe('cancelled');
    const branches = { left: body([call('a', {}, { resources })]), right: body([call('b')]) };
    const run = new Run(graph([parallel('p', branches)])).fails('b');
    expect(run.state.run.status).toBe('failed');
    expect(outstanding(run.state).commands).toEqual([]);
  });
});
