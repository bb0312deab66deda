import type { Owner } from '../../../decorators/context.js';
import { defined } from '../../../graph/defined.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import { append, getOrInsert } from '../../../graph/maps.js';
import type { Graph } from '../../../graph/model.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import { planOf } from '../../../plan/compile.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import type { Event, NodeStatus, SkipReason } from '../../engine/events.js';
import { effectiveEvents, Replay } from '../../engine/fork.js';
import { nodeOf } from '../../engine/identity.js';
import { commandsOf, nodeRecord } from '../../engine/read.js';
import { restore } from '../../engine/snapshot.js';
import { maskedFailure } from '../../secrets/mask.js';
import { RunMask } from '../../secrets/run-mask.js';
import { runRef } from '../../tools/port.js';
import { RunRecord } from '../actions/run-record.js';
import { processClock } from '../run/clock.js';
import { type Envelope, envelopeOf, type LiveStatus } from '../run/envelope.js';
import { shownArguments } from '../run-store.js';
import { hasWholeLog, runRowsIn } from '../store/host-rows.js';
import { isOver, type LoadedRun } from '../store/journal.js';
import type { ReadRun, StoredEntry } from '../store/reader.js';
import type { ForkSource } from './fork.js';

/** A run of a store, for its operator. Plain JSON; secrets are masked, and the id of the run is left out. */
interface StoredRunView
  extends ReturnType<typeof shownArguments>,
    Omit<Envelope, 'workflow_id' | 'actions' | 'action'> {
  /** Names the run; see `runRef`. */
  readonly run: string;
  readonly owner?: Owner;
  /** RFC 3339. */
  readonly started_at: string;
  /** RFC 3339. Missing while it is not over. */
  readonly ended_at?: string;
  /** Entries of its log. */
  readonly entries: number;
  /** The steps at the top of the workflow, in declaration order. */
  readonly steps: readonly StepView[];
  /** Calls whose result is not known, the oldest first. */
  readonly calls: readonly CallView[];
  /** What it asks and waits for, as a caller sees it. */
  readonly actions: readonly Omit<Envelope['actions'][number], 'workflow_id'>[];
}

interface StepView {
  readonly step_id: string;
  readonly status: NodeStatus;
}

interface CallView {
  readonly step_id: string;
  readonly tool: string;
  readonly attempt: number;
  /** How the call may be repeated. One of `none` is not made again after a restart. */
  readonly retry_safety: ToolSafety;
  /** It undoes the effect of the step. */
  readonly compensates?: true;
}

/** Who makes the calls of a run. */
interface Holding {
  /** Whether a process has it, with its calls in flight. */
  readonly hasHolder: boolean;
  /** See `ReadRun`. */
  readonly paused?: readonly string[] | undefined;
}

/** A run as a store has it, with what may be shown of it. */
export class StoredRunReader {
  readonly #loaded: LoadedRun;
  readonly #graph: Graph;
  readonly #state: RunState;
  readonly #mask: RunMask;
  readonly #holding: Holding;

  /**
   * @throws StateVersionError for a run that this version cannot read.
   * @throws Error for rows that are not those of a run.
   */
  constructor(loaded: LoadedRun, graph: Graph, holding: Holding) {
    this.#loaded = loaded;
    this.#holding = holding;
    this.#graph = graph;
    this.#state = restore(planOf(graph), loaded.rows);
    this.#mask = new RunMask(graph, { rows: loaded.hostRows });
  }

