import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import type { Graph } from '../graph/model.js';
import {
  ask,
  body,
  foreach,
  item,
  parallel,
  runs,
  undo,
  withTasks,
} from '../runtime/engine/constructs.fixture.js';
import {
  again,
  broken,
  call,
  chain,
  compute,
  graph,
  input,
  lit,
  read,
  step,
} from '../runtime/engine/graph.fixture.js';
import { type InProcessRun, ok, Setup, type Tool } from '../runtime/runs/run/setup.fixture.js';
import { MemoryJournal } from '../runtime/runs/store/memory-journal.js';
import type { ToolOutcome } from '../runtime/tools/port.js';
import { Recording } from './telemetry.fixture.js';

const failed = (code: string): ToolOutcome => ({
  ok: false,
  attempted: true,
  failure: { code, message: 'password hunter2 refused' },
});

/** Executes a run and gives what was recorded of it. */
async function recorded(
  of: Graph,
  tools: Readonly<Record<string, Tool>>,
  options: Partial<InProcessRun> = {},
): Promise<Recording> {
  const recording = new Recording();
  await new Setup().run(of, tools, { telemetry: recording.telemetry, ...options });
  return recording;
}

describe('the spans of a run', () => {
  test('are one of the run and one of each step in it, with the same run on it', async () => {
    const steps = chain(call('list'), read('guide'), compute('n', lit(1)));
    const recording = await recorded(graph(steps), { 'tool-list': () => ok({}) });
    expect(recording.tree).toEqual([
      ['invoke_workflow sample', ['execute_tool tool-list', 'read_resource resource-guide', 'compute n']],
    ]);
    expect(recording.span('invoke_workflow sample').attributes).toEqual({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'sample',
      'stepwright.run.ref': expect.stringMatching(/^[0-9a-f]{12}$/),
      'stepwright.run.status': 'succeeded',
    });
    expect(recording.span('execute_tool tool-list').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'tool-list',
      'gen_ai.workflow.name': 'sample',
      'stepwright.node.id': 'list',
      'stepwright.node.kind': 'call',
      'stepwright.node.attempt': 1,
    });
    expect(recording.span('read_resource resource-guide').attributes).toMatchObject({
      'stepwright.resource.name': 'resource-guide',
      'stepwright.node.id': 'guide',
    });
  });

  test('are made for a run that needs nothing from outside, too', async () => {
    const recording = await recorded(graph([compute('n', lit(1))]), {});
    expect(recording.tree).toEqual([['invoke_workflow sample', ['compute n']]]);
  });

  test('are one for each attempt, with its number and the code of its failure', async () => {
    let calls = 0;
    const tool = (): ToolOutcome => {
      calls += 1;
      return calls < 3 ? failed('BUSY') : ok(1);
    };
    const recording = await recorded(graph([call('a', {}, { retry: again(3) })]), { 'tool-a': tool });
    const attempts = recording.spans.filter(({ name }) => name === 'execute_tool tool-a');
    expect(
      attempts.map(({ attributes, status }) => [
        attributes['stepwright.node.attempt'],
        attributes['error.type'],
        status.code,
      ]),
    ).toEqual([
      [1, 'BUSY', SpanStatusCode.ERROR],
      [2, 'BUSY', SpanStatusCode.ERROR],
      [3, undefined, SpanStatusCode.UNSET],
    ]);
  });

  test('count the attempts of a container, with what it did in each', async () => {
    let calls = 0;
    const tool = (): ToolOutcome => {
      calls += 1;
      return calls === 1 ? failed('BUSY') : ok(1);
    };
    const both = parallel('both', { left: body([call('a')]) }, { retry: again(1) });
    const recording = await recorded(graph([both]), { 'tool-a': tool });
    expect(recording.tree).toEqual([
      [
        'invoke_workflow sample',
        [
          ['parallel both', ['execute_tool tool-a']],
          ['parallel both', ['execute_tool tool-a']],
        ],
      ],
    ]);
    expect(recording.span('parallel both', { 'stepwright.node.attempt': 1 }).attributes).toMatchObject({
      'error.type': 'BUSY',
    });
    expect(recording.span('parallel both', { 'stepwright.node.attempt': 2 }).status.code).toBe(
      SpanStatusCode.UNSET,
    );
  });

  test('of items of a loop say which item they are of', async () => {
    const loop = foreach('rows', lit([1, 2]), body([foreach('cells', lit([1, 2]), body([call('a')]))]));
    const recording = await recorded(graph([loop]), { 'tool-a': () => ok(1) });
    const calls = recording.spans.filter(({ name }) => name === 'execute_tool tool-a');
    expect(calls.map(({ attributes }) => attributes['stepwright.node.index'])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);
    expect(recording.tree).toEqual([
      [
        'invoke_workflow sample',
        [
          [
            'foreach rows',
            [
              ['foreach cells', ['execute_tool tool-a', 'execute_tool tool-a']],
              ['foreach cells', ['execute_tool tool-a', 'execute_tool tool-a']],
            ],
          ],
        ],
      ],
    ]);
  });

  test('of a workflow inside another are in its span, which links the one that calls it', async () => {
    const inner = graph([call('a')], { name: 'inner' });
    const middle = graph([runs('deep', 'inner')], { name: 'middle' });
    const of = withTasks(graph([runs('sub', 'middle')]), middle, inner);
    const recording = await recorded(of, { 'tool-a': () => ok(1) });
    expect(recording.tree).toEqual([
      [
        'invoke_workflow sample',
        [['invoke_workflow middle', [['invoke_workflow inner', ['execute_tool tool-a']]]]],
      ],
    ]);
    const linked = (name: string) =>
      recording
        .span(name)
        .links.map(({ context: { spanId }, attributes }) => [spanId, attributes?.['stepwright.link']]);
    const idOf = (name: string) => recording.span(name).spanContext().spanId;
    expect(linked('invoke_workflow middle')).toEqual([[idOf('invoke_workflow sample'), 'calling_workflow']]);
    expect(linked('invoke_workflow inner')).toEqual([[idOf('invoke_workflow middle'), 'calling_workflow']]);
    expect(recording.span('execute_tool tool-a').attributes['gen_ai.workflow.name']).toBe('inner');
    expect(recording.span('invoke_workflow inner').attributes).toMatchObject({
      'gen_ai.workflow.name': 'inner',
      'stepwright.node.id': 'deep',
    });
  });

  test('say why a step failed before its tool was called, and hold no message and no value', async () => {
    const steps = [call('a', { x: broken }), call('b', { pass: input('pass') })];
    const recording = await recorded(
      graph(steps, { failFast: false }),
      { 'tool-b': () => failed('hunter2 is wrong') },
      { input: { pass: 'hunter2' } },
    );
    expect(recording.span('execute_tool tool-a').attributes['error.type']).toMatch(/^E_/);
    expect(recording.span('execute_tool tool-b').attributes['error.type']).toBe('_OTHER');
    const all = recording.spans.map(({ name, attributes, status, events }) => ({
      name,
      attributes,
      status,
      events,
    }));
    expect(JSON.stringify(all)).not.toContain('hunter2');
  });

  test('tell what was skipped, and what was undone', async () => {
    const branches = { l: body([call('a', {}, { compensate: undo('tool-undo') })]), r: body([call('b')]) };
    const nodes = [
      call('c', {}, { when: lit(false) }),
      parallel('both', branches, { after: ['c'], onPartialFailure: 'rollback' }),
    ];
    const recording = await recorded(graph(nodes), {
      'tool-a': () => ok(1),
      'tool-b': () => failed('BUSY'),
      'tool-undo': () => ok(1),
    });
    expect(recording.tree).toEqual([
      [
        'invoke_workflow sample',
        [['parallel both', ['execute_tool tool-a', 'execute_tool tool-b', 'execute_tool tool-undo']]],
      ],
    ]);
    expect(recording.span('execute_tool tool-undo').attributes).toMatchObject({
      'stepwright.compensation': true,
    });
    const skips = recording
      .span('invoke_workflow sample')
      .events.map(({ name, attributes }) => [name, attributes]);
    expect(skips).toEqual([
      [
        'stepwright.node.skipped',
        { 'stepwright.node.id': 'c', 'stepwright.node.skip_reason': 'condition_false' },
      ],
    ]);
  });

  test('end with the run: a question without an answer', async () => {
    const asked = await recorded(graph([ask('sure')]), {});
    expect(asked.span('ask sure').attributes['error.type']).toBe('E_NOBODY_TO_ASK');
    expect(asked.span('ask sure').events.map(({ name }) => name)).toEqual(['stepwright.node.waiting']);
    expect(asked.span('invoke_workflow sample').attributes).toMatchObject({
      'stepwright.run.status': 'failed',
      'error.type': 'E_NOBODY_TO_ASK',
    });
  });

  test('of a cancelled run end as cancelled, with the call in flight', async () => {
    const recording = new Recording();
    const setup = new Setup();
    const hang = (): Promise<ToolOutcome> => {
      queueMicrotask(() => setup.abort.abort());
      return new Promise(() => {});
    };
    await setup.run(graph([call('a')]), { 'tool-a': hang }, { telemetry: recording.telemetry });
    expect(recording.tree).toEqual([['invoke_workflow sample', ['execute_tool tool-a']]]);
    expect(recording.span('invoke_workflow sample').attributes).toMatchObject({
      'stepwright.run.status': 'cancelled',
      'error.type': 'E_CANCELLED',
    });
    expect(recording.span('execute_tool tool-a').attributes['error.type']).toBe('E_CANCELLED');
  });
});

