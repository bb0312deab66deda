import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import type { Json } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { withCompression } from '../../../src/temporal/compression.js';
import { type TemporalOptions, temporal, writeBundle } from '../../../src/temporal/index.js';
import { workflowIdOf } from '../../../src/temporal/protocol.js';
import { findServer } from '../../../test/temporal/find-server.js';
import { fan, line } from '../graphs.js';
import { increment, startStored, storeOptions } from '../host.js';
import { cpuTime, inTurns } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** Runs on a Temporal server, against the same written by hand with its SDK, whose worker is in this process as well. */
export async function temporalRows(sizes: Sizes): Promise<Row[]> {
  const server = await findServer();
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-temporal-'));
  try {
    const bundles = { ours: path.join(folder, 'ours.js'), byHand: path.join(folder, 'by-hand.js') };
    const logger = new DefaultLogger('ERROR');
    const workflowsPath = fileURLToPath(new URL('../wire/temporal-by-hand.ts', import.meta.url));
    await writeBundle(bundles.ours);
    writeFileSync(bundles.byHand, (await bundleWorkflowCode({ workflowsPath, logger })).code);
    const start = await startRow(server.address, bundles, sizes);
    return [...(await runRows(server.address, bundles, sizes)), start];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

interface Bundles {
  readonly ours: string;
  readonly byHand: string;
}

/** A contestant with its worker: each run is executed until it ends. */
interface Contestant {
  run(name: 'line' | 'fan', count: number): Promise<{ readonly workflowId: string; readonly result: Json }>;
  close(): Promise<void>;
}

async function runRows(address: string, bundles: Bundles, sizes: Sizes): Promise<Row[]> {
  const client = new Client({ connection: await Connection.connect({ address }) });
  const contestants = {
    ours: await openStore({ address, bundlePath: bundles.ours }),
    byHand: await openByHand(client, bundles.byHand),
  };
  const rows: Row[] = [];
  try {
    for (const [name, count] of Object.entries(sizes.temporal) as ['line' | 'fan', number][]) {
      const runOf = (of: Contestant) => async () => {
        const begin = performance.now();
        await of.run(name, count);
        return ((performance.now() - begin) * 1_000) / count;
      };
      const { ours, byHand } = contestants;
      const wall = await inTurns({ ours: runOf(ours), byHand: runOf(byHand) }, sizes);
      const bytes = async (of: Contestant) => {
        const { workflowId, result } = await of.run(name, count);
        const expected = name === 'line' ? count : 2;
        if (result !== expected) throw new Error(`the result is ${JSON.stringify(result)}, not ${expected}`);
        return (await client.workflow.getHandle(workflowId).describe()).historySize ?? Number.NaN;
      };
      const title = `temporal: step in a ${name} of ${count}`;
      const peer = 'by hand';
      const size = { ours: (await bytes(ours)) / count, theirs: (await bytes(byHand)) / count };
      rows.push(
        row({
          ...{ name: `${title}, by the clock`, unit: 'µs', ours: wall.ours },
          ...{ peer: { name: peer, value: wall.byHand }, target: { of: 'ratio', atMost: 1.25 } },
        }),
        row({
          ...{ name: `${title}, history`, unit: 'B', ours: size.ours },
          ...{ peer: { name: peer, value: size.theirs }, target: { of: 'ratio', atMost: 1.5 } },
        }),
      );
    }
    return [...rows, await replayRow(client, contestants, { bundles, sizes })];
  } finally {
    await contestants.ours.close();
    await contestants.byHand.close();
    await client.connection.close();
  }
}

async function openStore(options: TemporalOptions): Promise<Contestant> {
  const store = temporal({ ...options, taskQueue: randomUUID() }).open({
    ...storeOptions(),
    newRunId: () => randomUUID().replaceAll('-', ''),
  });
  await store.open?.();
  await store.resumeAll?.();
  await store.executing?.();
  const graphs = new Map<string, Graph>();
  return {
    async run(name, count) {
      const key = `${name} ${count}`;
      const graph = graphs.get(key) ?? (name === 'line' ? line(count) : fan(count));
      graphs.set(key, graph);
      const answer = await startStored(store, graph);
      if (!answer.ok) throw new Error(answer.failure.message);
      const { workflow_id, result = null, status } = answer.envelope;
      if (status !== 'completed') throw new Error(`the run is ${status}`);
      return { workflowId: workflowIdOf(workflow_id), result };
    },
    close: async () => store.close?.(),
  };
}

async function openByHand(client: Client, codePath: string): Promise<Contestant> {
  const connection = await NativeConnection.connect({
    address: (client.connection as Connection).options.address,
  });
  const taskQueue = randomUUID();
  const worker = await workerByHand(connection, taskQueue, codePath);
  const running = worker.run();
  return {
    async run(name, count) {
      const workflowId = randomUUID();
      const result: Json = await client.workflow.execute(name, { workflowId, taskQueue, args: [count] });
      return { workflowId, result };
    },
    async close() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

function workerByHand(connection: NativeConnection, taskQueue: string, codePath: string): Promise<Worker> {
  return Worker.create({
    ...{ connection, taskQueue, workflowBundle: { codePath } },
    activities: { increment: async (input: { readonly n: number }) => increment(input) },
  });
}

/** Replays the history of a line over and over in one worker; the first time, which loads the bundle, does not count. */
async function replayRow(
  client: Client,
  contestants: Readonly<Record<keyof Bundles, Contestant>>,
  { bundles, sizes }: { readonly bundles: Bundles; readonly sizes: Sizes },
): Promise<Row> {
  const sampleOf = async (name: keyof Bundles) => {
    const { workflowId } = await contestants[name].run('line', sizes.temporal.line * REPLAYED_LINES);
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    const events = (history.events?.length ?? 0) / 1_000;
    const options = { workflowBundle: { codePath: bundles[name] }, dataConverter: withCompression() };
    return async () => {
      const histories = Array.from({ length: 1 + REPLAYS }, (_, index) => ({
        ...{ workflowId: `${index}`, history },
      }));
      let begin = Number.NaN;
      for await (const { error } of Worker.runReplayHistories(options, histories)) {
        if (error !== undefined) throw error;
        if (Number.isNaN(begin)) begin = cpuTime();
      }
      return (cpuTime() - begin) / (REPLAYS * events);
    };
  };
  const samples = { ours: await sampleOf('ours'), byHand: await sampleOf('byHand') };
  const { ours, byHand } = await inTurns(samples, { ...sizes, warmUpMs: 0 });
  return row({
    ...{ name: 'temporal: replay of 1000 events', unit: 'µs', ours },
    ...{ peer: { name: 'by hand', value: byHand }, target: { of: 'ours', atMost: 50_000 } },
  });
}

/** So many times as long is the line that is replayed: six events for each step. */
const REPLAYED_LINES = 4;
const REPLAYS = 5;

/** From the connection to a worker that takes work. */
async function startRow(address: string, bundles: Bundles, sizes: Sizes): Promise<Row> {
  const costOf = async (open: () => Promise<() => Promise<void>>) => {
    const begin = cpuTime();
    const close = await open();
    const spent = cpuTime() - begin;
    await close();
    return spent;
  };
  const { ours, byHand } = await inTurns(
    {
      ours: () =>
        costOf(async () => {
          const { close } = await openStore({ address, bundlePath: bundles.ours });
          return close;
        }),
      byHand: () =>
        costOf(async () => {
          const client = new Client({ connection: await Connection.connect({ address }) });
          const { close } = await openByHand(client, bundles.byHand);
          return async () => {
            await close();
            await client.connection.close();
          };
        }),
    },
    sizes,
  );
  return row({
    ...{ name: 'temporal: start of a worker', unit: 'µs', ours },
    ...{ peer: { name: 'by hand', value: byHand }, target: { of: 'ratio', atMost: 1.3 } },
  });
}
