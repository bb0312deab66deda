import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { sha256Hex } from '../../../graph/sha256.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { PARTIAL_LIMIT_BYTES } from '../../runs/run/envelope.js';
import { type InspectedRun, type RunStore, unknownRun } from '../../runs/run-store.js';
import type { Log } from '../../tools/log.js';
import { jsonSize } from '../../tools/to-json.js';
import type { Toolset } from '../../tools/toolset.js';
import { storeFailure } from '../store-failure.js';
import type { ToolResult } from '../wire.js';
import { type InspectedTask, inspectTask, type KnownTools } from './task-meta.js';

interface TaskCallsOptions {
  readonly runs: RunStore;
  readonly toolset: Pick<Toolset, 'describeTool' | 'isPrivate'>;
  /** The name of the tool of a workflow, if it has one. */
  readonly workflowTool: (workflow: string) => string | undefined;
  /** How long a call waits for its task, in ms. */
  readonly answerMs: number;
  readonly log: Log;
}

/** A call of a tool that continues a task. */
interface ContinuingCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** What the tool returned, without secrets. Missing for a call that failed. */
  readonly value?: Json;
}

/** Why a call was not recorded. */
interface Unrecorded {
  readonly error?: Failure;
  readonly warnings?: readonly RunWarning[];
}

/** Calls of tools that continue tasks. A call returns the result of its tool, which is recorded at the step that waits for it. */
export class TaskCalls {
  readonly #options: TaskCallsOptions;

  constructor(options: TaskCallsOptions) {
    this.#options = options;
  }

  /**
   * Records a call, waits for its task to continue, and adds the state of the task to the result of the call. A call that
   * failed leaves its step open. Never rejects: what went wrong is in `_meta`.
   */
  async record(call: ContinuingCall, request: IdentifiedRequest, result: ToolResult): Promise<ToolResult> {
    const { continues } = request;
    if (continues === undefined) return result;
    const submitted = await this.#hiding(() => this.#submit(call, continues, request));
    const { value: meta, error: unread } = await this.#hiding(() => this.meta(continues.task, request));
    const { error = submitted.error, warnings = [] } = submitted.value ?? {};
    const failure = error ?? unread;
    return {
      ...result,
      _meta: {
        ...result._meta,
        ...(meta ?? { task_id: continues.task }),
        ...(failure === undefined ? {} : { task_error: { code: failure.code, message: failure.message } }),
        ...(warnings.length === 0 ? {} : { task_warnings: warnings.map((each) => ({ ...each })) }),
      },
    };
  }

  /** Adds the state of a task to the result of a call that names it as `workflow_id`. */
  async describe(
    { workflow_id: task }: Readonly<Record<string, unknown>>,
    request: IdentifiedRequest,
    result: ToolResult,
  ): Promise<ToolResult> {
    if (typeof task !== 'string') return result;
    const { value: meta } = await this.#hiding(() => this.meta(task, request));
    return { ...result, _meta: { ...result._meta, ...meta } };
  }

  /** What `_meta` says of a task of the caller; `undefined` for a run that is not the caller's, or not a task. */
  async meta(
    task: string,
    { principal }: Pick<IdentifiedRequest, 'principal'>,
  ): Promise<JsonObject | undefined> {
    const inspected = await this.inspect(task, principal);
    if (inspected === undefined) return undefined;
    const { meta, results } = inspected;
    const sizes = Object.entries(results).map(
      ([step, value]) => [step, jsonSize(value, PARTIAL_LIMIT_BYTES) > PARTIAL_LIMIT_BYTES] as const,
    );
    const omitted = sizes.flatMap(([step, isLarge]) => (isLarge ? [step] : []));
    const shown = Object.fromEntries(Object.entries(results).filter(([step]) => !omitted.includes(step)));
    return {
      ...(meta as unknown as JsonObject),
      results: shown,
      ...(omitted.length === 0 ? {} : { results_omitted: omitted }),
    };
  }

  inspect(task: string, caller: IdentifiedRequest['principal']): Promise<InspectedTask | undefined> {
    return this.#options.runs.inspect(caller, task, (run) =>
      run.graph.task === true ? inspectTask(run, this.#tools(run)) : undefined,
    );
  }

  /** The variables of a run of a caller: what programs have set and, of a task, what is computed from its state. */
  variablesOf(id: string, caller: IdentifiedRequest['principal']) {
    return this.#options.runs.inspect(caller, id, (run) => ({
      variables: (run.graph.task === true ? inspectTask(run, this.#tools(run)) : run).variables,
      version: run.version,
    }));
  }

  #tools({ graph }: InspectedRun): KnownTools {
    const { toolset, workflowTool } = this.#options;
    return {
      describeTool: (name) => toolset.describeTool(name),
      isPrivate: toolset.isPrivate,
      ...defined({ workflowTool: workflowTool(graph.name) }),
    };
  }

  async #submit(
    { tool, args, value }: ContinuingCall,
    continues: NonNullable<IdentifiedRequest['continues']>,
    request: IdentifiedRequest,
  ): Promise<Unrecorded> {
    const { runs, answerMs } = this.#options;
    const { task, step } = continues;
    const isTask = await runs.inspect(request.principal, task, ({ graph }) => graph.task === true);
    if (isTask === undefined) return { error: unknownRun(task).failure };
    if (!isTask) return { error: noWorkflowTask(task) };
    if (value === undefined) return {};
    const submission = {
      tool,
      args,
      result: value,
      ...defined({ stepId: step, requestKey: requestKey(request, continues) }),
    };
    const answer = await runs.submit(request.principal, task, submission, { request, answerMs });
    return answer.ok ? defined({ warnings: answer.warnings }) : { error: answer.failure };
  }

  /** Does work with a store. Returns its value, or the failure of a store that cannot do it. */
  async #hiding<T>(work: () => Promise<T>): Promise<{ readonly value?: T; readonly error?: Failure }> {
    try {
      return { value: await work() };
    } catch (fault) {
      const error = storeFailure(fault, 'the call', this.#options.log);
      if (error === undefined) throw fault;
      return { error };
    }
  }
}

/** Equal for a request that is sent again. An id of JSON-RPC is one of its session: without one it says nothing. */
function requestKey(
  { requestId, peer }: IdentifiedRequest,
  { idempotencyKey: key }: NonNullable<IdentifiedRequest['continues']>,
): string | undefined {
  if (key === undefined && peer?.session === undefined) return undefined;
  return sha256Hex(canonicalJson(key === undefined ? [peer?.session ?? null, requestId] : [key]));
}

function noWorkflowTask(task: string): Failure {
  return {
    code: 'E_TASK_UNSUPPORTED',
    message: `Run '${clip(task)}' is not of a workflow with \`task\`: no call continues it. See it with get_workflow_status.`,
  };
}
