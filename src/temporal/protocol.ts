import type { Connection } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import type { AuthInfo, Owner } from '../decorators/context.js';
import type { Json, JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { clip } from '../graph/printable-text.js';
import { sha256Hex } from '../graph/sha256.js';
import type { ToolSafety } from '../graph/tool-safety.js';
import type { Fact, Failure, Row } from '../runtime/engine/contract.js';
import type { Submission, ToAnswer } from '../runtime/runs/actions/action.js';
import { answerId, childIn } from '../runtime/runs/run/owner.js';
import type {
  Cancellation,
  InspectedRun,
  NewRun,
  RunStore,
  RunSummary,
  VariableChanges,
} from '../runtime/runs/run-store.js';
import type { InboxItem, LoadedRun, MadeTransition } from '../runtime/runs/store/journal.js';
import type { ListedRow, StoredEntry } from '../runtime/runs/store/reader.js';
import type {
  CallOrigin,
  EvaluationOutcome,
  FunctionReference,
  ResourceOutcome,
  ToolOutcome,
} from '../runtime/tools/port.js';
import type { TraceCarrier } from '../runtime/tools/telemetry.js';

/*
 * What a server, the workflow that interprets a graph, and the activities that make its calls send to each other. All of it
 * is plain JSON.
 */

/** The one workflow type: it interprets the graph that it is started with. */
export const WORKFLOW_TYPE = 'stepwright';

/** What a run starts with. */
export interface RunArguments extends Pick<RemoteWaiter, 'answerMs' | 'requestId'> {
  /** The id of the run, from which that of its workflow in Temporal follows; see {@link workflowIdOf}. */
  readonly run: string;
  readonly graph: Graph;
  /** Checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  readonly owner: Owner;
  /** The recorded part of that of the request that started it. */
  readonly auth?: AuthInfo;
  readonly remoteAddress?: string;
  readonly task?: NewRun['task'];
  /** How each tool of the graph may be repeated; those that are `none` are left out. */
  readonly tools: Readonly<Record<string, ToolSafety>>;
  /** The tools that only steps of workflows may call. */
  readonly privateTools: readonly string[];
  /** How many events the history of a workflow may have before the run continues in another one. */
  readonly maxEvents: number;
  /** The run as an earlier workflow has left it. */
  readonly left?: LeftRun;
  /** Whether a call has its whole limit when a worker takes it. Missing for runs of earlier versions. */
  readonly limitsCalls?: true;
  /** Whether values in the place of results are checked. Missing for runs of earlier versions. */
  readonly checksResults?: true;
  /** Whether its status is a search attribute in Temporal. Default: false. */
  readonly isSearchable?: true;
  /** How large a value that leaves the workflow may be, in bytes of JSON. Default: no limit. */
  readonly payloadBytes?: number;
  /** The span of the request that started it. Missing without telemetry. */
  readonly trace?: TraceCarrier;
  /** How long a worker may be silent before its calls are taken for lost, in ms. */
  readonly leaseMs: number;
}

/** A run that an earlier workflow has left, or that an operator has made. */
export interface LeftRun extends LoadedRun {
  /** What Temporal calls the execution of the earlier workflow, which has the log before. Missing in the first one. */
  readonly earlier?: string;
  /** The last entries of its log, which no workflow has made. Default: all are of one. */
  readonly entries?: readonly Pick<StoredEntry, 'events'>[];
}

/** A request that waits for a run. */
export interface RemoteWaiter {
  readonly requestId: string;
  /** How long it waits, in ms. */
  readonly answerMs: number;
}

/** A request to a run, by an id that its caller knows it by. */
interface RunRequest {
  readonly caller: Owner;
  readonly id: string;
}

/** What a request has beside its arguments, and its response as well. */
export interface Nonce {
  /** Different for each request: the response to a repeated answer has that of the first one. */
  readonly nonce?: string;
}

interface WaitingRunRequest extends RunRequest, RemoteWaiter {}

/** The response of a method of {@link RunStore}. */
type ResponseOf<Method extends 'start' | 'get' | 'submit' | 'nextStep' | 'setVariables' | 'cancel'> = Awaited<
  ReturnType<RunStore[Method]>
>;

/** The Update that a run is started with: it has the first response of the run. */
export const START = 'start_workflow';

export type StartResponse = ResponseOf<'start'>;

/** Requests to a run, by the names that operators see. Each is an Update, and a Query of a run that is over. */
export interface RunRequests {
  get_workflow_status(request: RunRequest & { readonly state: boolean }): Promise<ResponseOf<'get'>>;
  submit_result(
    request: WaitingRunRequest & { readonly submission: Submission },
  ): Promise<ResponseOf<'submit'>>;
  get_next_step(
    request: WaitingRunRequest & { readonly submission?: Submission },
  ): Promise<ResponseOf<'nextStep'>>;
  set_variables(
    request: RunRequest & { readonly changes: VariableChanges; readonly limitMs: number },
  ): Promise<ResponseOf<'setVariables'>>;
  cancel_workflow(request: WaitingRunRequest & { readonly how: Cancellation }): Promise<ResponseOf<'cancel'>>;
  /** Takes a command of an operator. */
  operate(item: InboxItem): Promise<CommandResponse>;
  /** Moves the run to another graph, where that is safe as soon as no call is in flight. */
  migrate(move: RemoteMove): Promise<CommandResponse>;
}

const OF_RUN = { caller: 'object', id: 'string' } as const;
const WAITING = { ...OF_RUN, requestId: 'string', answerMs: 'number' } as const;

/** The members that each request has. Those of other versions may have more. */
const MEMBERS: Readonly<Record<keyof RunRequests, Readonly<Record<string, 'object' | 'string' | 'number'>>>> =
  {
    get_workflow_status: OF_RUN,
    submit_result: { ...WAITING, submission: 'object' },
    get_next_step: WAITING,
    set_variables: { ...OF_RUN, changes: 'object', limitMs: 'number' },
    cancel_workflow: { ...WAITING, how: 'object' },
    operate: { run: 'string', id: 'string', content: 'object' },
    migrate: { graph: 'object', tools: 'object', privateTools: 'object', mapping: 'object' },
  };

/** The first member that a request lacks, or that has another type. Undefined for a request as servers send it. */
export function missingMember(name: keyof RunRequests, request: unknown): string | undefined {
  const members = (request ?? {}) as Readonly<Record<string, unknown>>;
  const isMissing = ([member, type]: [string, string]): boolean =>
    members[member] === null || typeof members[member] !== type;
  return Object.entries(MEMBERS[name]).find(isMissing)?.[0];
}

/** What a run shows of itself to a caller that may see it. Queries alone. */
export interface RunQueries {
  /** The run, where it is the caller's. */
  list_workflows(caller: Owner): Promise<readonly RunSummary[]>;
  to_answer(caller: Owner): Promise<readonly ToAnswer[]>;
  inspect(request: RunRequest): Promise<RemoteInspection | undefined>;
  /** For operators: the run as a store has it. */
  stored_run(): Promise<StoredRemoteRun>;
  /** For operators: what a list says of it. */
  waits(): Promise<Pick<ListedRow, 'state' | 'waits'>>;
  /** The transitions of the run in this workflow from a number of its log on, as many as one response has. */
  log(from?: number): Promise<readonly LoggedTransition[]>;
}

/** What became of a command of an operator. */
export type CommandResponse =
  | { readonly ok: true }
  | { readonly ok: false; readonly failure: Partial<Failure> };

/** Where an operator moves a run. */
export interface RemoteMove extends Pick<RunArguments, 'graph' | 'tools' | 'privateTools'> {
  /** New ids of steps by the old ones. */
  readonly mapping: Readonly<Record<string, string>>;
}

/** The code of the failure of a run that cannot move as it is. */
export const NOT_MOVED = 'not_moved';

/** A run in its workflow, for its operator. */
export interface StoredRemoteRun extends Pick<LeftRun, 'earlier'> {
  /** What it was started with. */
  readonly started: RunArguments;
  readonly loaded: LoadedRun;
  /** The steps with calls about which an operator decides. */
  readonly paused: readonly string[];
  /** The number of the first entry of the log that this workflow has. */
  readonly firstSeq: number;
}

/**
 * The id of the Update of an answer: Temporal gives a repeated one the first response. Undefined for any other request. Without
 * an action id equal answers may be for different actions.
 */
export function updateIdOf(name: string, request: object): string | undefined {
  const { submission, caller, id } = request as Partial<RunRequest> & { readonly submission?: Submission };
  if (submission?.actionId === undefined || submission.retry === true) return undefined;
  const digest = sha256Hex(JSON.stringify([name, caller, id, submission])).slice(0, 32);
  return `${submission.actionId.slice(0, 200)} ${digest}`;
}

/** A transition with a digest of its facts. */
export interface LoggedTransition extends Omit<MadeTransition, 'facts'> {
  /** Its number in the log of the run, from 1. */
  readonly seq: number;
  readonly digest: string;
}

/** A run as `inspect` of a store shows it, with the rows of its state. */
export interface RemoteInspection extends Omit<InspectedRun, 'state' | 'mask'> {
  readonly rows?: readonly Row[];
}

/** The response to the Query of a request. Without one the request may change the run: it is sent as an Update. */
export interface QueryResponse<Response> {
  readonly response?: Response;
}

/** Equal for equal facts. It detects changes, and no attack. */
export function digestOf(facts: readonly Fact[]): string {
  let hash = 2166136261;
  for (const char of JSON.stringify(facts)) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
  return hash.toString(36);
}

/** The id of a workflow in Temporal. It names the run of an id without giving the id away, which reaches the run. */
export function workflowIdOf(run: string): string {
  return `${WORKFLOW_TYPE}-${answerId(run)}`;
}

/** The ids of the workflows that a caller's id may be about: that of a run, what others know it by, or that of a child. */
export function workflowIdsOf(id: string): readonly string[] {
  const child = childIn(id);
  if (child !== undefined) return [`${WORKFLOW_TYPE}-${child.alias}`];
  return /^[0-9a-f]{32}$/.test(id) ? [workflowIdOf(id), `${WORKFLOW_TYPE}-${id}`] : [workflowIdOf(id)];
}

/** A call of a run that an activity makes. */
export interface RemoteCall extends Pick<RunArguments, 'trace'> {
  readonly requestId: string;
  readonly owner: Owner;
  readonly auth?: AuthInfo;
  readonly idempotencyKey?: string;
  readonly origin?: CallOrigin;
}

/** Temporal itself ends an activity so long after the limit of its call, in ms. A worker that works ends it at the limit. */
export const CALL_GRACE_MS = 10_000;

/** The activities of a worker: they make the calls of runs, and record what must not change. */
export interface Activities {
  callTool(call: RemoteCall & { readonly tool: string; readonly input: JsonObject }): Promise<ToolOutcome>;
  readResource(
    call: RemoteCall & { readonly resource: string; readonly uri: string },
  ): Promise<ResourceOutcome>;
  evaluate(
    call: RemoteCall & { readonly function: FunctionReference; readonly args: readonly Json[] },
  ): Promise<EvaluationOutcome>;
  /** Why a value cannot be what a tool returned. Null where it can. */
  checkResult(result: { readonly tool: string; readonly value: Json }): Promise<Failure | null>;
  /** Returns its argument, which Temporal records. */
  recordFacts(digests: readonly string[]): Promise<readonly string[]>;
}

/** The search attributes of runs by what they hold. Temporal indexes them where they are registered, all of the type Keyword. */
export const SEARCH_ATTRIBUTES = {
  workflow: 'StepwrightWorkflow',
  status: 'StepwrightStatus',
  quota: 'StepwrightOwner',
  ref: 'StepwrightRef',
} as const;

/** What a search attribute holds. */
type Attribute = keyof typeof SEARCH_ATTRIBUTES;
type Values = Readonly<Partial<Record<Attribute, string>>>;

/** `IndexedValueType` of the API. */
const KEYWORD = 2;

/** Whether a namespace has all of them. False where that cannot be read: lists are right without them. */
export async function hasSearchAttributes(
  { operatorService }: Connection,
  namespace: string,
): Promise<boolean> {
  const registered = await operatorService.listSearchAttributes({ namespace }).catch(() => undefined);
  return Object.values(SEARCH_ATTRIBUTES).every((name) => registered?.customAttributes?.[name] === KEYWORD);
}

/** The attributes that a run starts with. */
export function searchAttributesOf({ workflow = '', quota = '', ref = '' }: Values): SearchAttributePair[] {
  return Object.entries({ workflow, quota, ref, status: 'running' }).map(([attribute, value]) =>
    searchAttribute(attribute as Attribute, value),
  );
}

export function searchAttribute(attribute: Attribute, value: string): SearchAttributePair {
  return { key: { name: SEARCH_ATTRIBUTES[attribute], type: 'KEYWORD' }, value: clip(value) };
}

/** A condition of a query. Runs that were started before the attributes were registered have no value: they match. */
export function searchConditionOf(values: Values): string {
  return Object.entries(values)
    .map(([attribute, value]) => [SEARCH_ATTRIBUTES[attribute as Attribute], JSON.stringify(clip(value))])
    .map(([name, text]) => ` AND (${name} = ${text} OR ${name} IS NULL)`)
    .join('');
}
