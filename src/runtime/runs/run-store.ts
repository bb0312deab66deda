import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { clip } from '../../graph/printable-text.js';
import type { RunWarning } from '../../graph/run-time-codes.js';
import type { Fact, Failure, RunState } from '../engine/contract.js';
import type { RunMask } from '../secrets/run-mask.js';
import { jsonSize } from '../tools/to-json.js';
import type { Submission, ToAnswer } from './actions/action.js';
import type { IdentifiedRequest } from './request.js';
import type { SharedContext } from './run/calls-in-flight.js';
import type { Envelope, RunAnswer, SubmitAnswer } from './run/envelope.js';
import type { nextStepOf } from './run/open-actions.js';
import { accessKey, ownerKey } from './run/owner.js';
import type { TaskOrigin } from './store/host-rows.js';
import { UnreadableRunError } from './store/store-error.js';

/**
 * Where runs live that outlast the request which began them. A run belongs to its owner, and one that was started
 * without authentication to all callers without authentication who know its id: for anybody else it does not exist.
 * Nothing a caller does rejects; a rejection is a fault of this product.
 */
export interface RunStore {
  /**
   * Starts a run. Answers when it has ended, when it can only go on with an answer, or when the waiter's time limit is
   * reached.
   */
  start(run: NewRun, waiter: Waiter): Promise<RunAnswer>;
  /** The state of a run now, or after a wait. */
  get(
    caller: Owner,
    id: string,
    how?: RunReading,
  ): Promise<RunStatus | Extract<RunAnswer, { readonly ok: false }>>;
  /** Answers an action, and then as `start` does. */
  submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer>;
  /**
   * What the agent of a child does next, by the id of the child alone. With a submission, its result is taken first.
   * Answers when there is a step, when the child is over, or when its next step depends on others.
   */
  nextStep(caller: Owner, child: string, waiter: Waiter, submission?: Submission): Promise<StepAnswer>;
  /** Changes variables of an open run, all of them at once. */
  setVariables(caller: Owner, id: string, changes: VariableChanges, limitMs: number): Promise<SubmitAnswer>;
  /** Shows a run as it is when all of it is safe. Resolves with `undefined` where the caller has no such run. */
  inspect<T>(caller: Owner, id: string, look: (run: InspectedRun) => T): Promise<T | undefined>;
  /** Gives a run up. One that is over stays as it is. */
  cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer>;
  /**
   * The open questions of runs that are not the caller's and that name it, the oldest run first. What it learns of such
   * a run is what it gets here.
   */
  toAnswer(caller: Owner): Promise<readonly ToAnswer[]>;
  /** The caller's runs, the latest first. None for an anonymous caller, who is not known to be the owner of any. */
  list(caller: Owner, query?: RunQuery): Promise<readonly RunSummary[]>;
  /** Resolves when every run is over or waits for an answer or a time. */
  atRest(): Promise<void>;
  /** The process ends: cancels every run that is not over, or leaves it to a later one. Returns how many it cancels. */
  endAll(reason: string): number;
  /** Opens what it keeps runs in. Default: it is always open. */
  open?(): Promise<void>;
  /** The graphs of open runs of earlier processes, each once. Default: there are none. */
  openGraphs?(): Promise<readonly Graph[]>;
  /** Goes on with the runs of earlier processes. Default: there are none. */
  resumeAll?(): Promise<void>;
  /**
   * Resolves when this process executes runs, which may begin some time after `resumeAll`. Rejects with what keeps it from
   * that. Default: it does.
   */
  executing?(): Promise<void>;
  /** Why it takes no run and no answer until the server starts again, as of now. Default: it takes them. */
  readonly fault?: Error | undefined;
  /** A secret of 256 bits that all processes with its runs share, if there is one. */
  key?(): Promise<Uint8Array | undefined>;
  /** Closes what it keeps runs in, after the last request. */
  close?(): Promise<void>;
}

/** What an agent does next, or why its request was refused. */
type StepAnswer =
  | {
      readonly ok: true;
      readonly next: ReturnType<typeof nextStepOf>;
      readonly warnings?: readonly RunWarning[];
    }
  | Extract<RunAnswer, { readonly ok: false }>;

export interface RunReading {
  /** Whether the envelope has the fields of the state in any case. Default: false. */
  readonly state?: boolean;
  /** Waits for the run first, without moving it on. Default: it is read as it is. */
  readonly waiter?: Waiter;
  /** Called during the wait when the run may have changed. */
  readonly onChange?: (run: RunStatus) => void;
}

/** The state of a run, and when it changed. */
export interface RunStatus extends RunTimes {
  readonly ok: true;
  readonly envelope: Envelope;
}

/** Times in ms since the epoch, and how a run was started as a task. */
interface RunTimes {
  readonly startedAt: number;
  /** When it started, last opened an action, or ended. */
  readonly updatedAt: number;
  readonly endedAt?: number;
  readonly task?: TaskOrigin;
}

