import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '../decorators/context.js';
import { packageVersion } from '../formats/own-files.js';
import { defined } from '../graph/defined.js';
import type { Graph } from '../graph/model.js';
import { toolsIn } from '../graph/nodes.js';
import { clip, clipText } from '../graph/printable-text.js';
import { sha256Hex } from '../graph/sha256.js';
import type { ToolSafety } from '../graph/tool-safety.js';
import { planOf } from '../plan/compile.js';
import { restore } from '../runtime/engine/snapshot.js';
import type { Submission, ToAnswer } from '../runtime/runs/actions/action.js';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import { secretsRefusal } from '../runtime/runs/operate/run-stores.js';
import { StoredRunReader } from '../runtime/runs/operate/stored-view.js';
import { abortReason, ConnectionClosed } from '../runtime/runs/request.js';
import type { RunAnswer, SubmitAnswer } from '../runtime/runs/run/envelope.js';
import { restrictedQuestions, rolesOf } from '../runtime/runs/run/owner.js';
import {
  type Cancellation,
  FILE_LIMITS,
  type InspectedRun,
  isListed,
  type NewRun,
  quotaOf,
  type RunReading,
  type RunStatus,
  type RunStore,
  type RunSummary,
  unknownRun,
  type Waiter,
} from '../runtime/runs/run-store.js';
import { recorded } from '../runtime/runs/store/host-rows.js';
import { StoreError } from '../runtime/runs/store/store-error.js';
import { RunMask } from '../runtime/secrets/run-mask.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import { runRef } from '../runtime/tools/port.js';
import { planLines } from '../runtime/trace/kinds.js';
import type { ResolvedOptions } from './options.js';
import { type RunArguments, type RunRequests, workflowIdsOf } from './protocol.js';
import {
  isTerminated,
  type RemoteExecution,
  RunClient,
  type RunMemo,
  terminatedRun,
  terminatedSummary,
  unreachableStore,
} from './run-client.js';
import type { RunningWorker } from './worker.js';

/** How often a request that waits for a run looks at it, in ms. */
const LOOK_MS = 1_000;

type NextStepOf = Parameters<RunStore['nextStep']>;

/** The runs of a namespace of Temporal. Each is a workflow there, which this store starts and sends requests to. */
export class TemporalRunStore implements RunStore {
  readonly #temporal: ResolvedOptions;
  readonly #options: RunStoreOptions;
  /** Whether it executes runs too. */
  isWorker: boolean;
  readonly #closed = new AbortController();
  /** Aborted when requests must not wait for runs any more. */
  readonly #ending = new AbortController();
  #connecting: Promise<RunClient> | undefined;
  #worker: Promise<RunningWorker> | undefined;

  constructor(temporal: ResolvedOptions, options: RunStoreOptions) {
    this.#temporal = temporal;
    this.#options = options;
    this.isWorker = temporal.worker !== false;
    // Each request in flight has one.
    setMaxListeners(0, this.#ending.signal);
  }

  async open(): Promise<void> {
    await this.#client();
  }

  /** Begins to start the worker of this process. Requests wait until it is ready. */
  async resumeAll(): Promise<void> {
    if (!this.isWorker) return;
    this.#worker ??= this.#startWorker();
    this.#worker.catch((error: unknown) => {
      if (this.#closed.signal.aborted) return;
      const text = `This process executes no runs, since its worker cannot start: ${thrownText(error)}`;
      this.#options.log(text, { event: 'store.failed', level: 'error' });
    });
  }

