import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from '@photostructure/sqlite';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Graph } from '../../graph/model.js';
import type { MissingCapabilities } from '../tools/capabilities.js';
import { JournalRunStore } from './journal-run-store.js';
import { FakeClock } from './run/fake-clock.fixture.js';
import { FILE_LIMITS, type RunLimits, type Waiter } from './run-store.js';
import type { SqliteDriver } from './store/sqlite/driver.js';
import { SqliteJournal } from './store/sqlite/sqlite-journal.js';
import { ada, envelopeIn, ok, type Tool, unattended } from './store.fixture.js';

let folder: string;
const opened: Process[] = [];

/** Makes a folder for the file of a test. */
export function openFolder(): void {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-shared-'));
}

/** Ends the processes of a test, and removes its folder. */
export async function removeFolder(): Promise<void> {
  await Promise.all(opened.splice(0).map((process) => process.end()));
  rmSync(folder, { recursive: true });
}

/** The path of the file that all processes of a test share. */
export const sharedFile = (): string => join(folder, 'runs.db');

let ids = 0;

/** What a process has of a file: its journal, its clocks and its runs. */
export class Process {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  readonly calls: string[] = [];
  readonly store: JournalRunStore;

  private constructor(
    readonly name: string,
    readonly journal: SqliteJournal,
    tools: Readonly<Record<string, Tool>>,
    limits: Partial<RunLimits>,
    missing: MissingCapabilities,
  ) {
    this.store = new JournalRunStore(
      { hasRuns: true, open: async () => ({ journal: unattended(journal) }) },
      {
        calls: {
          callTool: async (tool, input, context) => {
            this.calls.push(tool);
            return (tools[tool] ?? ok)(input, context);
          },
          readResource: async () => ({ ok: true, value: {} }),
          evaluate: async () => ok(null),
        },
        schemas: new SchemaCompiler(),
        clock: this.clock,
        secretInputs: () => [],
        toolSafety: (tool) => (tool === 'tool-charge' ? 'none' : 'key'),
        missing,
        holdsUnsafeCalls: true,
        resultFailure: (_, value) =>
          typeof value === 'string' ? undefined : { code: 'E_OUTPUT_SCHEMA', message: 'must be string' },
        log: (text) => void this.log.push(String(text)),
        newRunId: () => `run-${++ids}`,
        limits: { ...FILE_LIMITS, ...limits },
      },
    );
  }

  static async begin(
    name: string,
    tools: Readonly<Record<string, Tool>> = {},
    limits: Partial<RunLimits> = {},
    driver: SqliteDriver = sqlite,
    missing: MissingCapabilities = () => [],
  ): Promise<Process> {
    const journal = await SqliteJournal.open(sharedFile(), {
      ...{ pollMs: 1, leaseMs: 1_000, synchronous: 'normal', monotonicNow: () => now, driver },
    });
    const process = new Process(name, journal, tools, limits, missing);
    opened.push(process);
    await process.store.resumeAll();
    return process;
  }

  async start(of: Graph): Promise<string> {
    const answer = await this.store.start({ owner: ada, graph: of, input: {} }, waiter());
    return envelopeIn(answer).workflow_id;
  }

  get(id: string) {
    return this.store.get(ada, id);
  }

  submit(id: string, actionId: string, result: boolean) {
    return this.store.submit(ada, id, { actionId, result }, waiter());
  }

  async end(): Promise<void> {
    this.store.endAll('the end');
    await this.journal.close();
  }
}

export function waiter(): Waiter {
  const { signal } = new AbortController();
  return { answerMs: 45_000, request: { signal, requestId: '1', progress: () => {}, principal: ada } };
}

/** The monotonic clock of all processes, in ms. */
let now = 0;

export async function pass(ms: number, ...processes: readonly Process[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    now += 250;
    for (const { store } of processes) await store.lookAfter();
  }
}
