import { describe, expect, test } from 'vitest';
import type { SamplingRequest } from '../../../decorators/client.js';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { Json } from '../../../graph/json.js';
import { ask, body, parallel } from '../../engine/constructs.fixture.js';
import { call, done, graph, input, lit, step } from '../../engine/graph.fixture.js';
import type { ValuePort } from '../run/calls-in-flight.js';
import { processClock } from '../run/clock.js';
import { LiveRun } from '../run/live-run.js';
import { type InProcessRun, ok, port, Setup } from '../run/setup.fixture.js';

import { withLeases } from '../store/local-journal.js';
import { MemoryJournal } from '../store/memory-journal.js';
import { type ModelFunction, type ModelRequest, valuePort } from './model-values.js';

/** What a step asks a model for, and of which run. */
type ValueRequest = Parameters<ValuePort['supply']>[0];

const schema = {
  type: 'object',
  properties: { title: { type: 'string', maxLength: 5 } },
  required: ['title'],
};
const schemas = new SchemaCompiler();

/** Runs a step that asks for a title, and one that gets it. */
async function run(
  { model, allowSampling = false }: { readonly model?: ModelFunction; readonly allowSampling?: boolean },
  more: Partial<InProcessRun> = {},
  node: Partial<Parameters<typeof ask>[2]> = {},
) {
  const log: string[] = [];
  const values = valuePort({
    ...(model === undefined ? {} : { model }),
    allowSampling,
    schemas,
    log: (text) => log.push(text),
  });
  const asked = ask('asked', 'model', { message: lit('Title?'), expects: schema, ...node });
  const steps = [asked, call('add', { title: step('asked', 'title') }), done('out', step('add'))];
  const tools = { 'tool-add': (given: Json) => ok({ added: given }) };
  const outcome = await new Setup().run(graph(steps), tools, { values, leavesValues: true, ...more });
  return { ...outcome, log };
}

const fitting = { title: 'Plan' };
const failed = { status: 'failed', node: 'asked', failure: { code: 'E_MODEL_VALUE' } };

