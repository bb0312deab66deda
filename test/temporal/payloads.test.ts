import { beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/graph/json.js';
import { ask, body, dict, parallel, required, undo } from '../../src/runtime/engine/constructs.fixture.js';
import { again, call, chain, done, graph, input, lit, step } from '../../src/runtime/engine/graph.fixture.js';
import { ada, ok } from '../../src/runtime/runs/store.fixture.js';
import { nightlyDescribe, nightlyTest } from '../nightly.js';
import { describeTemporal, TemporalHost } from './host.js';

const MEGABYTE = 1_200_000;
/** Of characters of three bytes: an expression may handle a million of them. */
const large = (megabytes: number): string => '€'.repeat((megabytes * MEGABYTE) / 3);

describeTemporal('a value that Temporal does not take', () => {
  const calls: string[] = [];
  const host = new TemporalHost(
    {
      'tool-a': (given) => {
        calls.push(`a ${Object.keys(given)}`);
        return ok(null);
      },
      'tool-make': ({ megabytes }) => {
        calls.push('make');
        // Equal values are kept once.
        return ok(`${calls.length}${large(Number(megabytes))}`);
      },
      'tool-undo': () => {
        calls.push('undo');
        return ok(null);
      },
    },
    { maxEvents: 25 },
  );
  beforeAll(() => host.open());

  const make = (id: string, megabytes: number) =>
    call(id, { megabytes: lit(megabytes) }, { tool: 'tool-make', compensate: undo('tool-undo') });
  const start = async (steps: Parameters<typeof graph>[0], given: Json = null) => {
    calls.length = 0;
    const of = graph(steps, given === null ? {} : { inputs: [required('given')] });
    return host.store.start({ owner: ada, graph: of, input: given === null ? {} : { given } }, host.waiter());
  };

  test('as the input of a run is refused, and the run does not begin', async () => {
    const answer = await start(chain(call('a')), large(3));
    expect(answer).toMatchObject({
      ok: false,
      failure: { code: 'E_INPUT_TOO_LARGE', details: { limit: 2 * 1024 * 1024 - 16 * 1024 } },
    });
    expect(calls).toEqual([]);
  });

  test('as an answer is refused, and the question stays open', async () => {
    const { workflow_id: id } = await host.start(graph(chain(ask('say', 'text'), call('a'))));
    const submission = { actionId: 'say#1', result: large(3) };
    const answer = await host.store.submit(ada, id, submission, host.waiter());
    expect(answer).toMatchObject({ ok: false, failure: { code: 'E_RESULT_TOO_LARGE' } });
    expect((await host.get(id)).status).toBe('waiting');
    expect((await host.submit(id, 'short')).status).toBe('completed');
  });

  test('as the result of a call fails the step, which is not attempted again', async () => {
    const made = { ...make('made', 3), retry: again(2) };
    const answer = await start(chain(made, call('a')));
    expect(answer).toMatchObject({
      envelope: { status: 'failed', error: { code: 'E_RESULT_TOO_LARGE', node: 'made' } },
    });
    expect(calls).toEqual(['make']);
  });

  test('as the input of a call fails the step, and the tool is not called', async () => {
    const both = dict({ left: step('left'), right: step('right') });
    const answer = await start(chain(make('left', 1), make('right', 1), call('a', { both })));
    expect(answer).toMatchObject({
      envelope: { status: 'failed', error: { code: 'E_INPUT_TOO_LARGE', node: 'a' } },
    });
    expect(calls).toEqual(['make', 'make']);
  });

  test('as the result of a run is reported in its place', async () => {
    const both = dict({ left: step('left'), right: step('right') });
    const answer = await start(chain(make('left', 1), make('right', 1), done('out', both)));
    expect(answer).toMatchObject({ ok: false, failure: { code: 'E_RESULT_TOO_LARGE' } });
    expect(calls).toEqual(['make', 'make']);
  });

  nightlyTest(
    'as the state of a run that has to continue in another workflow ends the run, which is undone',
    async () => {
      const more = Array.from({ length: 12 }, (_, index) => call(`a${index}`, {}, { tool: 'tool-a' }));
      const last = ['left', 'right'].map((id) => call(`last-${id}`, { value: step(id) }, { tool: 'tool-a' }));
      const answer = await start(chain(make('left', 1), make('right', 1), ...more, ...last));
      const id = 'envelope' in answer ? answer.envelope.workflow_id : '';
      await expect.poll(async () => (await host.get(id)).status).toBe('cancelled');
      expect((await host.get(id)).error).toMatchObject({ code: 'E_STATE_SIZE' });
      expect(calls.slice(-2)).toEqual(['undo', 'undo']);
    },
  );
});

nightlyDescribe('values that Temporal does not take together', () => {
  const host = new TemporalHost({
    'tool-copy': ({ text }) => ok(text ?? null),
    'tool-length': ({ text }) => ok(String(text).length),
  });
  beforeAll(() => host.open());

  test('are sent one after the other', async () => {
    const bodies = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((id) => {
        const copy = call(`copy-${id}`, { text: input('given') }, { tool: 'tool-copy' });
        const length = call(`length-${id}`, { text: step(copy.id) }, { tool: 'tool-length' });
        return [id, body(chain(copy, length), step(length.id))];
      }),
    );
    const steps = [parallel('all', bodies), done('out', step('all', 'd'), { after: ['all'] })];
    const given = large(1);
    const run = await host.start(graph(steps, { inputs: [required('given')] }), { given });
    await expect
      .poll(async () => (await host.get(run.workflow_id)).status, { timeout: 50_000 })
      .toBe('completed');
    expect((await host.get(run.workflow_id)).result).toBe(given.length);
  }, 60_000);
});
