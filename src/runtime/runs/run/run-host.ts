import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/nodes.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import type { Fact, RunState } from '../../engine/contract.js';
import type { Event, StartIds } from '../../engine/events.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { thrownText } from '../../tools/exceptions.js';
import { type CallPort, runRef } from '../../tools/port.js';
import type { RunTelemetry, Telemetry, TraceCarrier } from '../../tools/telemetry.js';
import { copyJson } from '../../tools/to-json.js';
import type { HostRow, InboxItem, LoadedRun, RunJournal } from '../store/journal.js';
import type { SharedContext } from './calls-in-flight.js';
import type { Clock } from './clock.js';
import type { Delivery } from './inbox.js';
import type { ValuePort } from './values-in-flight.js';

/** What runs in this process have in common: one object serves any number of them. */
export interface RunHost {
  /** How tools and resources are reached. */
  readonly calls: CallPort;
  /** How calls of a tool may be repeated. Default: each call may have an effect of its own. */
  readonly toolSafety?: (tool: string) => ToolSafety;
  /** Default: the process's own clock. */
  readonly clock?: Clock;
  /** Supplies values of a model. Default: the caller does. */
  readonly values?: ValuePort;
  /**
   * Whether a call that another process may have made is not made again where its tool is `none`: then its run pauses.
   * Default: it is made again.
   */
  readonly holdsUnsafeCalls?: boolean;
  /** Where the transitions are written. Default: nowhere; the run ends with this process. */
  readonly journal?: RunJournal;
  /** Reports the runs. Default: nothing does. */
  readonly telemetry?: Telemetry;
}

interface RunOptions {
  /** Must not change while the run lasts, nor afterwards. */
  readonly graph: Graph;
  /** What every call of the run is given; read again for each call. */
  readonly context: SharedContext;
  /** What must not be shown of the run: it gets every fact first. Default: one of its own, for secret inputs. */
  readonly mask?: RunMask;
}

/** A run to begin. */
export interface RunStart extends RunOptions {
  /** Values of the graph's inputs, already checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  /** Unique: idempotency keys are made from it. */
  readonly runId: string;
  /** How long attempts may take altogether, in ms from now. Without it only each attempt's own limit holds. */
  readonly deadlineMs?: number;
}

/** A run to go on with. */
export interface RunResumption extends RunOptions {
  /** As the host's journal has it. */
  readonly loaded: LoadedRun;
}

/** What holds a run. */
export interface RunKeeper {
  /** The run has got as far as it gets for now: it is over, or waits for something. */
  changed(): void;
  /** The run is lost to this process, by a fault of the engine or of the journal. Nothing of it goes on. */
  broken(fault: unknown): void;
  /** Gets every fact, in order, with the run after it. What it throws does not change the run. */
  observe?(fact: Fact, state: RunState): void;
  /** Gets what `observe` threw. Default: a process warning reports it. */
  observerFailed?(error: unknown, fact: Fact): void;
  /**
   * Takes note of a transition before it is safe, and gives the rows that have to be written with it.
   */
  note?(events: readonly Event[], facts: readonly Fact[], state: RunState): readonly HostRow[];
  /** The state was dropped: goes on from the rows that were written. */
  reload?(rows: readonly HostRow[]): void;
  /**
   * Another process has written to the run, which this one no longer holds: nothing of it goes on here until it is loaded
   * again. What was to be taken in is given back. Default: the run is broken.
   */
  lost?(left: LeftOver): void;
  /** Makes a delivery of what was sent to the run's inbox in the journal. Default: nothing is taken from there. */
  receive?(item: InboxItem): Delivery;
  /** The inbox has been read. What was sent to it and is not among its items has been consumed elsewhere. */
  inboxRead?(items: readonly InboxItem[]): void;
}

/** What a run has not taken in that is lost to another process. */
export interface LeftOver {
  readonly deliveries: readonly Delivery[];
  readonly cancellations: readonly Extract<Event, { kind: 'cancelled' }>[];
  /** Callbacks that wait for everything to be safe. */
  readonly waiting: readonly (() => void)[];
}

