import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { JournalRunStore } from '../../../runtime/runs/journal-run-store.js';
import { fileStore } from '../../../runtime/runs/operate/run-stores.js';
import { FakeClock } from '../../../runtime/runs/run/fake-clock.fixture.js';
import type { RunLimits, Waiter } from '../../../runtime/runs/run-store.js';
import { ada, envelopeIn, ok, type Tool } from '../../../runtime/runs/store.fixture.js';
import type { MissingCapabilities } from '../../../runtime/tools/capabilities.js';
import { type Dispatched, dispatched } from '../../dispatched.fixture.js';

const waiter: Waiter = {
  answerMs: 45_000,
  request: { signal: new AbortController().signal, requestId: '1', progress: () => {}, principal: ada },
};

/** A store in a file that a server uses, while commands are run on it. */
export class ServedStore {
  readonly clock = new FakeClock();
  /** Default: a tool returns its input. */
  tools: Record<string, Tool> = {};
  /** Needs of graphs that the server lacks, from its next start on. */
  missing: MissingCapabilities = () => [];
  #folder = '';
  #ids = 0;
  #served: JournalRunStore | undefined;

  constructor() {
    beforeEach(() => {
      this.#ids = 0;
      this.tools = {};
      this.#folder = mkdtempSync(join(tmpdir(), 'stepwright-runs-'));
    });
    afterEach(async () => {
      await this.close();
      rmSync(this.#folder, { recursive: true });
    });
  }

  /** How many runs were started. */
  get started(): number {
    return this.#ids;
  }

  get path(): string {
    return this.file('runs.db');
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  /** The server: it is started by the first use. */
  served(limits: Partial<RunLimits> = {}): JournalRunStore {
    this.#served ??= this.#open(this.path, limits);
    return this.#served;
  }

  #open(path: string, limits: Partial<RunLimits> = {}): JournalRunStore {
    return fileStore(path, {
      calls: {
        callTool: async (name, input, context) => this.tools[name]?.(input, context) ?? ok(input),
        readResource: async () => ({ ok: true, value: {} }),
        evaluate: async () => ok(null),
      },
      schemas: new SchemaCompiler(),
      clock: this.clock,
      secretInputs: () => [],
      missing: this.missing,
      log: () => {},
      newRunId: () => `run-${++this.#ids}`,
      limits,
    });
  }

  async start(graph: Graph, input: JsonObject = {}): Promise<string> {
    return envelopeIn(await this.served().start({ owner: ada, graph, input }, waiter)).workflow_id;
  }

  async answer(id: string, actionId: string, result: JsonObject | string | boolean): Promise<void> {
    envelopeIn(await this.served().submit(ada, id, { actionId, result }, waiter));
  }

  async cancel(id: string): Promise<void> {
    envelopeIn(await this.served().cancel(ada, id, {}, waiter));
  }

  /** Answers with a server on another file. */
  async answerIn(path: string, id: string, actionId: string, result: boolean): Promise<void> {
    const other = this.#open(path);
    envelopeIn(await other.submit(ada, id, { actionId, result }, waiter));
    await other.close();
  }

  async close(): Promise<void> {
    await this.#served?.close();
    this.#served = undefined;
  }
}

/** Runs `stepwright runs` with arguments. */
export function runs(...args: readonly string[]): Promise<Dispatched> {
  return dispatched('runs', ...args);
}
