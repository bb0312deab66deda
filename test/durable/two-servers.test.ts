import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/graph/json.js';
import { compilePrograms } from '../compiled-programs.js';
import { nightlyTest } from '../nightly.js';

let programs: Awaited<ReturnType<typeof compilePrograms>>;
let folder: string;
let ledger: string;
const servers: StdioServer[] = [];

beforeAll(async () => {
  const fixture = new URL('ledger-server.fixture.ts', import.meta.url).pathname;
  programs = await compilePrograms({ server: fixture });
}, 60_000);
afterAll(() => programs.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-two-'));
  ledger = join(folder, 'ledger.txt');
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill()));
  rmSync(folder, { recursive: true });
});

/** A server over stdio on the file of the test, with its client. */
class StdioServer {
  readonly #client = new Client({ name: 'test', version: '1' });
  readonly #transport: StdioClientTransport;
  readonly #closed: Promise<void>;
  #stderr = '';

  constructor(...args: readonly string[]) {
    const file = [programs.file('server'), join(folder, 'runs.db'), ledger, 'stdio', ...args];
    this.#transport = new StdioClientTransport({ command: process.execPath, args: file, stderr: 'pipe' });
    this.#transport.stderr?.on('data', (chunk) => {
      this.#stderr += String(chunk);
    });
    this.#closed = new Promise((resolve) => {
      this.#client.onclose = () => resolve();
    });
  }

  static async start(...args: readonly string[]): Promise<StdioServer> {
    const server = new StdioServer(...args);
    servers.push(server);
    await server.#withReason(server.#client.connect(server.#transport));
    return server;
  }

  async call(name: string, args: JsonObject = {}): Promise<JsonObject> {
    const result = await this.#withReason(this.#client.callTool({ name, arguments: args }));
    return result.structuredContent as JsonObject;
  }

  /** A server that ended says why on stderr. */
  #withReason<T>(work: Promise<T>): Promise<T> {
    return work.catch((error) => {
      throw new Error(`${String(error)}\n${this.#stderr}`, { cause: error });
    });
  }

  status(workflow_id: string): Promise<JsonObject> {
    return this.call('get_workflow_status', { workflow_id });
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#transport;
    if (pid !== null) process.kill(pid, signal);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.signal(signal);
    await this.#closed;
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    if (this.#transport.pid === null) return;
    await this.end('SIGKILL');
  }
}

/** The effects so far, each as its step and its key. */
const effects = (): string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);

const runOf = (answer: JsonObject): string => String(answer.workflow_id);

/** The id of the one run that a server lists. */
async function onlyRun(server: StdioServer): Promise<string> {
  const { runs = [] } = await server.call('list_workflows');
  expect(runs).toHaveLength(1);
  return runOf((runs as JsonObject[])[0] ?? {});
}

