import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { compileProgram } from '../../scripts/compile-program.js';
import type { RunStore } from '../../src/runtime/runs/run-store.js';
import { nightlyTest } from '../nightly.js';
import { startServer, type TestServer, program as temporalProgram } from './find-server.js';
import { describeTemporal } from './host.js';
import { answerRun, resultOf, type Shared, startRun, storeOf } from './lanes.js';

const IN_FLIGHT = 20;

describeTemporal('the effects of runs happen once, and no answer is lost', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-kills-'));
  let program: string;
  const processes: ChildProcess[] = [];
  beforeAll(() => {
    program = compileProgram('test/temporal/killed-process.ts', 'stepwright-kills');
  });
  afterAll(() => {
    for (const each of processes) each.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const share = (address = inject('temporalAddress') ?? ''): Shared => ({
    address,
    taskQueue: `kills-${randomUUID()}`,
    bundlePath: inject('temporalBundle'),
    books: join(folder, `${randomUUID()}.jsonl`),
  });

  /** Starts a process. Resolves when it is ready. */
  async function start(role: 'worker' | 'client', shared: Shared, onLine: (line: string) => void = () => {}) {
    const child = spawn(process.execPath, [program, role, JSON.stringify(shared)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    processes.push(child);
    const lines = createInterface({ input: child.stdout });
    lines.on('line', onLine);
    await once(lines, 'line');
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Has runs in flight until the work is done, and then all of them completed. Returns their ids. */
  async function withRuns(store: RunStore, work: () => Promise<void>): Promise<string[]> {
    const ids: string[] = [];
    let isOpen = true;
    const lane = async (): Promise<void> => {
      // On a slow machine one kill is over before a run is.
      while (isOpen || ids.length === 0) {
        const id = await startRun(store);
        if (id === undefined) continue;
        ids.push(id);
        await answerRun(store, id);
        await resultOf(store, id);
      }
    };
    const lanes = Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    await work();
    isOpen = false;
    await lanes;
    return ids;
  }

  /** One after the other: of a hundred at once a busy worker replays none within the limit of a request. */
  async function resultsOf(store: RunStore, ids: Iterable<string>): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const id of ids) results.push(await resultOf(store, id));
    return results;
  }

  /** Each run has its two effects, and each effect a key of its own. */
  async function expectEffects(store: RunStore, { books }: Shared, ids: readonly string[]): Promise<void> {
    const lines = readFileSync(books, 'utf8').trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { key: string; purpose: string; id: string });
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
    const runs = new Map<string, number>();
    for (const { purpose } of entries) runs.set(purpose, (runs.get(purpose) ?? 0) + 1);
    expect(Math.max(...runs.values())).toBe(2);
    const results = await resultsOf(store, ids);
    const paid = entries.map(({ id }) => id);
    for (const result of results) expect(paid).toContain(result);
    expect(new Set(results).size).toBe(ids.length);
    process.stderr.write(`${ids.length} runs with ${entries.length} effects\n`);
  }

  const WORKER_KILLS = 50;
  nightlyTest(
    `when the worker is killed (${WORKER_KILLS} times)`,
    async () => {
      const shared = share();
      const store = storeOf(shared, false);
      let worker = await start('worker', shared);
      const ids = await withRuns(store, async () => {
        for (let count = 0; count < WORKER_KILLS; count += 1) {
          await delay(500 + Math.random() * 1_500);
          await kill(worker);
          worker = await start('worker', shared);
        }
      });
      await expectEffects(store, shared, ids);
      await kill(worker);
      await store.close?.();
    },
    120_000 + 10_000 * WORKER_KILLS,
  );

  const CLIENT_KILLS = 20;
  nightlyTest(
    `when the process with the clients is killed (${CLIENT_KILLS} times)`,
    async () => {
      const shared = share();
      const worker = await start('worker', shared);
      const [started, accepted] = [new Set<string>(), new Set<string>()];
      const onLine = (line: string): void => {
        const [what, id = ''] = line.split(' ');
        if (what === 'started') started.add(id);
        if (what === 'accepted') accepted.add(id);
      };
      for (let count = 0; count < CLIENT_KILLS; count += 1) {
        const client = await start('client', shared, onLine);
        const before = accepted.size;
        await expect.poll(() => accepted.size, { interval: 10 }).toBeGreaterThan(before);
        await delay(Math.random() * 500);
        await kill(client);
      }
      const store = storeOf(shared, false);
      // Accepted answers need no other.
      await resultsOf(store, accepted);
      for (const id of started) if (!accepted.has(id)) await answerRun(store, id);
      await expectEffects(store, shared, [...started]);
      await kill(worker);
      await store.close?.();
    },
    120_000 + 10_000 * CLIENT_KILLS,
  );

  const SERVER_KILLS = 10;
  nightlyTest(
    `when the Temporal server is killed that keeps its data in a file (${SERVER_KILLS} times)`,
    async () => {
      const file = join(folder, 'temporal.db');
      let server: TestServer = await startServer(temporalProgram(), file);
      const port = Number(server.address.split(':')[1]);
      const shared = share(server.address);
      const store = storeOf(shared, false);
      const worker = await start('worker', shared);
      const ids = await withRuns(store, async () => {
        for (let count = 0; count < SERVER_KILLS; count += 1) {
          await delay(2_000 + Math.random() * 3_000);
          await server.stop();
          server = await startServer(temporalProgram(), file, port);
        }
        await delay(2_000);
      });
      await expectEffects(store, shared, ids);
      await kill(worker);
      await store.close?.();
      await server.stop();
    },
    120_000 + 30_000 * SERVER_KILLS,
  );
});