  get view(): StoredRunView {
    const state = this.#state;
    const { id, startedAt } = state.run;
    const { start, endAt } = runRowsIn(this.#loaded.hostRows);
    const { workflow_id: _, action: _one, actions, ...envelope } = this.envelope;
    // The row of the end of a run stays when it is reopened.
    const isOver = envelope.status !== 'running' && envelope.status !== 'waiting';
    return {
      run: runRef(id),
      ...envelope,
      ...defined({ owner: start?.owner }),
      started_at: new Date(startedAt).toISOString(),
      ...(endAt === undefined || !isOver ? {} : { ended_at: new Date(endAt).toISOString() }),
      ...shownArguments(state.input, this.#mask),
      entries: this.#loaded.seq,
      steps: this.#graph.nodes.map(({ id: step_id }) => ({
        step_id,
        status: nodeRecord(state, step_id)?.status ?? 'pending',
      })),
      calls: this.#calls,
      actions: actions.map(({ workflow_id: _id, ...action }) => action),
    };
  }

  /** What the run was started on. */
  get graph(): Json {
    return this.#mask.json(this.#graph as unknown as Json);
  }

  /** The states of its nodes by their keys without indexes. @param entries its log, as far as it is kept. */
  states(entries: readonly StoredEntry[]): ReturnType<typeof runNodeStates> {
    return runNodeStates({ loaded: this.#loaded, graph: this.#graph, entries }, this.#mask);
  }

  /** An event without secrets: a value is masked by the step it belongs to. */
  event(event: Event): JsonObject {
    const { kind, at, ...rest } = event;
    const shown = this.#mask.json(rest as unknown as JsonObject) as JsonObject;
    return {
      kind,
      at: new Date(at).toISOString(),
      ...shown,
      ...('value' in event && event.value !== undefined ? { value: this.#value(event, event.value) } : {}),
      ...('outcome' in event && event.outcome.kind === 'happened'
        ? { outcome: { kind: 'happened', value: this.#mask.outputOf(event.node, event.outcome.value) } }
        : {}),
      ...('failure' in event
        ? { failure: maskedFailure(event.failure, this.#mask) as unknown as JsonObject }
        : {}),
    };
  }

  /** As callers see it. */
  get envelope(): Envelope {
    const state = this.#state;
    const record = new RunRecord(processClock);
    record.reload(this.#loaded.hostRows);
    const paused = this.#paused;
    const liveStatus = paused.length > 0 ? 'asking' : statusOf(state);
    return envelopeOf({ state, mask: this.#mask, record, liveStatus, paused });
  }

  /** Calls about which an operator decides. */
  get #paused(): NonNullable<Envelope['paused_steps']> {
    const { hasHolder, paused } = this.#holding;
    if (isOver(this.#state.run.status)) return [];
    return this.#calls
      .filter(({ step_id, retry_safety, compensates }) =>
        paused === undefined
          ? !hasHolder && retry_safety === 'none' && compensates !== true
          : paused.includes(step_id),
      )
      .map(({ step_id, tool }) => ({ step_id, tool }));
  }

  get #calls(): readonly CallView[] {
    return commandsOf(this.#state).flatMap((command) =>
      command.kind === 'callTool'
        ? [
            {
              step_id: command.undoes ?? command.node,
              tool: command.tool,
              attempt: command.attempt,
              retry_safety: this.#state.safetyOf(command.tool),
              ...(command.isCompensation ? { compensates: true } : {}),
            },
          ]
        : [],
    );
  }

  #value(event: Event, value: Json): Json {
    if (!('command' in event)) return this.#mask.json(value);
    const result = this.#mask.callResult(value, event.command);
    const step = nodeOf(event.command);
    return step === undefined ? result : this.#mask.outputOf(step, result);
  }
}

/** Whether a run goes on by itself, as far as its state says. */
function statusOf(state: RunState): LiveStatus {
  if (isOver(state.run.status)) return 'over';
  const commands = commandsOf(state);
  const isHost = ({ kind }: (typeof commands)[number]): boolean =>
    kind === 'callTool' || kind === 'readResource' || kind === 'evaluate';
  if (commands.length === 0 || commands.some(isHost)) return 'busy';
  return commands.some(({ kind }) => kind === 'requestAction') ? 'asking' : 'sleeping';
}

/** How a node of a run did, over all items of the loops around it. Secrets are masked. */
interface RunNodeState {
  /** Of the items that differ, the one that matters most: `failed` goes before all others. */
  readonly status: NodeStatus;
  /** How many items have each status; one for a node outside of loops. */
  readonly counts: Readonly<Partial<Record<NodeStatus, number>>>;
  /** Calls and reads that were issued. */
  readonly attempts: number;
  /** Ms since the epoch. Missing for a node that has not startRow, and where the log is not whole. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly reason?: SkipReason;
  /** That of the last failed item. */
  readonly failure?: Failure;
  /** Of its last call. */
  readonly call?: ShownCall;
}

/** A call of a step, with its result if it has returned one. Secrets are masked. */
interface ShownCall {
  readonly tool: string;
  readonly input: JsonObject;
  readonly result?: Json;
}

/** What decides the status of a node with several items. */
const RANKS: readonly NodeStatus[] = [
  'failed',
  'waiting',
  'running',
  'ready',
  'cancelled',
  'handled',
  'succeeded',
  'pending',
  'skipped',
];

interface OpenState {
  status: NodeStatus;
  attempts: number;
  startedAt?: number;
  endedAt?: number;
  reason?: SkipReason;
  failure?: Failure;
  call?: ShownCall;
}

/**
 * The states of the nodes of a run by their keys without indexes: `sub/line` for the items of `line` in the workflow that
 * `sub` runs. Times are those of its log; without a whole log, as that of a fork, the states alone are known.
 */
function runNodeStates(source: ForkSource, mask: RunMask): ReadonlyMap<string, RunNodeState> {
  const states = hasWholeLog(source) ? replayed(source, mask) : stored(source);
  const byNode = new Map<string, OpenState[]>();
  for (const [key, state] of states) {
    const node = key.replaceAll(/\[\d+\]/g, '');
    append(byNode, node, state);
  }
  return new Map([...byNode].map(([node, items]) => [node, together(items, mask)]));
}

function stored({ loaded }: ForkSource): ReadonlyMap<string, OpenState> {
  const states = new Map<string, OpenState>();
  for (const row of loaded.rows) {
    if (row.table !== 'nodes') continue;
    const { status, attempt = 0, reason, failure } = row.row;
    states.set(row.key, {
      ...{ status, attempts: attempt },
      ...defined({ reason, failure }),
    });
  }
  return states;
}

/** The states after a replay of the log. */
function replayed({ loaded, graph, entries }: ForkSource, mask: RunMask): ReadonlyMap<string, OpenState> {
  const startRow = loaded.rows.find((row) => row.table === 'start');
  if (startRow?.table !== 'start') throw new Error('the run has no start');
  const states = new Map<string, OpenState>();
  let at = startRow.row.startedAt;
  const replay = new Replay(planOf(graph), 'replay', startRow.row, (events, facts, state) => {
    at = events.at(-1)?.at ?? at;
    for (const fact of facts) {
      if (fact.kind === 'callIssued' || fact.kind === 'callReturned') takeCall(states, fact, state, mask);
      take(states, fact, at);
    }
  });
  for (const events of effectiveEvents(entries)) replay.apply(events);
  return states;
}

function take(states: Map<string, OpenState>, fact: Fact, at: number): void {
  if (!('node' in fact) || fact.node === undefined || fact.kind === 'finished') return;
  const state = getOrInsert(states, fact.node, (): OpenState => ({ status: 'pending', attempts: 0 }));
  switch (fact.kind) {
    case 'nodeStarted':
      // A node that a `goto` starts over begins again.
      states.set(fact.node, { status: 'running', attempts: 0, startedAt: at });
      return;
    case 'callIssued':
      if (fact.isCompensation !== true) state.attempts += 1;
      return;
    case 'resourceRequested':
      state.attempts += 1;
      return;
    case 'waiting':
      state.status = 'waiting';
      return;
    case 'answered':
      state.status = 'running';
      return;
    case 'nodeSucceeded':
      end(state, 'succeeded', at);
      return;
    case 'handled':
      state.failure = fact.failure;
      if (fact.fallbackNode !== undefined) end(state, 'handled', at);
      return;
    case 'nodeFailed':
      state.failure = fact.failure;
      end(state, 'failed', at);
      return;
    case 'nodeSkipped':
      state.reason = fact.reason;
      state.status = 'skipped';
      return;
    case 'nodeCancelled':
      end(state, 'cancelled', at);
      return;
    default:
  }
}

/** Keeps the last call of a step. What undoes a step is not its call. */
function takeCall(
  states: ReadonlyMap<string, OpenState>,
  fact: Extract<Fact, { kind: 'callIssued' | 'callReturned' }>,
  state: RunState,
  mask: RunMask,
): void {
  const step = states.get(fact.node);
  if (step === undefined) return;
  if (fact.kind === 'callReturned') {
    const { call } = step;
    if (call === undefined || !fact.outcome.ok) return;
    const result = mask.outputOf(fact.node, mask.callResult(fact.outcome.value, fact.command));
    step.call = { ...call, result };
  } else if (fact.isCompensation !== true) {
    const { tool, input } = fact;
    const command = commandsOf(state).find(({ id }) => id === fact.command);
    const shown =
      command?.kind === 'callTool' ? mask.ofCall(command, state).input(input, []) : mask.json(input);
    step.call = { tool, input: shown as JsonObject };
  }
}

function end(state: OpenState, status: NodeStatus, at: number): void {
  state.status = status;
  state.endedAt = at;
}

function together(items: readonly OpenState[], mask: RunMask): RunNodeState {
  const counts: Partial<Record<NodeStatus, number>> = {};
  for (const { status } of items) counts[status] = (counts[status] ?? 0) + 1;
  const status = RANKS.find((each) => counts[each] !== undefined) ?? 'pending';
  const starts = items.flatMap(({ startedAt }) => (startedAt === undefined ? [] : [startedAt]));
  const ends = items.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [endedAt]));
  const isOver = items.every(({ startedAt, endedAt }) => startedAt === undefined || endedAt !== undefined);
  const reason = items.find((item) => item.reason !== undefined)?.reason;
  const failure = items.findLast((item) => item.failure !== undefined)?.failure;
  const call = items.findLast((item) => item.call !== undefined)?.call;
  return {
    ...{ status, counts },
    attempts: items.reduce((sum, { attempts }) => sum + attempts, 0),
    ...(starts.length === 0 ? {} : { startedAt: starts.reduce((one, other) => Math.min(one, other)) }),
    ...(ends.length === 0 || !isOver ? {} : { endedAt: ends.reduce((one, other) => Math.max(one, other)) }),
    ...(reason === undefined || status !== 'skipped' ? {} : { reason }),
    ...(failure === undefined ? {} : { failure: maskedFailure(failure, mask) }),
    ...defined({ call }),
  };
}

/** A run of a later version is a fault of the input, not of this program. */
export function readStoredRun({ loaded, graph, head, paused }: ReadRun): StoredRunReader | Error {
  try {
    return new StoredRunReader(loaded, graph, { hasHolder: head.holder !== null, paused });
  } catch (error) {
    if (error instanceof Error && error.name === 'StateVersionError') return error;
    throw error;
  }
}
