import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectByTls } from 'node:tls';
import type {
  Client,
  Connection,
  WorkflowExecutionInfo,
  WorkflowExecutionStatusName,
} from '@temporalio/client';
import { defined } from '../graph/defined.js';
import type { Json } from '../graph/json.js';
import { planOf } from '../plan/compile.js';
import type { Failure } from '../runtime/engine/contract.js';
import { advance } from '../runtime/engine/engine.js';
import type { Event } from '../runtime/engine/events.js';
import { restore, snapshot } from '../runtime/engine/snapshot.js';
import type { RunSummary } from '../runtime/runs/run-store.js';
import { runRow } from '../runtime/runs/store/host-rows.js';
import { JournalFailedError } from '../runtime/runs/store/journal.js';
import { StoreError } from '../runtime/runs/store/store-error.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import { withCompression } from './compression.js';
import { nameOf, type ResolvedOptions } from './options.js';
import { PayloadLimit } from './payload-limit.js';
import {
  hasSearchAttributes,
  type Nonce,
  type QueryResponse,
  type RunArguments,
  type RunQueries,
  type RunRequests,
  START,
  type StartResponse,
  type StoredRemoteRun,
  searchAttributesOf,
  searchConditionOf,
  updateIdOf,
  WORKFLOW_TYPE,
  workflowIdOf,
} from './protocol.js';
import { loadSdk, type Sdk } from './sdk.js';

type Name = keyof RunRequests;
type RequestOf<N extends Name> = Parameters<RunRequests[N]>[0];
type ResponseOf<N extends Name> = Awaited<ReturnType<RunRequests[N]>>;

/** The workflow; see `workflow/stepwright.ts`. */
type Interpreter = (run: RunArguments) => Promise<Json>;

/** What starts a run, beside its arguments. */
interface StartOptions {
  /** Shown by Temporal, and not secret. */
  readonly memo: RunMemo;
  readonly summary: string;
  readonly details: string;
}

/** Sends requests to runs by the SDK's client. */
export class RunClient {
  readonly #sdk: Sdk['client'];
  readonly #connection: Connection;
  readonly #client: Client;
  readonly taskQueue: string;
  readonly #limit: PayloadLimit;
  readonly #isSearchable: boolean;

  private constructor(
    sdk: Sdk['client'],
    connection: Connection,
    client: Client,
    { taskQueue, limit, isSearchable }: ClientSettings,
  ) {
    this.#sdk = sdk;
    this.#connection = connection;
    this.#client = client;
    this.taskQueue = taskQueue;
    this.#limit = limit;
    this.#isSearchable = isSearchable;
  }