describe('the context of a run', () => {
  test('is that of its caller, and of each tool while it runs', async () => {
    const recording = new Recording();
    const tracer = trace.getTracer('test');
    const tool = async (): Promise<ToolOutcome> => {
      await Promise.resolve();
      tracer.startSpan('GET').end();
      return ok(1);
    };
    await tracer.startActiveSpan('request', async (span) => {
      const steps = [parallel('both', { l: body([call('a')]), r: body([call('b')]) })];
      await new Setup().run(
        graph(steps),
        { 'tool-a': tool, 'tool-b': tool },
        { telemetry: recording.telemetry },
      );
      span.end();
    });
    const both = [
      'parallel both',
      [
        ['execute_tool tool-a', ['GET']],
        ['execute_tool tool-b', ['GET']],
      ],
    ];
    expect(recording.tree).toEqual([['request', [['invoke_workflow sample', [both]]]]]);
    expect(trace.getSpan(context.active())).toBeUndefined();
  });

  test('is kept with the run, so that another process links where it goes on', async () => {
    const recording = new Recording();
    const journal = new MemoryJournal();
    const rows: unknown[] = [];
    const append = journal.append.bind(journal);
    journal.append = (entry) => {
      rows.push(...(entry.hostRows ?? []));
      return append(entry);
    };
    const kept = { ...graph([call('a')]), name: 'kept' };
    await new Setup().run(kept, { 'tool-a': () => ok(1) }, { telemetry: recording.telemetry, journal });
    const { traceId, spanId } = recording.span('invoke_workflow kept').spanContext();
    expect(rows).toEqual([
      { table: 'run', key: 'trace', row: { traceparent: `00-${traceId}-${spanId}-01` } },
    ]);
  });
});

