import { describe, expect, test } from 'vitest';
import {
  again,
  broken,
  call,
  chain,
  compute,
  graph,
  input,
  list,
  lit,
  Run,
  step,
  text,
} from './graph.fixture.js';
import { outstanding } from './read.js';

const fn = { name: 'slugify', hash: 'abc' };

describe('a computed value', () => {
  test('is there at once, without a command, and takes no place', () => {
    const nodes = chain(compute('title', text(input('name'), '!')), call('use', { title: step('title') }));
    const run = new Run(graph(nodes, { maxConcurrency: 1 }), { name: 'Ada' });
    expect(run.kinds()).toEqual([
      'nodeStarted title',
      'nodeSucceeded title',
      'nodeStarted use',
      'callIssued use',
    ]);
    expect(run.tables.outputs.title).toBe('Ada!');
  });

  test('may be absent', () => {
    const run = new Run(graph([compute('a', lit())]));
    expect(run.state.run.status).toBe('succeeded');
    expect(run.tables.outputs).toEqual({});
  });

  test('without a value fails the node', () => {
    const run = new Run(graph([compute('a', broken)]));
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failedNode: 'a',
      failure: { code: 'E_NOT_AN_OBJECT' },
    });
  });

  test('is there after the deadline as well', () => {
    const run = new Run(graph(chain(call('a'), compute('b', lit(1)))), {}, 5_000);
    run.at = 6_000;
    expect(run.returns('a').state.run.status).toBe('succeeded');
  });
});

describe('a function', () => {
  const slug = compute('slug', list(input('name'), lit()), { function: fn, timeoutMs: 250 });

  test('is evaluated by the host, with a list of arguments and a limit of its own', () => {
    const run = new Run(graph([slug]), { name: 'Ada' });
    expect(run.commands).toEqual([
      {
        ...{ kind: 'evaluate', id: 'slug#1', node: 'slug', function: fn, args: ['Ada', null] },
        ...{ dueAt: 1_250, seq: 1 },
      },
    ]);
    expect(outstanding(run.state).commands).toEqual(run.commands);
    expect(run.returns('slug', 'ada').tables.outputs.slug).toBe('ada');
    expect(run.commands).toEqual([]);
    expect(run.kinds()).toEqual(['nodeStarted slug', 'nodeSucceeded slug', 'finished']);
  });

  test('may give nothing', () => {
    const run = new Run(graph([slug]), { name: 'Ada' });
    run.send({ kind: 'evaluated', at: run.at, command: 'slug#1' });
    expect(run.state.run.status).toBe('succeeded');
    expect(run.tables.outputs).toEqual({});
  });

  test('takes a place while it is evaluated', () => {
    const run = new Run(graph([slug, call('b')], { maxConcurrency: 1 }), { name: 'Ada' });
    expect(run.inFlight).toEqual(['slug']);
    expect(run.returns('slug').inFlight).toEqual(['b']);
  });

  test('that fails fails the node, and is not tried again', () => {
    const failure = { code: 'E_FUNCTION', message: 'no' };
    const errorStrategy = { kind: 'retry', retry: again(2) } as const;
    const run = new Run(graph([slug], { errorStrategy }), { name: 'Ada' }).fails('slug', failure);
    expect(run.state.run).toMatchObject({ status: 'failed', failure });
  });

  test.each<[string, number | undefined, string]>([
    ['its limit', undefined, 'E_TIMEOUT'],
    ['the deadline', 1_100, 'E_DEADLINE'],
  ])('that reaches %s is called off, and nothing about it is unknown', (_name, deadlineAt, code) => {
    const run = new Run(graph([slug]), { name: 'Ada' }, deadlineAt).fires('slug');
    expect(run.commands).toEqual([{ kind: 'cancelCall', id: 'slug#1:cancel', call: 'slug#1' }]);
    expect(run.state.run.failure).toMatchObject({ code });
    expect(run.state.run.failure).not.toHaveProperty('outcomeUnknown');
  });

  test('is not asked after the deadline', () => {
    const run = new Run(graph([slug]), { name: 'Ada' }, 1_000);
    expect([run.commands, run.state.run.failure?.code]).toEqual([[], 'E_DEADLINE']);
  });

  test('whose arguments are no list is not asked', () => {
    const run = new Run(graph([{ ...slug, value: lit('Ada') }]));
    expect(run.state.run.failure).toEqual({
      code: 'E_COMPUTE_ARGUMENTS',
      message: 'The arguments of the function must be a list, not text.',
    });
  });

  test('is called off when the run is cancelled', () => {
    const run = new Run(graph([slug]), { name: 'Ada' });
    run.send({ kind: 'cancelled', at: 2_000, reason: 'enough' });
    expect(run.commands.map(({ kind }) => kind)).toEqual(['cancelCall']);
    expect(run.last.facts.map(({ kind }) => kind)).toEqual(['nodeCancelled', 'finished']);
  });

  test.each(['toolReturned', 'resourceRead'] as const)('is not answered by %s', (kind) => {
    const run = new Run(graph([slug]), { name: 'Ada' });
    run.send({ kind, at: run.at, command: 'slug#1', value: {} });
    expect(run.last.changes).toEqual([]);
  });
});

describe('a summary', () => {
  test('is evaluated with the node’s own value and is part of the fact of its success', () => {
    const run = new Run(graph([call('a', {}, { summary: text('Found ', step('a', 'n')) })])).returns('a', {
      n: 3,
    });
    expect(run.facts).toContainEqual({
      kind: 'nodeSucceeded',
      node: 'a',
      nodeKind: 'call',
      summary: 'Found 3',
    });
  });

  test('an empty one is none; a fault in it is reported and fails nothing', () => {
    const run = new Run(graph([call('a', {}, { summary: text() }), call('b', {}, { summary: broken })]));
    run.returns('a').returns('b');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.facts).toContainEqual({ kind: 'nodeSucceeded', node: 'a', nodeKind: 'call' });
    expect(run.facts.at(-2)).toMatchObject({
      kind: 'nodeSucceeded',
      summaryFailure: { code: 'E_NOT_AN_OBJECT' },
    });
  });
});