  static async connect(options: ResolvedOptions): Promise<RunClient> {
    const sdk = await loadSdk('client');
    const { address, namespace, taskQueue, tls, apiKey, metadata, dataConverter } = options;
    let connection: Connection | undefined;
    try {
      connection = await sdk.Connection.connect({ address, ...defined({ tls, apiKey, metadata }) });
      const [limit, isSearchable] = await Promise.all([
        PayloadLimit.of(connection, options),
        hasSearchAttributes(connection, namespace),
      ]);
      const client = new sdk.Client({
        ...{ connection, namespace },
        dataConverter: withCompression(dataConverter),
      });
      return new RunClient(sdk, connection, client, { taskQueue, limit, isSearchable });
    } catch (error) {
      await connection?.close();
      throw await unreachableStore(options, error);
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Starts a run and waits for its first response, in one round trip. */
  async start(started: RunArguments, { memo, summary, details }: StartOptions): Promise<StartResponse> {
    const { unencodedBytes } = this.#limit;
    const run = {
      ...this.#searchable(started),
      ...(unencodedBytes === Number.POSITIVE_INFINITY ? {} : { payloadBytes: unencodedBytes }),
    };
    const failure = await this.#limit.excess('The workflow with its input', 'input', run);
    if (failure !== undefined) return { ok: false, failure };
    const { WithStartWorkflowOperation, WorkflowIdConflictPolicy } = this.#sdk;
    const startWorkflowOperation = new WithStartWorkflowOperation<Interpreter>(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(run.run),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      taskQueue: this.taskQueue,
      args: [run],
      ...this.#shownOf(memo),
      staticSummary: summary,
      staticDetails: details,
    });
    const start = () =>
      this.#client.workflow.executeUpdateWithStart<Interpreter, StartResponse, []>(START, {
        args: [],
        startWorkflowOperation,
      });
    return this.#within(run.answerMs, start);
  }

  #searchable({ isSearchable: _, ...run }: RunArguments): RunArguments {
    return this.#isSearchable ? { ...run, isSearchable: true } : run;
  }

  #shownOf(memo: RunMemo) {
    const attributes = this.#isSearchable ? { typedSearchAttributes: searchAttributesOf(memo) } : {};
    return { memo: { ...memo }, ...attributes };
  }

  /** Sends a request to a run. Undefined for an unknown workflow. */
  async request<N extends Name>(
    workflowId: string,
    name: N,
    request: RequestOf<N>,
    answerMs = 'answerMs' in request ? request.answerMs : 0,
  ): Promise<ResponseOf<N> | undefined> {
    const failure = await this.#limit.excess('What was sent', 'result', request);
    if (failure !== undefined) {
      const message = `${failure.message} It had no effect.`;
      return { ok: false, failure: { ...failure, message } } as ResponseOf<N>;
    }
    const handle = this.#client.workflow.getHandle(workflowId);
    try {
      const nonce = randomUUID();
      const send = (updateId: string) => {
        const options = { args: [{ ...request, nonce }] as [RequestOf<N>], updateId };
        const update = () => handle.executeUpdate<ResponseOf<N> & Nonce, [RequestOf<N>]>(name, options);
        return this.#within(answerMs, () => this.#repeated(update));
      };
      let answer = await send(updateIdOf(name, request) ?? nonce);
      // An earlier refusal may not be true any more.
      if (!answer.ok && answer.nonce !== nonce) answer = await send(nonce);
      const { nonce: _, ...response } = answer;
      return response as ResponseOf<N>;
    } catch (error) {
      const failure = this.#refusalIn(error);
      if (failure !== undefined) return { ok: false, failure } as ResponseOf<N>;
      // It is over, or it does not exist.
      if (!(error instanceof this.#sdk.WorkflowNotFoundError)) throw error;
      return this.look(workflowId, name, request);
    }
  }

  /**
   * Repeats an Update that Temporal dropped with the task of the workflow that took it: a task cannot end a run while a call
   * returns. The next task has what the call returned.
   */
  async #repeated<T>(update: () => Promise<T>): Promise<T> {
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await update();
      } catch (error) {
        const { cause } = error as Error;
        const isDropped = this.#sdk.isGrpcServiceError(cause) && Number(cause.code) === FAILED_PRECONDITION;
        if (!isDropped || repeats === MAX_REPEATS) throw error;
      }
    }
  }

  /** Why a run has refused a request, which left no trace in its history. */
  #refusalIn(error: unknown): Failure | undefined {
    const { WorkflowUpdateFailedError } = this.#sdk;
    const fault = error instanceof JournalFailedError ? error.cause : undefined;
    if (!(fault instanceof WorkflowUpdateFailedError)) return undefined;
    const { details } = (fault.cause ?? {}) as { readonly details?: readonly Failure[] };
    return details?.[0];
  }

  /** Asks a run for a response that does not change it. Undefined without one, and for an unknown workflow. */
  async look<N extends Name>(
    workflowId: string,
    name: N,
    request: RequestOf<N>,
  ): Promise<ResponseOf<N> | undefined> {
    const answer = await this.#query<QueryResponse<ResponseOf<N>>>(workflowId, name, [request]);
    return answer?.response;
  }

  /** What a run shows to a caller. Undefined for an unknown workflow. */
  show<N extends keyof RunQueries>(
    execution: string | Execution,
    name: N,
    ...args: Parameters<RunQueries[N]>
  ): Promise<Awaited<ReturnType<RunQueries[N]>> | undefined> {
    return this.#query(execution, name, args);
  }

  async #query<Response>(
    execution: string | Execution,
    name: string,
    args: unknown[],
  ): Promise<Response | undefined> {
    try {
      const { workflowId, runId } =
        typeof execution === 'string' ? { workflowId: execution, runId: undefined } : execution;
      const handle = this.#client.workflow.getHandle(workflowId, runId);
      return await this.#within(0, () => handle.query<Response, unknown[]>(name, ...args));
    } catch (error) {
      if (error instanceof this.#sdk.WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /**
   * Limits a request to Temporal: it would wait without end for a worker.
   *
   * @throws JournalFailedError where it got no response: it may have been taken all the same.
   */
  async #within<T>(answerMs: number, send: () => Promise<T>): Promise<T> {
    try {
      return await this.#client.withDeadline(Date.now() + answerMs + GRACE_MS, send);
    } catch (error) {
      const { WorkflowNotFoundError, WorkflowExecutionAlreadyStartedError } = this.#sdk;
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError)
        throw error;
      throw new JournalFailedError('Temporal gave no response', error);
    }
  }

  /** The workflows of runs, with what they show to Temporal. Open ones come first, then the last to end. */
  async *list({ isOpen, status: state, ...memo }: RunFilter = {}): AsyncGenerator<RemoteExecution> {
    const status = isOpen === undefined ? '' : ` AND ExecutionStatus ${isOpen ? '=' : '!='} 'Running'`;
    // A run that has continued in another workflow is that one.
    const type = `WorkflowType = '${WORKFLOW_TYPE}' AND TaskQueue = ${JSON.stringify(this.taskQueue)}`;
    const attributes = this.#isSearchable ? searchConditionOf(defined({ ...memo, status: state })) : '';
    const query = `${type} AND ExecutionStatus != 'ContinuedAsNew'${status}${attributes}`;
    const conditions = Object.entries(memo) as [keyof typeof memo, string][];
    const listed = new Set<string>();
    for await (const info of this.#client.workflow.list({ query })) {
      const execution = executionOf(info);
      // Without the attributes all runs are read.
      if (conditions.some(([name, value]) => execution.memo[name] !== value)) continue;
      // Of a run that an operator has reopened, the last workflow counts.
      if (!listed.has(info.workflowId)) yield execution;
      listed.add(info.workflowId);
    }
  }

  /** The last workflow of a run. Undefined for an unknown one. */
  async describe(workflowId: string): Promise<RemoteExecution | undefined> {
    try {
      const handle = this.#client.workflow.getHandle(workflowId);
      return executionOf(await this.#within(0, () => handle.describe()));
    } catch (error) {
      if (error instanceof this.#sdk.WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** The deployments of the workers that poll the queue, as a run is pinned to them. Empty for those of no deployment. */
  async workers(): Promise<readonly string[]> {
    const { pollers } = await this.#within(0, () =>
      this.#connection.workflowService.describeTaskQueue({
        namespace: this.#client.options.namespace,
        taskQueue: { name: this.taskQueue },
        taskQueueType: WORKFLOW_QUEUE,
      }),
    );
    return pollers.map(({ deploymentOptions: of }) =>
      of?.buildId ? `${of.deploymentName}:${of.buildId}` : '',
    );
  }

  /** Starts a workflow for a run as an operator has made it. Resolves with whether it was started. */
  async resume(run: RunArguments, { memo, summary, details }: StartOptions): Promise<boolean> {
    try {
      await this.#within(0, () =>
        this.#client.workflow.start<Interpreter>(WORKFLOW_TYPE, {
          ...{
            workflowId: workflowIdOf(run.run),
            taskQueue: this.taskQueue,
            args: [this.#searchable(run)],
            ...this.#shownOf(memo),
          },
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          ...{ staticSummary: summary, staticDetails: details },
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof this.#sdk.WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  }
}

/** Of `TaskQueueType` of the API. */
const WORKFLOW_QUEUE = 1;

/** A workflow in Temporal: `runId` is what Temporal calls it. */
interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

/** A workflow with what Temporal shows of it. */
export interface RemoteExecution extends Execution {
  readonly memo: RunMemo;
  readonly status: WorkflowExecutionStatusName;
  /** Missing while it is open. */
  readonly closedAt?: number;
  /** The deployment of workers that it is pinned to: its name, a colon and its build. */
  readonly pinnedTo?: string;
}

function executionOf(info: Omit<WorkflowExecutionInfo, 'raw'>): RemoteExecution {
  const { workflowId, runId, memo = {}, status, closeTime, typedSearchAttributes: attributes } = info;
  const isPinned = attributes.get(VERSIONING) === 'Pinned';
  return {
    ...{ workflowId, runId, memo, status: status.name },
    ...(closeTime === undefined ? {} : { closedAt: closeTime.getTime() }),
    ...defined({ pinnedTo: isPinned ? attributes.get(DEPLOYMENT) : undefined }),
  };
}

/** Search attributes that Temporal itself sets. */
const VERSIONING = { name: 'TemporalWorkflowVersioningBehavior', type: 'KEYWORD' } as const;
const DEPLOYMENT = { name: 'TemporalWorkerDeploymentVersion', type: 'KEYWORD' } as const;

/** Of the status codes of gRPC. */
const FAILED_PRECONDITION = 9;

/** How often an Update is sent again: where each task of a workflow fails, it takes no Update. */
const MAX_REPEATS = 3;

/** How long a request may take beside its wait for the run, in ms. */
const GRACE_MS = 10_000;

interface ClientSettings {
  readonly taskQueue: string;
  readonly limit: PayloadLimit;
  /** Whether runs have search attributes. */
  readonly isSearchable: boolean;
}

/** Which runs a list has. Members that are missing exclude no run. */
interface RunFilter extends Pick<RunMemo, 'quota' | 'workflow' | 'ref'> {
  readonly isOpen?: boolean | undefined;
  /** Of open runs. Without search attributes it excludes no run. */
  readonly status?: string;
}

/** What Temporal shows of a run. */
export interface RunMemo {
  /** Equal for runs that are listed together; see `quotaOf`. Hashed. */
  readonly quota?: string;
  /** Whether callers that are not its owner may answer it. */
  readonly isRestricted?: boolean;
  /** When it was started, in ms since the epoch. */
  readonly startedAt?: number;
  /** The name of its workflow. */
  readonly workflow?: string;
  /** Names the run; see `runRef`. */
  readonly ref?: string;
  /** The version of this package that started it. */
  readonly version?: string;
}

/** How long a server may take to say its first word, in ms. */
const LIMIT_MS = 3_000;

/** That a server of Temporal refuses what a store needs, or cannot be connected with. */
export async function unreachableStore(options: ResolvedOptions, error: unknown): Promise<StoreError> {
  // The SDK keeps the words of the server in the cause.
  const { cause } = (error ?? {}) as { readonly cause?: unknown };
  const details = [error, cause].map((each) => (each as { readonly details?: unknown } | undefined)?.details);
  const text = details.find((each) => typeof each === 'string' && each !== '');
  const why = text ?? (await connectionFault(options)) ?? thrownText(error);
  return new StoreError('unreachable', nameOf(options), String(why), error);
}

/**
 * Why a server cannot be connected with, and what to write instead: the SDK says only that it cannot. Undefined where this
 * process connects with it as the options say.
 */
async function connectionFault({ address, tls, apiKey }: ResolvedOptions): Promise<string | undefined> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const at = { host, port: Number(port || 7233) };
  const fault = await faultOf(() => connectPlainly(at), 'connect');
  if (fault !== undefined) return `a connection with ${address} fails with ${fault.code ?? fault.message}`;
  // With an API key the SDK uses TLS.
  const chosen = tls ?? apiKey !== undefined;
  const config = chosen === true ? {} : chosen || undefined;
  const names = { ALPNProtocols: ['h2'], servername: isIP(host) === 0 ? host : '' };
  if (config === undefined) {
    const isTls =
      (await faultOf(() => connectByTls({ ...at, ...names, rejectUnauthorized: false }))) === undefined;
    return isTls ? "the server at this address expects TLS: set 'tls' to true" : undefined;
  }
  const { serverRootCACertificate: ca, serverNameOverride: servername, clientCertPair: pair } = config;
  const secure: ConnectionOptions = {
    ...{ ...at, ...names },
    ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
    ...(servername === undefined ? {} : { servername }),
    ...(pair === undefined ? {} : { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) }),
  };
  return tlsFaultText(await faultOf(() => connectByTls(secure)));
}

interface Fault extends Error {
  readonly code?: string;
  /** Of a certificate for other hosts. */
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** Why a connection fails before an event. Undefined where the event comes. */
async function faultOf(connect: () => Socket, event = 'data'): Promise<Fault | undefined> {
  let socket: Socket | undefined;
  try {
    socket = connect();
    // A server of HTTP/2 speaks as soon as it has accepted the client.
    await Promise.race([
      once(socket, event, { signal: AbortSignal.timeout(LIMIT_MS) }),
      once(socket, 'close').then(() => Promise.reject(new Error(CLOSED))),
    ]);
    return undefined;
  } catch (fault) {
    return fault as Fault;
  } finally {
    socket?.on('error', () => {}).destroy();
  }
}

const CLOSED = 'the server has closed the connection';

function tlsFaultText(fault: Fault | undefined): string | undefined {
  if (fault === undefined) return undefined;
  const { code = '', message, host, cert } = fault;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of the server is for ${cert?.subjectaltname ?? 'other hosts'}, and not for '${host}': correct the address, or set 'tls.serverNameOverride' to a name of the certificate`;
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|SIGNATURE/.test(code))
    return `the certificate of the server is not signed by an authority that is trusted here (${code}): give that of its authority as 'tls.serverRootCACertificate'`;
  if (/ALERT|HANDSHAKE/.test(code))
    return `the server refuses the client (${code}): give the certificate and the key of the client as 'tls.clientCertPair'`;
  if (/^CERT_/.test(code)) return `the certificate of the server cannot be used: ${message}`;
  if (code === '' || code === 'ECONNRESET' || code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return `the server at this address does not speak TLS (${code || message}): set 'tls' to false, or correct the port`;
  return message;
}

/** Whether Temporal has ended the workflow of a run, which does not know. */
export function isTerminated({ status }: Pick<RemoteExecution, 'status'>): boolean {
  return status === 'TERMINATED' || status === 'TIMED_OUT';
}

/** What a list shows of such a run. */
export function terminatedSummary(summary: RunSummary, { closedAt = 0 }: RemoteExecution): RunSummary {
  if ('unreadable' in summary || summary.ended_at !== undefined) return summary;
  return { ...summary, status: 'cancelled', open_actions: [], ended_at: new Date(closedAt).toISOString() };
}

/**
 * A run as an operator has ended it in Temporal, with `terminate`: its workflow does not know, and has the run as it was.
 * The run is cancelled without undoing.
 *
 * @param at when, in ms since the epoch.
 */
export function terminatedRun(stored: StoredRemoteRun, at: number): StoredRemoteRun {
  const { started, loaded } = stored;
  const plan = planOf(started.graph);
  const by = { kind: 'operator', name: 'Temporal' };
  const cancelled: Event = { kind: 'cancelled', at, reason: 'an operator terminated it in Temporal', by };
  let transition = advance(plan, restore(plan, loaded.rows), [cancelled]);
  while (transition.more) transition = advance(plan, transition.state, []);
  const rows = snapshot(transition.state);
  return {
    ...stored,
    loaded: { ...loaded, rows, hostRows: [...loaded.hostRows, runRow('endAt', at)] },
    paused: [],
  };
}
