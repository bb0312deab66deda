import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, ServiceError } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Owner } from '../../src/decorators/context.js';
import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { sha256Hex } from '../../src/graph/sha256.js';
import { planOf } from '../../src/plan/compile.js';
import { advance, start } from '../../src/runtime/engine/engine.js';
import { snapshot } from '../../src/runtime/engine/snapshot.js';
import type { Submission } from '../../src/runtime/runs/actions/action.js';
import { JournalRunStore, type RunStoreOptions } from '../../src/runtime/runs/journal-run-store.js';
import type { Envelope } from '../../src/runtime/runs/run/envelope.js';
import { FILE_LIMITS, type RunStore, type Waiter } from '../../src/runtime/runs/run-store.js';
import { JournalFailedError, type RunJournal } from '../../src/runtime/runs/store/journal.js';
import { VolatileJournal } from '../../src/runtime/runs/store/local-journal.js';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';
import { SqliteReader } from '../../src/runtime/runs/store/sqlite/store-reader.js';
import { envelopeIn } from '../../src/runtime/runs/store.fixture.js';
import type { CallContext, ToolOutcome } from '../../src/runtime/tools/port.js';
import { withCompression } from '../../src/temporal/compression.js';
import type { TemporalOptions } from '../../src/temporal/index.js';
import { digestOf, type LoggedTransition, workflowIdOf } from '../../src/temporal/protocol.js';
import { isNightly } from '../nightly.js';
import { type Case, INPUT } from '../oracle/random-graph.js';
import { sampleAt } from '../oracle/runs.js';
import { reply, undoer, type World } from '../oracle/world.js';
import { describeTemporal, TemporalHost } from './host.js';

/** So many runs are open at once: most of them wait. */
const AT_ONCE = 24;

/** How long a run may wait for a time before it is cancelled, in ms: some wait without end. */
const PATIENCE_MS = 2_000;

/** How often a run is answered before it is cancelled. */
const ROUNDS = 40;

/** So many graphs are one test: those after a fault are tried all the same. */
const SLICE = 250;

/** How often a graph is tried whose requests get no response. */
const ATTEMPTS = 3;

interface Variant {
  readonly first: number;
  readonly count: number;
  /** How many runs are open at once. Default: {@link AT_ONCE}. */
  readonly atOnce?: number;
  readonly options: TemporalOptions;
}

const variants: Readonly<Record<string, Variant>> = {
  'in one workflow': { first: 0, count: isNightly ? 15_000 : 175, options: {} },
  // Nearly each workflow task replays the run, and longer ones continue in other workflows.
  'in short histories with a small cache': {
    ...{ first: 15_000, count: isNightly ? 2_500 : 20 },
    options: { maxEvents: 20, worker: { maxCachedWorkflows: 3 } },
  },
  // No worker has a task queue of its own, and each workflow task replays the run.
  'without a cache': {
    ...{ first: 17_500, count: isNightly ? 2_500 : 5 },
    // A worker that replays each time has less at once.
    atOnce: 4,
    options: { maxEvents: 100, worker: { maxCachedWorkflows: 0 } },
  },
};

/** A run of a random graph in its world, which its owner drives. */
class RandomRun {
  readonly #store: RunStore;
  readonly graph: Graph;
  readonly world: World;
  readonly owner: Owner;
  /** How often each idempotency key was used. */
  readonly calls = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  id = '';

