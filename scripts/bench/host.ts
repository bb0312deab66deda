import { SchemaCompiler } from '../../src/formats/json-schema/schema-compiler.js';
import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { planOf } from '../../src/plan/compile.js';
import type { Advance, Change, Command, RunState } from '../../src/runtime/engine/contract.js';
import { advance, start } from '../../src/runtime/engine/engine.js';
import type { Event } from '../../src/runtime/engine/events.js';
import type { RunStoreOptions } from '../../src/runtime/runs/journal-run-store.js';
import { memoryStore } from '../../src/runtime/runs/operate/run-stores.js';
import { processClock } from '../../src/runtime/runs/run/clock.js';
import type { RunAnswer } from '../../src/runtime/runs/run/envelope.js';
import { runInProcess } from '../../src/runtime/runs/run/run-in-process.js';
import { FILE_LIMITS, type RunStore } from '../../src/runtime/runs/run-store.js';
import { MemoryJournal } from '../../src/runtime/runs/store/memory-journal.js';
import type { CallPort } from '../../src/runtime/tools/port.js';

// Only this file of the benchmark and `store.ts` call the engine and its host.

const AT = 1_000;

type Call = Extract<Command, { kind: 'callTool' }>;

/** A run in the simplest host: it answers one call after the other, at once. */
export class HostedRun {
  readonly #graph: Graph;
  /** Calls; those from `#next` on have no answers yet. */
  readonly #open: Call[] = [];
  #next = 0;
  state: RunState;

  constructor(graph: Graph, input: JsonObject = {}) {
    this.#graph = graph;
    this.state = this.#take(start(planOf(graph), input, { runId: 'run-1', at: AT }));
  }

  /** Answers up to `count` calls. */
  answer(count = Number.POSITIVE_INFINITY): this {
    for (let left = count; left > 0; left -= 1) {
      const call = this.#nextCall();
      if (call === undefined) break;
      const value = increment(call.input as { readonly n: number });
      const event: Event = { kind: 'toolReturned', at: AT, command: call.id, value };
      this.state = this.#take(advance(planOf(this.#graph), this.state, [event]));
    }
    return this;
  }

  /** @throws Error if the run has not succeeded, since its costs would mean nothing. */
  get result(): Json {
    const { status, result, failure } = this.state.run;
    if (status !== 'succeeded') throw new Error(`the run is ${status}: ${failure?.message ?? 'no failure'}`);
    return result ?? null;
  }

  /** Calls that were answered are not kept. */
  #nextCall(): Call | undefined {
    const call = this.#open[this.#next];
    this.#next += 1;
    if (this.#next >= this.#open.length) {
      this.#open.length = 0;
      this.#next = 0;
    }
    return call;
  }

  #take({ state, commands }: Advance): RunState {
    for (const command of commands) if (command.kind === 'callTool') this.#open.push(command);
    return state;
  }
}

/** The function of the tool, here and in the peers. */
export function increment({ n }: { readonly n: number }): { n: number } {
  return { n: n + 1 };
}

/** Compiles a copy of a graph, since plans are cached by graph. They hash it on request. */
export function planAnew(graph: Graph): unknown {
  return planOf({ ...graph });
}

/** Calls the only tool; `onCall` runs before each call. */
export function portOf(callTool: CallPort['callTool'] = incrementTool): CallPort {
  return {
    callTool,
    async readResource() {
      throw new Error('nothing is read');
    },
    async evaluate() {
      throw new Error('nothing is evaluated');
    },
  };
}

async function incrementTool(_name: string, input: JsonObject) {
  return { ok: true, value: increment(input as { readonly n: number }) } as const;
}

const PORT = portOf();

/** The request context of calls. */
const CONTEXT = { requestId: 'r', progress() {}, principal: { kind: 'local' } } as const;

/**
 * Executes a whole run in the host of `prompts/get`.
 *
 * @throws Error if it has not succeeded, since its costs would mean nothing.
 */
export async function runHosted(
  graph: Graph,
  input: JsonObject = {},
  calls = PORT,
  signal?: AbortSignal,
): Promise<Json> {
  const { status, result, failure } = await runInProcess({
    graph,
    input,
    runId: 'run-1',
    calls,
    context: CONTEXT,
    ...(signal === undefined ? {} : { signal }),
  });
  if (status !== 'succeeded') throw new Error(`the run is ${status}: ${failure?.message ?? 'no failure'}`);
  return result ?? null;
}

/** Executes a whole run, and returns the rows that each of its transitions wrote. */
export async function rowsOf(graph: Graph): Promise<readonly (readonly Change[])[]> {
  const transitions: (readonly Change[])[] = [];
  const journal = new MemoryJournal();
  journal.append = async ({ changes }) => void transitions.push(changes);
  await runInProcess({ graph, input: {}, runId: 'run-1', calls: PORT, context: CONTEXT, journal });
  return transitions;
}

/** Logs what nobody expects. */
function logWarnings(text: string, { level }: { readonly level?: string } = {}): void {
  if (level !== 'debug') console.error(text);
}

/** Options of a store. @param prefix of the ids of its runs. */
export function storeOptions(calls = PORT, prefix = 'run') {
  let runs = 0;
  return {
    calls,
    schemas: new SchemaCompiler(),
    clock: processClock,
    secretInputs: () => [],
    toolSafety: () => 'readOnly',
    log: logWarnings,
    newRunId: () => `${prefix}-${++runs}`,
    limits: { ...FILE_LIMITS, maxOpenRuns: 1_000_000, maxPendingActions: 1_000_000 },
  } satisfies RunStoreOptions;
}

/** A store of runs that outlast a request. */
export function runStoreOf(calls = PORT): RunStore {
  const { limits, ...options } = storeOptions(calls);
  const { maxOpenRuns, maxPendingActions } = limits;
  return memoryStore({ ...options, limits: { maxOpenRuns, maxPendingActions } });
}

/** Starts a run in a new store, and returns its state when it waits or has ended. */
export async function runStored(
  graph: Graph,
  input: JsonObject = {},
  calls = PORT,
  signal = new AbortController().signal,
): Promise<RunAnswer> {
  return startStored(runStoreOf(calls), graph, input, signal);
}

/** Starts a run in a store, and returns its state when it waits or has ended. */
export async function startStored(
  store: RunStore,
  graph: Graph,
  input: JsonObject = {},
  signal = new AbortController().signal,
): Promise<RunAnswer> {
  const request = { ...CONTEXT, signal };
  return store.start(
    { owner: CONTEXT.principal, graph, input },
    { request, answerMs: 600_000, cancels: true },
  );
}
