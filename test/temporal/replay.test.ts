import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { Graph } from '../../src/graph/model.js';
import { ask, body, foreach, parallel, undo, wait } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../src/runtime/engine/graph.fixture.js';
import { ada, broken, envelopeIn, ok } from '../../src/runtime/runs/store.fixture.js';
import { withCompression } from '../../src/temporal/compression.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { importBuilt } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { describeTemporal, TemporalHost } from './host.js';
import { opened } from './lanes.js';

/*
 * Histories of runs that the released interpreter has executed: the present one must replay them. A file that is missing is
 * recorded, and committed with the release. Those of earlier releases remain.
 */

const RELEASE = '1';
const folder = new URL(`./histories/${RELEASE}/`, import.meta.url);

const { History } = proto.api.history.v1;

const replay = (history: unknown) =>
  Worker.runReplayHistory(
    { workflowBundle: { codePath: inject('temporalBundle') }, dataConverter: withCompression() },
    history,
  );

const count = (id: string) => call(id, {}, { tool: 'tool-a' });
const answered = graph(chain(count('a'), ask('sure'), done('out', step('sure'))));
const graphs: Readonly<Record<string, Graph>> = {
  line: graph(chain(count('a'), count('b'), done('out', step('b')))),
  fan: graph([
    parallel('both', { left: body([count('a')]), right: body([count('b')]) }),
    done('out', step('both'), { after: ['both'] }),
  ]),
  answer: answered,
  loop: graph(
    chain(foreach('each', lit([1, 2, 3]), body([wait('nap', { durationMs: lit(20) }), count('a')]))),
  ),
  cancelled: graph(chain(ask('sure'))),
  undone: graph(chain(call('a', {}, { compensate: undo('tool-a') }), ask('sure'))),
  // Its client answers with a result, which a worker checks.
  checked: graph(chain(call('a', {}, { tool: 'tool-fails' })), { task: true }),
};

describeTemporal('a replay', () => {
  const host = new TemporalHost({ 'tool-a': () => ok(1), 'tool-fails': () => broken('it is out of paper') });
  let client: Client;
  beforeAll(async () => {
    client = new Client({
      connection: await Connection.connect({ address: inject('temporalAddress') ?? '' }),
    });
    await host.open();
    return () => client.connection.close();
  });

  async function historyOf(of: Graph, answer?: 'answer' | 'cancel') {
    const { workflow_id: id } = await host.start(of);
    if (answer === 'answer') await host.submit(id, true);
    const how = { reason: 'enough', compensate: true };
    if (answer === 'cancel') await host.store.cancel(ada, id, how, host.waiter());
    await expect.poll(async () => (await host.get(id)).status, { timeout: 20_000 }).not.toMatch(/ing$/);
    return client.workflow.getHandle(workflowIdOf(id)).fetchHistory();
  }

  describe.each(Object.entries(graphs))('of the released history of %s', (name, of) => {
    const file = new URL(`${name}.bin`, folder);
    test('comes to the same commands', async () => {
      if (!existsSync(file) && process.env.CI !== 'true') {
        const isCancelled = name === 'undone' || name === 'cancelled';
        const isAnswered = name === 'answer' || name === 'checked';
        const how = isAnswered ? 'answer' : isCancelled ? 'cancel' : undefined;
        writeFileSync(file, History.encode(await historyOf(of, how)).finish());
      }
      await replay(History.decode(readFileSync(file)));
    });
  });

  test('is not bundled by a worker of the built package', async () => {
    const { temporal } = await importBuilt<typeof import('../../src/temporal/index.js')>('temporal/index.js');
    const create = vi.spyOn(Worker, 'create');
    const store = temporal({ address: inject('temporalAddress') ?? '', taskQueue: randomUUID() }).open(
      host.options,
    );
    onTestFinished(() => store.close?.());
    await opened(store);
    const code = readFileSync(inject('temporalBundle'), 'utf8');
    expect(create).toHaveBeenCalledWith(expect.objectContaining({ workflowBundle: { code } }));
    create.mockRestore();
    const run = { owner: ada, graph: graph(chain(count('a'), done('out', step('a')))), input: {} };
    expect(envelopeIn(await store.start(run, host.waiter()))).toMatchObject({ result: 1 });
  }, 60_000);

  nightlyTest(
    'that comes to other facts fails, and names the first transition that differs',
    async () => {
      const counts = Array.from({ length: 105 }, (_, index) => count(`n${index}`));
      const history = await historyOf(graph(chain(...counts)));
      await replay(history);
      const payloads = (history.events ?? []).flatMap(
        ({ markerRecordedEventAttributes: marker }) => marker?.details?.result?.payloads ?? [],
      );
      const recorded = payloads.find(({ data }) => digestsIn(data).length === 100);
      if (recorded === undefined) throw new Error('no digests are recorded');
      recorded.data = Buffer.from(JSON.stringify(digestsIn(recorded.data).with(41, 'other')));
      await expect(replay(history)).rejects.toThrow(
        /first at transition 42 of this workflow \('toolReturned' of 'n40#1'\)/,
      );
    },
    60_000,
  );
});

function digestsIn(data: Uint8Array | null | undefined): string[] {
  const value: unknown = JSON.parse(Buffer.from(data ?? []).toString('utf8') || 'null');
  return Array.isArray(value) ? value : [];
}