  async executing(): Promise<void> {
    try {
      await this.#worker;
    } catch (error) {
      if (!this.#closed.signal.aborted) throw error;
    }
  }

  async start(run: NewRun, waiter: Waiter): Promise<RunAnswer> {
    const { owner, graph } = run;
    const failure = secretsRefusal(graph, this.#options) ?? this.#options.refusal?.(graph, owner);
    if (failure !== undefined) return { ok: false, failure };
    const client = await this.#client();
    const args = this.#argumentsOf(run, waiter);
    const started = client.start(args, {
      memo: memoOf(args.run, run, waiter),
      ...shownTextsOf(graph),
    });
    return this.#awaited(started, { caller: owner, id: args.run, waiter });
  }

  async get(
    caller: Owner,
    id: string,
    { state = false, waiter, onChange }: RunReading = {},
  ): ReturnType<RunStore['get']> {
    const endsAt = Date.now() + (waiter?.answerMs ?? 0);
    for (;;) {
      const answer = await this.#look(caller, id, state);
      if (waiter === undefined || !answer.ok || isAnswered(answer, waiter, endsAt)) return answer;
      if (this.#ending.signal.aborted) return answer;
      onChange?.(answer);
      await this.#isInterrupted(delay(LOOK_MS), waiter.request);
    }
  }

  async #look(caller: Owner, id: string, state: boolean): ReturnType<RunStore['get']> {
    const request = { caller, id, state };
    const answer = await this.#reach(id, async (client, workflowId) => {
      // A Query leaves no trace in the history.
      const shown = await client.look(workflowId, 'get_workflow_status', request);
      return shown ?? client.request(workflowId, 'get_workflow_status', request);
    });
    const isOpen = answer === undefined || (answer.ok && answer.endedAt === undefined);
    return (isOpen ? await this.#terminated(caller, id) : undefined) ?? answer ?? unknownRun(id);
  }

  async submit(caller: Owner, id: string, submission: Submission, waiter: Waiter): Promise<SubmitAnswer> {
    const sent = this.#request(id, 'submit_result', { ...remote(caller, id, waiter), submission });
    return (await this.#awaited(sent, { caller, id, waiter })) ?? this.#refused(caller, id);
  }

  async nextStep(...[caller, id, waiter, submission]: NextStepOf): ReturnType<RunStore['nextStep']> {
    const request = { ...remote(caller, id, waiter), ...defined({ submission }) };
    return (await this.#request(id, 'get_next_step', request)) ?? this.#refused(caller, id);
  }

  async setVariables(
    ...[caller, id, changes, limitMs]: Parameters<RunStore['setVariables']>
  ): Promise<SubmitAnswer> {
    const answer = await this.#request(id, 'set_variables', { caller, id, changes, limitMs });
    return answer ?? this.#refused(caller, id);
  }

  async inspect<T>(caller: Owner, id: string, look: (run: InspectedRun) => T): Promise<T | undefined> {
    const client = await this.#client();
    for (const workflowId of workflowIdsOf(id)) {
      const shown = await client.show(workflowId, 'inspect', { caller, id });
      if (shown == null) continue;
      const { rows, ...run } = shown;
      const state = rows && restore(planOf(run.graph), rows);
      const mask = new RunMask(run.graph, { secretInputs: this.#options.secretInputs, rows: [] });
      return look({ ...run, state, mask });
    }
    return undefined;
  }

  async cancel(caller: Owner, id: string, how: Cancellation, waiter: Waiter): Promise<RunAnswer> {
    const sent = this.#request(id, 'cancel_workflow', { ...remote(caller, id, waiter), how });
    return (
      (await this.#awaited(sent, { caller, id, waiter })) ??
      (await this.#terminated(caller, id)) ??
      unknownRun(id)
    );
  }

  async toAnswer(caller: Owner): Promise<readonly ToAnswer[]> {
    if (rolesOf(caller).length === 0) return [];
    const client = await this.#client();
    const questions: ToAnswer[] = [];
    for await (const { workflowId, memo } of client.list({ isOpen: true })) {
      if (memo.isRestricted !== true) continue;
      // The oldest run is the last one.
      questions.unshift(...((await client.show(workflowId, 'to_answer', caller)) ?? []));
    }
    return questions;
  }

  async list(
    caller: Owner,
    { before, status, limit = Number.POSITIVE_INFINITY }: Parameters<RunStore['list']>[1] = {},
  ): Promise<readonly RunSummary[]> {
    if (caller.kind === 'anonymous') return [];
    const client = await this.#client();
    const quota = hashedQuota(caller);
    const isOpen = status === undefined ? undefined : status === 'running' || status === 'waiting';
    const earlier = before === undefined ? [] : workflowIdsOf(before);
    const runs: RemoteExecution[] = [];
    // The run that the others began before may be of any status.
    const filter = { quota, isOpen: before === undefined ? isOpen : undefined };
    for await (const run of client.list(filter)) runs.push(run);
    runs.sort((one, other) => (other.memo.startedAt ?? 0) - (one.memo.startedAt ?? 0));
    const first = runs.findIndex(({ workflowId }) => earlier.includes(workflowId)) + 1;
    const summaries: RunSummary[] = [];
    for (const run of runs.slice(first)) {
      if (summaries.length >= limit) break;
      const listed = (await client.show(run.workflowId, 'list_workflows', caller)) ?? [];
      const shown = isTerminated(run) ? listed.map((summary) => terminatedSummary(summary, run)) : listed;
      summaries.push(...shown.filter((summary) => isListed(summary, status)));
    }
    return summaries;
  }

  /** Workers of other processes go on with its runs. */
  async atRest(): Promise<void> {}

  /** Responds to requests that wait for runs. Workers of other processes continue them. */
  endAll(): number {
    this.#ending.abort();
    return 0;
  }

  /** The worker of this process. Undefined without one. */
  get worker(): Promise<RunningWorker> | undefined {
    return this.#worker;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const [opened, connecting] = [this.#worker, this.#connecting];
    this.#worker = undefined;
    this.#connecting = undefined;
    const worker = await opened?.catch(() => undefined);
    const client = await connecting?.catch(() => undefined);
    try {
      await worker?.stop();
    } finally {
      await client?.close();
    }
  }

  async #client(): Promise<RunClient> {
    this.#connecting ??= RunClient.connect(this.#temporal).catch((error: unknown) => {
      // A later request tries again.
      this.#connecting = undefined;
      throw error;
    });
    const client = await this.#connecting;
    await this.#worker;
    return client;
  }

  async #startWorker(): Promise<RunningWorker> {
    const { startWorkerOf } = await import('./worker.js');
    try {
      return await startWorkerOf(this.#temporal, this.#options, this.#closed.signal);
    } catch (error) {
      if (error instanceof StoreError || this.#closed.signal.aborted) throw error;
      throw await unreachableStore(this.#temporal, error);
    }
  }

  /** The caller's run, where an operator has terminated its workflow in Temporal. */
  async #terminated(caller: Owner, id: string): Promise<RunStatus | undefined> {
    const client = await this.#client();
    for (const workflowId of workflowIdsOf(id)) {
      const execution = await client.describe(workflowId);
      if (execution === undefined || !isTerminated(execution)) continue;
      const [shown, stored] = await Promise.all([
        client.show(workflowId, 'inspect', { caller, id }),
        client.show(workflowId, 'stored_run'),
      ]);
      if (shown == null || stored === undefined) continue;
      const { closedAt: endedAt = 0 } = execution;
      const { loaded, started } = terminatedRun(stored, endedAt);
      const { envelope } = new StoredRunReader(loaded, started.graph, { hasHolder: false });
      const { startedAt } = shown;
      return {
        ok: true,
        envelope,
        startedAt,
        updatedAt: endedAt,
        endedAt,
        ...defined({ task: started.task }),
      };
    }
    return undefined;
  }

  /** Of a request that no workflow has answered. */
  async #refused(caller: Owner, id: string): Promise<Extract<RunAnswer, { readonly ok: false }>> {
    if ((await this.#terminated(caller, id)) === undefined) return unknownRun(id);
    const message = 'The run is over: an operator has terminated it.';
    return { ok: false, failure: { code: 'E_TASK_OVER', message } };
  }

  #request<Name extends keyof RunRequests>(
    id: string,
    name: Name,
    request: Parameters<RunRequests[Name]>[0],
  ): Promise<Awaited<ReturnType<RunRequests[Name]>> | undefined> {
    return this.#reach(id, (client, workflowId) => client.request(workflowId, name, request));
  }

  /** Tries the workflows that an id may name. A run that the caller may not reach responds as one that does not exist. */
  async #reach<Response extends { readonly ok: boolean }>(
    id: string,
    ask: (client: RunClient, workflowId: string) => Promise<Response | undefined>,
  ): Promise<Response | undefined> {
    const client = await this.#client();
    for (const workflowId of workflowIdsOf(id)) {
      const response = await ask(client, workflowId);
      if (response !== undefined) return response;
    }
    return undefined;
  }

  /**
   * The response to a request; or the run as it is, where the request is aborted before or the process ends. A client that
   * cancels the request that started a run cancels the run, as the waiter says.
   */
  async #awaited<Response>(
    response: Promise<Response>,
    { caller, id, waiter }: { readonly caller: Owner; readonly id: string; readonly waiter: Waiter },
  ): Promise<Response | RunStatus> {
    if (!(await this.#isInterrupted(response, waiter.request))) return response;
    const { signal } = waiter.request;
    const isLost = signal.reason instanceof ConnectionClosed || this.#ending.signal.aborted;
    if (waiter.cancels === true && !isLost) {
      const how = { reason: abortReason(signal) };
      const cancel = () => this.#request(id, 'cancel_workflow', { ...remote(caller, id, waiter), how });
      // The run may not have started yet.
      if ((await cancel()) === undefined) await response.then(cancel);
    }
    const shown = await this.#look(caller, id, false);
    return shown.ok ? shown : response;
  }

  /** Resolves when the work is done, or with true as soon as a request must not wait for it any more. */
  async #isInterrupted(work: Promise<unknown>, { signal }: Waiter['request']): Promise<boolean> {
    const signals = [signal, this.#ending.signal];
    let interrupt = (): void => {};
    const interrupted = new Promise<true>((resolve) => {
      interrupt = () => resolve(true);
      if (signals.some(({ aborted }) => aborted)) interrupt();
    });
    for (const each of signals) each.addEventListener('abort', interrupt);
    try {
      return await Promise.race([interrupted, work.then(() => false)]);
    } finally {
      for (const each of signals) each.removeEventListener('abort', interrupt);
    }
  }

  #argumentsOf({ id, owner, graph, input, task }: NewRun, { request, answerMs }: Waiter): RunArguments {
    const { toolSafety, isPrivate, newRunId, limits, telemetry } = this.#options;
    const trace = telemetry?.carrier() ?? {};
    const { requestId, auth, remoteAddress } = request;
    const names = [...toolsIn(graph)];
    const tools: Record<string, ToolSafety> = {};
    for (const name of names) {
      const safety = toolSafety?.(name) ?? 'none';
      if (safety !== 'none') tools[name] = safety;
    }
    return {
      ...{ run: id ?? newRunId(), graph, input, owner, requestId, answerMs, tools },
      ...{ ...recorded(auth), ...defined({ remoteAddress, task }) },
      ...(Object.keys(trace).length === 0 ? {} : { trace }),
      privateTools: names.filter((name) => isPrivate?.(name) === true),
      limitsCalls: true,
      checksResults: true,
      maxEvents: this.#temporal.maxEvents,
      leaseMs: limits?.leaseMs ?? FILE_LIMITS.leaseMs,
    };
  }
}

function remote(caller: Owner, id: string, { answerMs, request }: Waiter) {
  return { caller, id, answerMs, requestId: request.requestId };
}

/** Whether a request has waited for a run for long enough, as `WaitingRequest` decides it in a process. */
function isAnswered(
  { envelope, endedAt }: RunStatus,
  { request, untilOver, awaits = [] }: Waiter,
  endsAt: number,
): boolean {
  if (endedAt !== undefined || request.signal.aborted) return true;
  if (untilOver === true) return false;
  const isOpen = (id: string): boolean => envelope.actions.some(({ action_id }) => action_id === id);
  const isAwaiting = awaits.length > 0 && awaits.every(isOpen);
  return Date.now() >= endsAt || (envelope.status === 'waiting' && !isAwaiting);
}

function memoOf(id: string, { owner, graph }: NewRun, { request }: Waiter): Required<RunMemo> {
  return {
    quota: hashedQuota(owner, request.remoteAddress),
    isRestricted: restrictedQuestions(graph).length > 0,
    startedAt: Date.now(),
    ...{ workflow: graph.name, ref: runRef(id), version: packageVersion() },
  };
}

function hashedQuota(owner: Owner, remoteAddress?: string): string {
  return sha256Hex(quotaOf(owner, remoteAddress)).slice(0, 32);
}

/**
 * What Temporal's web page shows of a workflow, as Markdown: its description and its steps, a line each. Texts with 10 KiB would
 * be compressed, and a character has up to three bytes.
 */
export function shownTextsOf(graph: Graph): { readonly summary: string; readonly details: string } {
  const steps = planLines(planOf(graph), () => undefined).map(
    ({ number, depth, text }) => `${'   '.repeat(depth)}${number}. ${text}`,
  );
  const text = [graph.description ?? '', steps.join('  \n')].filter(Boolean).join('\n\n');
  return { summary: clip(graph.name), details: clipText(text, 3_400) };
}