/** How a run is cancelled. */
export interface CancelOptions {
  readonly compensate?: boolean;
  /** The code of the run's failure. Default: `E_CANCELLED`. */
  readonly code?: string;
  /** Who cancels it. */
  readonly by?: JsonObject;
}

/**
 * What moves a run on: calls or delays that end by themselves (`busy`), answers and perhaps times (`asking`), times
 * alone (`sleeping`), or nothing any more (`over`).
 */
export type LiveStatus = 'busy' | 'asking' | 'sleeping' | 'over';

/** Learns what a transition shows beside the state: the rows are written with it, so that a restart loses none of it. */
export function noteTransition(
  keeper: RunKeeper,
  mask: RunMask,
  { events, facts, state }: { events: readonly Event[]; facts: readonly Fact[]; state: RunState },
): readonly HostRow[] {
  for (const fact of facts) mask.observe(fact, state);
  const learned = mask.takeRows();
  const noted = keeper.note?.(events, facts, state) ?? [];
  return learned.length === 0 ? noted : [...learned, ...noted];
}

/** Reports a run that begins or goes on in this process. */
export function followed(
  { telemetry }: RunHost,
  { run, plan: { graph } }: RunState,
  origin: TraceCarrier | undefined,
): RunTelemetry | undefined {
  return telemetry?.run({ graph, ref: runRef(run.id), origin });
}

/** Gives facts to the observer of a run. What it throws does not change the run. */
export function tellFacts(
  keeper: RunKeeper,
  facts: readonly Fact[],
  state: RunState,
  telemetry: RunTelemetry | undefined,
): void {
  if (telemetry !== undefined) for (const fact of facts) telemetry.observe(fact, state);
  if (keeper.observe === undefined) return;
  for (const fact of facts) {
    try {
      keeper.observe(fact, state);
    } catch (error) {
      tellFault(keeper, error, fact);
    }
  }
}

function tellFault(keeper: RunKeeper, error: unknown, fact: Fact): void {
  try {
    if (keeper.observerFailed === undefined) warn(error);
    else keeper.observerFailed(error, fact);
  } catch (second) {
    warn(second);
  }
}

function warn(error: unknown): void {
  process.emitWarning(`an observer of a workflow run failed: ${thrownText(error)}`, 'StepwrightWarning');
}

/** What a run begins with. */
export interface Start {
  readonly input: JsonObject;
  readonly ids: StartIds;
}

/** What a run begins with at a time, in ms since the epoch. What becomes of its input outside must not reach it. */
export function startOf(
  { graph, runId, input, deadlineMs }: RunStart,
  { toolSafety }: RunHost,
  at: number,
): Start {
  const deadline = deadlineMs === undefined ? {} : { deadlineAt: at + deadlineMs };
  const tools = toolSafety === undefined ? {} : { tools: toolsOf(graph, toolSafety) };
  return {
    input: (copyJson(input) as JsonObject | undefined) ?? structuredClone(input),
    ids: { runId, at, random: Math.random(), ...tools, ...deadline },
  };
}

type SafetyOf = (tool: string) => ToolSafety;

const tools = new WeakMap<Graph, WeakMap<SafetyOf, Readonly<Record<string, ToolSafety>>>>();

/**
 * How the tools that a graph calls may be repeated, as its start takes them: those that are `none` are left out. It is
 * looked for once for each graph and set of tools.
 */
function toolsOf(graph: Graph, safetyOf: SafetyOf): Readonly<Record<string, ToolSafety>> {
  const byTools = tools.get(graph) ?? new WeakMap<SafetyOf, Readonly<Record<string, ToolSafety>>>();
  tools.set(graph, byTools);
  const found = byTools.get(safetyOf) ?? Object.freeze(findTools(graph, safetyOf));
  byTools.set(safetyOf, found);
  return found;
}

function findTools(graph: Graph, safetyOf: SafetyOf): Record<string, ToolSafety> {
  const found: Record<string, ToolSafety> = {};
  for (const { nodes } of [graph, ...(graph.tasks ?? [])]) {
    for (const node of nodesOf({ nodes })) {
      if (node.kind !== 'call' || Object.hasOwn(found, node.tool)) continue;
      const safety = safetyOf(node.tool);
      if (safety !== 'none') found[node.tool] = safety;
    }
  }
  return found;
}
