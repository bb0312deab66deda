import type { JsonObject } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { Graph } from '../../../graph/model.js';
import { isServerCall, nodesWithTasks } from '../../../graph/nodes.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import type { Fact, RunState } from '../../engine/contract.js';
import type { Event, StartIds } from '../../engine/events.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { thrownText } from '../../tools/exceptions.js';
import type { CallPort } from '../../tools/port.js';
import type { Telemetry } from '../../tools/telemetry.js';
import { copyJson } from '../../tools/to-json.js';
import type {
  HostRow,
  InboxItem,
  Journal,
  JournalConflictError,
  LoadedRun,
  RunJournal,
} from '../store/journal.js';
import type { SharedContext, ValuePort } from './calls-in-flight.js';
import type { Clock } from './clock.js';
import type { Delivery } from './inbox.js';

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
  readonly journal?: Journal | RunJournal;
  /** Reports the runs. Default: they are not reported. */
  readonly telemetry?: Telemetry;
}

interface RunOptions {
  /** Must not change while the run lasts, nor afterwards. */
  readonly graph: Graph;
  /** What every call of the run is given; read again for each call. */
  readonly context: SharedContext;
  /** What must not be shown of the run: it gets every fact first. Default: one of its own, for secret inputs. */
  readonly mask?: RunMask;
  /** Default: only what the mask learns is kept beside the state. */
  readonly record?: Recorder;
  /** Whether the inbox of the run in its journal is read; see {@link RunEvent}. Default: false. */
  readonly readsInbox?: boolean;
}

export interface RunStart extends RunOptions {
  /** Values of the graph's inputs, already checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  /** Unique: idempotency keys are made from it. */
  readonly runId: string;
  /** How long attempts may take altogether, in ms from now. Without it only each attempt's own limit holds. */
  readonly deadlineMs?: number;
}

export interface RunResumption extends RunOptions {
  /** As the host's journal has it. */
  readonly loaded: LoadedRun;
}

/** What a run reports, in the order in which it happens. */
export type RunEvent =
  /** A transition is safe. The run is as it is after it, and is changed in place afterwards. */
  | { readonly kind: 'facts'; readonly facts: readonly Fact[]; readonly state: RunState }
  /** There is no work until something arrives: the run is over, or waits. */
  | { readonly kind: 'idle' }
  /** The inbox in its journal was read. Items that were sent and are missing were consumed by another process. */
  | { readonly kind: 'inbox'; readonly items: readonly InboxItem[]; readonly added: readonly InboxItem[] }
  | LostRun
  /** A fault of the engine or of the journal: no part of the run executes any more. */
  | { readonly kind: 'failed'; readonly fault: unknown };

/** Another process has written to the run: no part of it executes here. What was not applied is handed back. */
interface LostRun {
  readonly kind: 'lost';
  readonly fault: JournalConflictError;
  readonly deliveries: readonly Delivery[];
  readonly cancellations: readonly Extract<Event, { kind: 'cancelled' }>[];
  /** Callbacks that wait until the run is safe. */
  readonly watchers: readonly (() => void)[];
}

/** Keeps what a host needs of a run beside its state, as rows that are written with the transitions of the run. */
export interface Recorder {
  /** Takes a transition before it is safe, and returns the rows to write with it. */
  rowsOf(transition: RecordedTransition): readonly HostRow[];
  /** The state was dropped: continues from the rows that were written. */
  reload(rows: readonly HostRow[]): void;
}

/** A transition, with the run after it. */
interface RecordedTransition {
  readonly events: readonly Event[];
  readonly facts: readonly Fact[];
  readonly state: RunState;
  readonly isFirst: boolean;
}

/**
 * Gives facts to an observer, one after the other. What it throws does not change the run.
 * @param onError gets what the observer throws. Default: a process warning reports it.
 */
export function observeFacts(
  { facts, state }: Extract<RunEvent, { kind: 'facts' }>,
  observe: (fact: Fact, state: RunState) => void,
  onError: (error: unknown, fact: Fact) => void = warn,
): void {
  for (const fact of facts) {
    try {
      observe(fact, state);
    } catch (error) {
      try {
        onError(error, fact);
      } catch (second) {
        warn(second);
      }
    }
  }
}

function warn(error: unknown): void {
  process.emitWarning(`an observer of a workflow run failed: ${thrownText(error)}`, 'StepwrightWarning');
}

interface Start {
  readonly input: JsonObject;
  readonly ids: StartIds;
}

/** What a run starts with at a time, in ms since the epoch. Later changes to the input must not change the run. */
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
  const byTools = getOrInsert(tools, graph, () => new WeakMap());
  return getOrInsert(byTools, safetyOf, () => Object.freeze(findTools(graph, safetyOf)));
}

function findTools(graph: Graph, safetyOf: SafetyOf): Record<string, ToolSafety> {
  const safeties: Record<string, ToolSafety> = {};
  for (const node of nodesWithTasks(graph)) {
    if (!isServerCall(node) || Object.hasOwn(safeties, node.tool)) continue;
    const safety = safetyOf(node.tool);
    if (safety !== 'none') safeties[node.tool] = safety;
  }
  return safeties;
}