describe('two servers over stdio on one file', { timeout: 90_000 }, () => {
  nightlyTest('list, show and answer the runs of each other', async () => {
    const [one, other] = await Promise.all([StdioServer.start(), StdioServer.start()]);
    const workflow_id = runOf(await one.call('w_line'));
    expect(await onlyRun(other)).toBe(workflow_id);
    const waiting = await other.call('submit_result', { workflow_id, action_id: 'go#1', result: true });
    expect(waiting).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
    expect(await one.status(workflow_id)).toEqual(await other.status(workflow_id));
    const done = await one.call('submit_result', { workflow_id, action_id: 'sure#1', result: true });
    expect(done).toMatchObject({ status: 'completed', result: 'g' });
    expect(await other.status(workflow_id)).toEqual(await one.status(workflow_id));
    expect(effects().map((line) => line.split(' ')[0])).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  nightlyTest('accept an answer once that both get at once, with one response', async () => {
    const [one, other] = await Promise.all([StdioServer.start(), StdioServer.start()]);
    for (let round = 0; round < 20; round += 1) {
      const workflow_id = runOf(await (round % 2 === 0 ? one : other).call('w_line'));
      const answer = { workflow_id, action_id: 'go#1', result: true };
      const [first, second] = await Promise.all([
        one.call('submit_result', answer),
        other.call('submit_result', answer),
      ]);
      expect(first).toMatchObject({ status: 'waiting', action: { action_id: 'sure#1' } });
      expect(second).toEqual(first);
      expect(effects()).toHaveLength(6 * (round + 1));
      await one.call('cancel_workflow', { workflow_id });
    }
  });

  test('hand answers on to the one that has the tools of a run, and name those that they lack', async () => {
    const [one, edited] = [await StdioServer.start(), await StdioServer.start('edited')];
    const [there, here] = [runOf(await one.call('w_gate')), runOf(await one.call('w_gate'))];
    expect(await one.status(there)).toMatchObject({ definition_changed: false });
    expect(await edited.status(there)).toMatchObject({
      ...{
        status: 'waiting',
        definition_changed: true,
        missing_capabilities: [{ kind: 'tool', name: 'slow' }],
      },
    });
    // The one that has the tool makes of the answer what the sender gets.
    expect(await edited.call('submit_result', { workflow_id: there, result: true })).toMatchObject({
      status: 'completed',
      result: 'a',
    });
    expect(await one.call('submit_result', { workflow_id: here, result: true })).toMatchObject({
      status: 'completed',
      result: 'a',
    });
    expect(effects().map((line) => line.split(' ')[0])).toEqual(['a', 'slow', 'a', 'slow']);
  });

  test('go on with the run of one that was killed', async () => {
    const one = await StdioServer.start('hangs');
    const other = await StdioServer.start();
    one.call('w_long').catch(() => undefined);
    await vi.waitFor(() => expect(effects()).toHaveLength(2), { timeout: 20_000 });
    const workflow_id = await onlyRun(other);
    expect(await other.status(workflow_id)).toMatchObject({ status: 'running' });
    await one.kill();
    await vi.waitFor(
      async () => expect(await other.status(workflow_id)).toMatchObject({ status: 'waiting' }),
      { timeout: 30_000 },
    );
    // The call that was in flight was made again with its key.
    expect(effects().map((line) => line.split(' ')[0])).toEqual(['a', 'slow', 'slow', 'b']);
    expect(new Set(effects()).size).toBe(3);
  });

  nightlyTest('go on with the run of one that was stopped, whose later writes are refused', async () => {
    const one = await StdioServer.start('hangs');
    const other = await StdioServer.start();
    one.call('w_long').catch(() => undefined);
    await vi.waitFor(() => expect(effects()).toHaveLength(2), { timeout: 20_000 });
    const workflow_id = await onlyRun(other);
    one.signal('SIGSTOP');
    await vi.waitFor(
      async () => expect(await other.status(workflow_id)).toMatchObject({ status: 'waiting' }),
      { timeout: 30_000 },
    );
    one.signal('SIGCONT');
    const cancelled = await one.call('cancel_workflow', { workflow_id });
    expect(cancelled).toMatchObject({ status: 'cancelled' });
    expect(await other.status(workflow_id)).toEqual(await one.status(workflow_id));
    expect(new Set(effects()).size).toBe(3);
  });

  nightlyTest('leave their calls in flight to each other on SIGTERM', async () => {
    const one = await StdioServer.start('hangs');
    const other = await StdioServer.start();
    one.call('w_long').catch(() => undefined);
    await vi.waitFor(() => expect(effects()).toHaveLength(2), { timeout: 20_000 });
    const workflow_id = await onlyRun(other);
    await one.end('SIGTERM');
    await vi.waitFor(
      async () => expect(await other.status(workflow_id)).toMatchObject({ status: 'waiting' }),
      { timeout: 30_000 },
    );
    expect(new Set(effects()).size).toBe(3);
  });
});