export interface NewRun {
  /** The store has no run with it. `start` rejects otherwise. Default: a new one. */
  readonly id?: string;
  /** Whose run it is; see `ownerOf`. It acts as its owner, whichever request moves it on. */
  readonly owner: Owner;
  /** With all workflows it runs among its tasks; see `bundle`. The run keeps it, whatever is registered later. */
  readonly graph: Graph;
  /** Values of the graph's inputs, already checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  /** What must not be shown of it, where somebody else shows it as well. Default: it is made of the input. */
  readonly mask?: RunMask;
  /** The tool call that starts it, of one that is made as a task. */
  readonly task?: TaskOrigin;
}

interface RunQuery {
  /** Those that began before this run. Default: all. */
  readonly before?: string;
  /** Default: all. */
  readonly status?: Envelope['status'];
  /** So many at most. Default: all. */
  readonly limit?: number;
}

/** The request during which a run goes on. */
export interface Waiter {
  readonly request: IdentifiedRequest;
  /**
   * How long the request waits for the run, in ms: 0 until it is stored, or what was sent is accepted or refused. The run
   * continues in any case.
   */
  readonly answerMs: number;
  /** Whether the request waits for the end of the run, also while no user can be asked. Default: false. */
  readonly untilOver?: boolean;
  /** Open questions that the user answers elsewhere: the request waits while all of them are open. Default: it does not. */
  readonly awaits?: readonly string[];
  /** The address of the page of a question. Default: questions have no pages. */
  readonly pageOf?: (question: {
    readonly run: string;
    readonly action: string;
    readonly owner: Owner;
  }) => Promise<string | undefined>;
  /** Called when the run may have changed, and what it shows is safe. */
  readonly onChange?: () => void;
  /** Whether the run is cancelled when the request is, but not when its connection is lost. Default false. */
  readonly cancels?: boolean;
  /** Receives every fact of the run until the request is answered, with the state of the run at that fact. */
  readonly observe?: (fact: Fact, state: RunState) => void;
  /** Takes what tools of the run report of their progress, with the key of the node that calls them. */
  readonly progress?: SharedContext['progress'];
  /** Receives the state of the run when the request is answered. `state` changes afterwards. */
  readonly conclude?: (state: RunState, envelope: Envelope) => void;
}

/** A run, as {@link RunStore.inspect} shows it. Its members change afterwards. */
export interface InspectedRun {
  readonly graph: Graph;
  readonly envelope: Envelope;
  /** Missing for a run that is over, unless it is a task. */
  readonly state: RunState | undefined;
  readonly mask: RunMask;
  /** The variables that programs have set, and how often they were changed. */
  readonly variables: JsonObject;
  readonly version: number;
  /** In ms since the epoch. */
  readonly startedAt: number;
}

export interface VariableChanges {
  /** Values by variable. `null` deletes one. */
  readonly set: JsonObject;
  /** How often variables were changed before; the change is refused for another number. Default: it is not compared. */
  readonly expectedVersion?: number;
}

export interface Cancellation {
  readonly reason?: string;
  /** Whether what the run did is undone. Default false. */
  readonly compensate?: boolean;
  /** The code of the run's failure. Default: `E_CANCELLED`. */
  readonly code?: string;
}

/** One line of a list of runs. */
export type RunSummary = ReadableSummary | UnreadableSummary;

/** A run that the store has and that cannot be read: it is damaged, or another version wrote it. */
interface UnreadableSummary {
  readonly workflow_id: string;
  readonly unreadable: 'damaged' | 'version';
  readonly status?: undefined;
}

interface ReadableSummary extends ShownArguments {
  readonly workflow_id: string;
  readonly name: string;
  readonly status: Envelope['status'];
  /** It was cancelled, and what it did is being undone. */
  readonly cancelling?: true;
  /** RFC 3339. */
  readonly started_at: string;
  /** RFC 3339. Missing while it is not over. */
  readonly ended_at?: string;
  /** Ids of the actions that are open. */
  readonly open_actions: readonly string[];
}

/** How much of its callers' runs a store keeps. */
export interface RunLimits {
  /**
   * Open runs of one owner, and of one network address without authentication; a further one is
   * refused. Default 50.
   */
  readonly maxOpenRuns: number;
  /** Their open actions; with as many, a further run is refused. Default 50. */
  readonly maxPendingActions: number;
  /** Runs of all anonymous callers that are not over; a further one is refused. Default 1 000. */
  readonly maxAnonymousRuns: number;
  /**
   * How long a run may wait for an answer while no request asks for it, in ms: then it is cancelled, with the code
   * `E_IDLE`. Default 86 400 000, a day; in a file without limit.
   */
  readonly idleMs: number;
  /**
   * Finished runs that can still be asked for; beyond that, those that ended first are forgotten. Default 1 000; in a
   * file 100 000.
   */
  readonly maxFinishedRuns: number;
  /** How long a finished run can be asked for, in ms. Default 3 600 000, an hour; in a file 2 592 000 000, 30 days. */
  readonly finishedRunMs: number;
  /**
   * How long a server with a store in a file may be silent before other servers on the file take its runs over, in ms.
   * Default 10 000.
   */
  readonly leaseMs: number;
  /**
   * How long a run may wait for a server that has the tools it needs before this one reports it, in ms. Default 60 000.
   */
  readonly capabilityMs: number;
}