describe('the metrics of a run', () => {
  test('count runs and attempts by workflow and step, not by item', async () => {
    const loop = foreach('rows', lit([1, 2, 3]), body([call('a')]));
    const recording = await recorded(graph([loop, call('b', { x: step('rows') })]), {
      'tool-a': () => ok(1),
      'tool-b': () => failed('BUSY'),
    });
    expect(await recording.points('stepwright.workflow.runs')).toEqual([
      [{ 'gen_ai.workflow.name': 'sample', 'stepwright.run.status': 'failed', 'error.type': 'BUSY' }, 1],
    ]);
    expect(await recording.points('gen_ai.workflow.duration')).toEqual([
      [{ 'gen_ai.workflow.name': 'sample', 'error.type': 'BUSY' }, 1],
    ]);
    const of = (id: string, kind: string) => ({
      'gen_ai.workflow.name': 'sample',
      'stepwright.node.id': id,
      'stepwright.node.kind': kind,
    });
    const tool = (id: string) => ({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': `tool-${id}`,
    });
    const points = [
      [{ ...of('a', 'call'), ...tool('a') }, 3],
      [of('rows', 'foreach'), 1],
      [{ ...of('b', 'call'), ...tool('b'), 'error.type': 'BUSY' }, 1],
    ];
    expect(await recording.points('stepwright.node.attempts')).toEqual(points);
    expect(await recording.points('stepwright.node.duration')).toEqual(points);
  });
});

test('what telemetry throws changes no run, and is reported once', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', listen);
  const fault = (): never => {
    throw new Error('the exporter is broken');
  };
  const recording = new Recording({
    ...{ onStart: fault, onEnd: fault, forceFlush: async () => {}, shutdown: async () => {} },
  });
  const outcome = await new Setup().run(
    graph([parallel('both', { l: body([call('a')]) }), call('b', { x: item('x') })], { returns: lit(1) }),
    { 'tool-a': () => ok(1), 'tool-b': () => ok(1) },
    { telemetry: recording.telemetry },
  );
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  expect(outcome.status).toBe('succeeded');
  expect(warnings).toEqual(['telemetry failed: the exporter is broken']);
});