describe('a model function', () => {
  test('supplies the value, and is told what it is for', async () => {
    const requests: ModelRequest[] = [];
    const model = (request: ModelRequest) => {
      requests.push(request);
      return Promise.resolve(fitting);
    };
    expect(await run({ model })).toMatchObject({ status: 'succeeded', result: { added: fitting } });
    expect(requests).toMatchObject([{ message: 'Title?', schema, step: 'asked', errors: [] }]);
    expect(requests[0]?.signal.aborted).toBe(false);
  });

  test('is asked again at most twice, with what was wrong', async () => {
    const errors: (readonly string[])[] = [];
    const answers: unknown[] = [{ title: 'Too long' }, () => fitting, fitting];
    const model = (request: ModelRequest) => {
      errors.push(request.errors);
      return answers[errors.length - 1];
    };
    expect(await run({ model })).toMatchObject({ status: 'succeeded' });
    expect(errors).toEqual([[], [expect.stringContaining('/title')], ['it is not JSON']]);
  });

  test('is asked with what was wrong in the process before, and for no value twice', async () => {
    const journal = new MemoryJournal();
    const errors: (readonly string[])[] = [];
    let secondTry = () => {};
    const isAskedAgain = new Promise<void>((resolve) => {
      secondTry = resolve;
    });
    const hangs = (request: ModelRequest) => {
      errors.push(request.errors);
      if (errors.length === 1) return { title: 'Too long' };
      secondTry();
      return new Promise(() => {});
    };
    const node = ask('asked', 'model', { message: lit('Title?'), expects: schema });
    const asking = graph([node], { returns: step('asked') });
    const valuesOf = (model: ModelFunction) =>
      valuePort({ model, allowSampling: false, schemas, log: () => {} });
    const host = { calls: port({}), clock: processClock, journal: withLeases(journal) };
    const context = { requestId: 'r', progress() {} };
    const before = new LiveRun(
      { graph: asking, input: {}, runId: 'run-1', context },
      { ...host, values: valuesOf(hangs) },
      () => {},
    );
    before.go();
    await isAskedAgain;
    before.leave();
    const loaded = await journal.load('run-1');
    if (loaded === undefined) throw new Error('nothing was written');
    const model = (request: ModelRequest) => {
      errors.push(request.errors);
      return fitting;
    };
    const result = await new Promise((resolve) => {
      const changed = () => {
        if (after.liveStatus === 'over') resolve(after.state.run.result);
      };
      const after: LiveRun = new LiveRun(
        { graph: asking, loaded, context },
        { ...host, values: valuesOf(model) },
        changed,
      );
      after.go();
    });
    expect(result).toEqual(fitting);
    expect(errors).toEqual([[], [expect.stringContaining('/title')], [expect.stringContaining('/title')]]);
  });

  test('fails the step with its third value that does not fit', async () => {
    let tries = 0;
    const model = () => {
      tries += 1;
      return { title: 7 };
    };
    const outcome = await run({ model });
    expect(outcome).toMatchObject(failed);
    expect(outcome.failure).toMatchObject({ details: { schema, problems: [expect.any(String)] } });
    expect(tries).toBe(3);
  });

  test('that throws fails the step, and the log has the reason alone', async () => {
    const model = () => {
      throw new Error('no quota for key 123');
    };
    const outcome = await run({ model });
    expect(outcome).toMatchObject(failed);
    expect(outcome.failure?.message).not.toContain('quota');
    expect(outcome.log).toEqual([expect.stringContaining('no quota for key 123')]);
  });

  test('that never answers counts to the time of the step, and is aborted', async () => {
    let signal: AbortSignal | undefined;
    const model = (request: ModelRequest) => {
      ({ signal } = request);
      return new Promise(() => {});
    };
    const outcome = await run({ model }, { clock: processClock }, { timeoutMs: 5 });
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'E_TIMEOUT' } });
    expect(signal?.aborted).toBe(true);
  });

  test('is not given a secret', async () => {
    const asked: string[] = [];
    const model = ({ message }: ModelRequest) => asked.push(message);
    const secret = {
      name: 'key',
      description: 'Key',
      schema: { type: 'string' },
      required: true,
      secret: true,
    };
    const values = valuePort({ model, allowSampling: false, schemas, log: () => {} });
    const node = ask('asked', 'model', { message: input('key'), expects: {} });
    const outcome = await new Setup().run(
      graph([node], { inputs: [secret] }),
      {},
      { values, leavesValues: true, input: { key: 'hunter2!' } },
    );
    expect(outcome).toMatchObject(failed);
    expect(asked).toEqual([]);
  });

  test('is aborted where another branch fails', async () => {
    let signal: AbortSignal | undefined;
    const model = (request: ModelRequest) => {
      ({ signal } = request);
      return new Promise(() => {});
    };
    const values = valuePort({ model, allowSampling: false, schemas, log: () => {} });
    const both = parallel('both', {
      left: body([ask('asked', 'model', { expects: {} })]),
      right: body([call('breaks')]),
    });
    const failure = { code: 'E_TOOL', message: 'no' };
    const tools = { 'tool-breaks': () => ({ ok: false, attempted: true, failure }) as const };
    const outcome = await new Setup().run(graph([both]), tools, { values, leavesValues: true });
    expect(outcome).toMatchObject({ status: 'failed', failure });
    expect(signal?.aborted).toBe(true);
  });
});

describe('the model of the client', () => {
  const sampling = (...texts: readonly string[]) => {
    const requests: SamplingRequest[] = [];
    const sample = async (request: SamplingRequest) => {
      requests.push(request);
      const text = texts[requests.length - 1] ?? '';
      return { role: 'assistant', content: { type: 'text', text }, model: 'm' } as const;
    };
    return { requests, context: { requestId: 'r', progress() {}, peer: { sample } } };
  };

  test.each([
    ['JSON', '{"title":"Plan"}'],
    ['JSON in a fence', '```json\n{"title":"Plan"}\n```'],
  ])('is asked for %s if the operator allows it', async (_, text) => {
    const { requests, context } = sampling('Here you are', text);
    expect(await run({ allowSampling: true }, { context })).toMatchObject({ status: 'succeeded' });
    expect(requests).toHaveLength(2);
    expect(JSON.stringify(requests[0])).toContain('Title?');
    expect(JSON.stringify(requests[1])).toContain('did not fit');
  });

  test('is not asked otherwise, nor where the operator has a model', async () => {
    const { requests, context } = sampling('{"title":"Plan"}');
    expect(await run({}, { context })).toMatchObject({ status: 'running' });
    expect(await run({ allowSampling: true })).toMatchObject({ status: 'running' });
    expect(await run({ allowSampling: true, model: () => fitting }, { context })).toMatchObject({
      status: 'succeeded',
    });
    expect(requests).toEqual([]);
  });

  test('may give text as it is', async () => {
    const { context } = sampling('- [ ] water');
    const request = { message: '?', schema: { type: 'string' }, workflow: 'w', step: 's', run: 'r' };
    const port = valuePort({ allowSampling: true, schemas, log: () => {} });
    const full: ValueRequest = {
      ...request,
      peer: context.peer,
      signal: new AbortController().signal,
      errors: [],
    };
    expect(await port.supply(full)).toEqual({ kind: 'value', value: '- [ ] water' });
  });
});