export const DEFAULT_LIMITS: RunLimits = {
  maxOpenRuns: 50,
  maxPendingActions: 50,
  maxAnonymousRuns: 1_000,
  idleMs: 86_400_000,
  maxFinishedRuns: 1_000,
  finishedRunMs: 3_600_000,
  leaseMs: 10_000,
  capabilityMs: 60_000,
};

/** Of runs in a file. */
export const FILE_LIMITS: RunLimits = {
  ...DEFAULT_LIMITS,
  idleMs: Number.POSITIVE_INFINITY,
  maxFinishedRuns: 100_000,
  finishedRunMs: 2_592_000_000,
};

/** An argument with more bytes of JSON than this is named in a list of runs, and not shown. */
const ARGUMENT_LIMIT_BYTES = 1_024;

/** The arguments of a run, as a list of runs shows them. */
interface ShownArguments {
  /** Secret ones are masked. */
  readonly arguments: JsonObject;
  /** Arguments that are too large to be shown. */
  readonly arguments_omitted?: readonly string[];
}

/** Tells runs of one workflow apart without their secrets. */
export function shownArguments(input: JsonObject, mask: RunMask): ShownArguments {
  const shown: [string, Json][] = [];
  const omitted: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    const isLarge = jsonSize(value, ARGUMENT_LIMIT_BYTES) > ARGUMENT_LIMIT_BYTES;
    if (isLarge && !mask.hasName(name)) omitted.push(name);
    else shown.push([name, value]);
  }
  return {
    arguments: mask.arguments(Object.fromEntries(shown)),
    ...(omitted.length === 0 ? {} : { arguments_omitted: omitted }),
  };
}

/** A line of a list of runs. Times are in ms since the epoch. */
export function summaryOf(
  { workflow_id, definition, status, cancelling, actions }: Envelope,
  shown: ShownArguments,
  startedAt: number,
  endedAt: number | undefined,
): ReadableSummary {
  return {
    workflow_id,
    name: definition.name,
    status,
    ...defined({ cancelling }),
    ...shown,
    started_at: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() }),
    open_actions: actions.map(({ action_id }) => action_id),
  };
}

/** What a list says of a run that cannot be read: it must not be missing there. */
export function unreadableSummary(workflow_id: string): (fault: unknown) => RunSummary {
  return (fault) => {
    if (!(fault instanceof UnreadableRunError)) throw fault;
    return { workflow_id, unreadable: fault.isDamaged ? 'damaged' : 'version' };
  };
}

export function isListed(summary: RunSummary, status: RunSummary['status']): boolean {
  return status === undefined || 'unreadable' in summary || summary.status === status;
}

/** With what the quota of an anonymous owner begins; that of others begins with a brace. */
export const ANONYMOUS = 'anonymous ';

/** Equal for runs that are counted together. Anonymous callers are distinguished by their address alone. */
export function quotaOf(owner: Owner, remoteAddress?: string): string {
  return owner.kind === 'anonymous' ? `${ANONYMOUS}${remoteAddress ?? ''}` : ownerKey(owner);
}

/** The runs that one is counted with, and the callers that reach it: those with an equal `access`. */
export function groupOf(
  owner: Owner,
  quota: string,
): { readonly quota: string; readonly access: string; readonly owner: Owner } {
  return { quota, access: accessKey(owner), owner };
}

/** How much of a store a caller uses. */
interface Usage {
  /** Its open runs. */
  readonly open: number;
  /** Their open actions. */
  readonly pending: number;
  /** Open runs of all anonymous callers, where it is one. */
  readonly anonymous: number | undefined;
}

/** What keeps a caller from starting another run. No run is cancelled to make room for it. */
export function excess(
  { open, pending, anonymous = 0 }: Usage,
  { maxOpenRuns, maxPendingActions, maxAnonymousRuns }: RunLimits,
): Failure | undefined {
  if (open >= maxOpenRuns)
    return exhausted(
      `${open} runs are open, and no more than ${maxOpenRuns} may be: finish or cancel one first.`,
    );
  if (anonymous >= maxAnonymousRuns)
    return exhausted(
      `${maxAnonymousRuns} runs without authentication are open, which is the limit of this server: finish or cancel one first, or authenticate.`,
    );
  return pending < maxPendingActions
    ? undefined
    : exhausted(
        `${pending} actions are open, and a run may begin only below ${maxPendingActions}: answer or cancel some first.`,
      );
}

function exhausted(message: string): Failure {
  return { code: 'RESOURCE_EXHAUSTED', message };
}

/** The answer about a run that does not exist, or not for the caller. */
export function unknownRun(id: string): Extract<RunAnswer, { readonly ok: false }> {
  return {
    ok: false,
    failure: {
      code: 'WORKFLOW_NOT_FOUND',
      message: `Run '${clip(id)}' not found: it does not exist, was forgotten, or belongs to another caller. Check the id, and call as the caller that started it.`,
    },
  };
}