  /** @param name of the attempt: what an earlier one has left does not reach it. */
  constructor(store: RunStore, { graph, world }: Case, name: string) {
    this.#store = store;
    this.world = world;
    this.owner = { kind: 'principal', subject: name };
    // The safety of a tool is known by its name alone.
    this.graph = JSON.parse(
      JSON.stringify(graph).replaceAll(/"tool":"([^"]+)"/g, `"tool":"$1@${name}"`),
    ) as Graph;
  }

  #before(who: string): number {
    const before = this.#asked.get(who) ?? 0;
    this.#asked.set(who, before + 1);
    return before;
  }

  async call(kind: 'tool' | 'resource' | 'function', name: string, input: Json, context: CallContext) {
    const node = context.origin?.source === 'workflow' ? context.origin.node : '';
    const isUndo = name.startsWith('undo');
    const who = isUndo ? undoer(name, input) : node;
    const asker = { kind: isUndo ? ('undo' as const) : kind, who, tool: name, input };
    const answer = reply(this.world, { ...asker, before: this.#before(who) });
    await delay(answer.kind === 'hang' ? 500 : answer.after);
    return answer.kind === 'hang'
      ? { ok: false as const, attempted: true, failure: { code: 'X_HANGS', message: 'it does not return' } }
      : answer.kind === 'failure'
        ? { ok: false as const, attempted: answer.attempted, failure: answer.failure }
        : { ok: true as const, value: answer.value };
  }

  #waiter(): Waiter {
    const { signal } = new AbortController();
    const request = { signal, requestId: '1', progress: () => {}, principal: this.owner };
    return { answerMs: 20_000, request };
  }

  /** Resolves when the run is over. */
  async drive(): Promise<Envelope> {
    const started = await this.#store.start(
      { owner: this.owner, graph: this.graph, input: INPUT },
      this.#waiter(),
    );
    let envelope = envelopeIn(started);
    this.id = envelope.workflow_id;
    const { cancel } = this.world;
    const cancelling = cancel && delay(cancel.at).then(() => this.#cancel(cancel.compensate));
    // A fault of it is thrown at the end.
    cancelling?.catch(() => {});
    let rounds = 0;
    // Each look costs the worker a task: the later ones come at longer intervals.
    for (let [waited, interval] = [0, 50]; !isOver(envelope); ) {
      const open = envelope.actions.filter(({ type }) => type !== 'wait');
      if (open.length > 0 && rounds < ROUNDS) {
        rounds += 1;
        let last: Envelope | undefined;
        for (const action of open) last = await this.#answer(action);
        if (last !== undefined) {
          envelope = last;
          continue;
        }
      } else {
        await delay(interval);
        const isLate = waited >= PATIENCE_MS;
        waited += interval;
        interval = Math.min(interval * 1.5, 400);
        if (waited >= PATIENCE_MS && !isLate) await this.#cancel(this.world.luck.length % 2 === 0);
        if (waited > 30 * PATIENCE_MS)
          throw new Error(`run ${this.owner.kind} does not end: ${JSON.stringify(envelope)}`);
      }
      envelope = envelopeIn(await this.#store.get(this.owner, this.id));
    }
    await cancelling;
    return envelope;
  }

  #cancel(compensate: boolean): Promise<unknown> {
    return this.#store.cancel(this.owner, this.id, { reason: 'enough', compensate }, this.#waiter());
  }

  /** Returns the run as it is after an answer to one of its own actions. */
  async #answer(action: Envelope['actions'][number]): Promise<Envelope | undefined> {
    const { action_id: actionId, schema, parameters } = action;
    const { children = [] } = parameters as {
      readonly children?: readonly { readonly workflow_id: string }[];
    };
    for (const { workflow_id } of children) await this.#work(workflow_id);
    if (children.length > 0) return undefined;
    const submission = { actionId, ...this.#say(actionId, schema, action.type === 'step') };
    const answer = await this.#store.submit(this.owner, this.id, submission, this.#waiter());
    return answer.ok && 'envelope' in answer ? answer.envelope : undefined;
  }

  /** One step of the agent of an item. */
  async #work(child: string): Promise<void> {
    const answer = await this.#store.nextStep(this.owner, child, this.#waiter());
    if (!answer.ok || answer.next.status !== 'pending_step') return;
    const { step_id: stepId, schema } = answer.next.step;
    const submission = { stepId, ...this.#say(`${child} ${stepId}`, schema, false) };
    await this.#store.nextStep(this.owner, child, this.#waiter(), submission);
  }

  /** What the owner sends for an action: mostly what fits. */
  #say(action: string, schema: unknown, isStep: boolean): Submission {
    const { luck } = this.world;
    const number = (luck[(action.length * 7 + this.#before(action)) % Math.max(1, luck.length)] ?? 0) % 10;
    if (number === 9) return { error: { code: 'X_ANSWER', message: 'no answer' } };
    if (number === 8) return { result: [7, 'what?'] };
    if (number === 7 && isStep) return { retry: true };
    return { result: fitting(schema, number) };
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function isOver({ status }: Envelope): boolean {
  return status !== 'running' && status !== 'waiting';
}

function fitting(schema: unknown, number: number): JsonObject {
  const { required = [], properties = {} } = schema as {
    readonly required?: readonly string[];
    readonly properties?: Readonly<Record<string, { readonly enum?: readonly Json[] }>>;
  };
  const [member = 'ok'] = required;
  const options = properties[member]?.enum ?? [];
  if (options.length > 0) return { [member]: options[number % options.length] ?? null };
  if (member === 'exit_code') return { exit_code: number % 3 };
  if (member === 'ok') return { ok: number % 2 === 0, n: number };
  if (member === 'acknowledged' || member === 'confirmed')
    return { [member]: member === 'acknowledged' || number % 2 === 0 };
  return { [member]: `text ${number}` };
}

type Log = readonly LoggedTransition[];

/** A store, and the transitions of its runs, in the parts that it keeps. */
interface Host {
  readonly store: RunStore;
  logsOf(run: RandomRun): Promise<readonly Log[]>;
}

/** A host in this process. */
function localHost(
  options: RunStoreOptions,
  open: () => Promise<RunJournal>,
  check: (run: RandomRun, log: Log) => void = () => {},
): Host {
  const logs = new Map<string, Log>();
  const onTransition: RunJournal['onTransition'] = ({ facts, ...transition }, { run: { id } }) => {
    const log = logs.get(id) ?? [];
    logs.set(id, [...log, { ...transition, seq: log.length + 1, digest: digestOf(facts) }]);
  };
  const source = {
    hasRuns: false,
    open: async () => ({ journal: Object.assign(await open(), { onTransition }) }),
  };
  return {
    store: new JournalRunStore(source, options),
    async logsOf(run) {
      const log = logs.get(run.id) ?? [];
      check(run, log);
      return [log];
    },
  };
}

/** Runs in a file. It leaves out events without an effect. */
function fileHost(options: RunStoreOptions): Host {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-random-'));
  const path = join(folder, 'runs.db');
  let journal: SqliteJournal | undefined;
  let reader: SqliteReader | undefined;
  afterAll(async () => {
    await journal?.close();
    reader?.close();
    rmSync(folder, { recursive: true });
  });
  return localHost(
    { ...options, limits: FILE_LIMITS, holdsUnsafeCalls: true },
    async () => {
      journal = await SqliteJournal.open(path);
      reader = await SqliteReader.open(path);
      return journal;
    },
    ({ id, graph }, log) => {
      const [head] = reader?.find(id) ?? [];
      if (head === undefined) throw new Error('the file has no such run');
      const entries = reader?.entries(head, 2, head.seq) ?? [];
      const [first] = log;
      expect(refold(graph, first === undefined ? [] : [first, ...entries]).rows).toEqual(
        refold(graph, log).rows,
      );
    },
  );
}

/** What the engine in this process comes to with the events of a run. */
function refold(graph: Graph, log: readonly Pick<LoggedTransition, 'start' | 'events'>[]) {
  const [first, ...others] = log;
  if (first?.start === undefined) throw new Error('the log does not begin with a start');
  const issued = new Map<string, number>();
  const plan = planOf(graph);
  let transition = start(plan, first.start.input, first.start.ids);
  const digests: string[] = [];
  const take = (): void => {
    digests.push(digestOf(transition.facts));
    for (const command of transition.commands)
      if (command.kind === 'callTool') count(issued, sha256Hex(command.key));
  };
  take();
  for (const { events } of others) {
    transition = advance(plan, transition.state, events);
    take();
  }
  const { state } = transition;
  return { digests, issued, run: state.run, rows: snapshot(state) };
}

describeTemporal('random graphs', () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({
      connection: await Connection.connect({ address: inject('temporalAddress') ?? '' }),
      dataConverter: withCompression(),
    });
  });
  afterAll(() => client.connection.close());

  /** The transitions of a run, by the workflows that it has continued in. */
  async function remoteLogsOf({ id }: RandomRun): Promise<readonly Log[]> {
    const workflowId = workflowIdOf(id);
    const { raw, runId: lastId } = await client.workflow.getHandle(workflowId).describe();
    const logs: Log[] = [];
    for (let runId = raw.workflowExecutionInfo?.firstRunId; runId; ) {
      const handle = client.workflow.getHandle(workflowId, runId);
      logs.push(await handle.query<Log>('log'));
      if (runId === lastId) break;
      const { events } = await handle.fetchHistory();
      runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    }
    return logs;
  }

  async function compare({ logsOf }: Host, run: RandomRun): Promise<readonly Log[]> {
    const envelope = await run.drive();
    const logs = await logsOf(run);
    const { digests, issued, run: expected } = refold(run.graph, logs.flat());
    expect(logs.flat().map(({ digest }) => digest)).toEqual(digests);
    const status = envelope.status === 'completed' ? 'succeeded' : envelope.status;
    expect([status, envelope.result, envelope.error?.code]).toEqual([
      ...[expected.status, expected.status === 'succeeded' ? expected.result : undefined],
      expected.failure?.code,
    ]);
    for (const [key, calls] of run.calls) expect(calls).toBeLessThanOrEqual(issued.get(key) ?? 0);
    return logs;
  }

  for (const [name, { first, count: most, atOnce = AT_ONCE, options }] of Object.entries(variants)) {
    const runs = new Map<string, RandomRun>();
    const runOf = ({ principal }: CallContext): RandomRun => {
      const run = principal?.kind === 'principal' ? runs.get(String(principal.subject)) : undefined;
      if (run === undefined) throw new Error('the call belongs to no run');
      return run;
    };
    const host = new TemporalHost(
      {},
      {
        ...options,
        run: {
          calls: {
            async callTool(named, input, context): Promise<ToolOutcome> {
              const run = runOf(context);
              const { idempotencyKey = '' } = context;
              count(run.calls, idempotencyKey);
              return run.call('tool', named.replace(/@.*/, ''), input, context);
            },
            async readResource(resource, uri, context) {
              const outcome = await runOf(context).call('resource', resource, uri, context);
              return outcome.ok ? { ok: true, value: outcome.value as JsonObject } : outcome;
            },
            evaluate: ({ name: called }, args, context) =>
              runOf(context).call('function', called, [...args], context),
          },
          toolSafety: (tool) => {
            const [named = '', of = ''] = tool.split('@');
            return runs.get(of)?.world.tools?.[named] ?? 'none';
          },
        },
      },
    );

    const remote: Host = { store: host.store, logsOf: remoteLogsOf };
    const others: Readonly<Record<string, Host>> = {
      memory: localHost(host.options, async () => new VolatileJournal()),
      file: fileHost(host.options),
    };

    const logsOfGraph = async (
      index: number,
      of: Case,
      on: Host,
      by = 'Temporal',
    ): Promise<readonly Log[]> => {
      for (let attempt = 1; ; attempt += 1) {
        const named = `${index}-${attempt}-${by}`;
        const run = new RandomRun(on.store, of, named);
        runs.set(named, run);
        try {
          return await compare(on, run);
        } catch (error) {
          // On a busy machine a request may get no response within 10 s.
          const isUnanswered = error instanceof JournalFailedError || error instanceof ServiceError;
          if (attempt === ATTEMPTS || !isUnanswered) throw error;
        } finally {
          runs.delete(named);
        }
      }
    };

    const slices = Array.from({ length: Math.ceil(most / SLICE) }, (_, index) => {
      const from = first + index * SLICE;
      return [from, Math.min(SLICE, first + most - from)] as const;
    });
    test.each(slices)(
      `from %i on, %i of them ${name} come to the facts and results of the engine`,
      { timeout: 120_000 + 2_000 * Math.min(SLICE, most) },
      async (from, size) => {
        await host.open();
        let next = from;
        const logs: Log[] = [];
        const faults: Error[] = [];
        const lane = async (): Promise<void> => {
          while (next < from + size) {
            const index = next;
            next += 1;
            try {
              const each = sampleAt(index);
              const local = Object.entries(others).map(([by, other]) => logsOfGraph(index, each, other, by));
              const [own] = await Promise.all([logsOfGraph(index, each, remote), ...local]);
              logs.push(...own);
            } catch (cause) {
              faults.push(new Error(`graph ${index}`, { cause }));
            }
          }
        };
        await Promise.all(Array.from({ length: atOnce }, lane));
        if (faults.length > 0) {
          const failed = faults.map(({ message }) => message).join(', ');
          throw new Error(`${faults.length} of ${size}: ${failed}`, { cause: faults[0] });
        }
        expect(logs.flat().length).toBeGreaterThan(2 * size);
        if (options.maxEvents === 20) expect(logs.length).toBeGreaterThan(size);
      },
    );
  }
});
