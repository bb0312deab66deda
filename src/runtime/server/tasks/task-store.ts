import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest, RequestContext } from '../../runs/request.js';
import type { RunStore } from '../../runs/run-store.js';
import type { Log } from '../../tools/log.js';
import { storeFault, taskNotFound } from '../store-failure.js';
import { faultCodes, ProtocolFault, type ToolResult } from '../wire.js';
import type { TaskCalls } from './task-calls.js';
import {
  type StoredTask,
  type TaskCall,
  type TaskContinuation,
  type TaskPage,
  TaskRouter,
  type TaskState,
  type TaskView,
} from './task-router.js';

interface TaskStoreParts {
  readonly runs: RunStore;
  readonly view: () => Promise<TaskView>;
  readonly calls: () => Promise<Pick<TaskCalls, 'variablesOf' | 'record'>>;
  /** The name of the tool of a workflow, if it has one. */
  readonly workflowTool: (workflow: string) => string | undefined;
  readonly identified: (context: RequestContext) => IdentifiedRequest;
  /** How long a change waits for its run, in ms. */
  readonly answerMs: number;
  readonly log: Log;
}

/** The router over the runs of a server. It has no state of its own: a task is a run under the same id. */
export class TaskStore extends TaskRouter {
  readonly #parts: TaskStoreParts;

  constructor(parts: TaskStoreParts) {
    super();
    this.#parts = parts;
  }

  override async start(call: TaskCall, context: RequestContext): Promise<TaskState> {
    return (await this.#parts.view()).start(call, context);
  }

  override async status(id: string, context: RequestContext): Promise<TaskState> {
    return (await this.#parts.view()).status(id, context);
  }

  override async get(id: string, context: RequestContext): Promise<StoredTask> {
    const { calls, identified } = this.#parts;
    const { principal } = identified(context);
    const state = await this.status(id, context);
    const loaded = await calls();
    const stored = await this.#stored(`task '${clip(id)}'`, loaded.variablesOf(id, principal));
    if (stored === undefined) throw taskNotFound(id);
    return { ...state, ...stored };
  }

  override async list(cursor: string | undefined, context: RequestContext): Promise<TaskPage> {
    return (await this.#parts.view()).list(cursor, context);
  }

  override async cancel(id: string, context: RequestContext): Promise<TaskState> {
    return (await this.#parts.view()).cancel(id, context);
  }

  override async result(id: string, context: RequestContext): Promise<ToolResult> {
    return (await this.#parts.view()).result(id, context);
  }

  override async questions(...how: Parameters<TaskRouter['questions']>) {
    return (await this.#parts.view()).questions(...how);
  }

  override async update(...how: Parameters<TaskRouter['update']>): Promise<void> {
    return (await this.#parts.view()).update(...how);
  }

  override async follow(...how: Parameters<TaskRouter['follow']>): Promise<void> {
    return (await this.#parts.view()).follow(...how);
  }

  override createWorkflowTask(
    workflow: string,
    inputs: JsonObject,
    context: RequestContext,
    ttlMs?: number,
  ): Promise<TaskState> {
    const tool = this.#parts.workflowTool(workflow);
    const call =
      tool === undefined
        ? { tool: 'start_workflow', input: { name: workflow, inputs } }
        : { tool, input: inputs };
    return this.start({ ...call, ...defined({ ttlMs }) }, context);
  }

  override async setTaskVariables(
    id: string,
    changes: JsonObject,
    context: RequestContext,
    expectedVersion?: number,
  ): Promise<StoredTask> {
    const { runs, identified, answerMs } = this.#parts;
    const { principal } = identified(context);
    const change = { set: changes, ...defined({ expectedVersion }) };
    // A caller that does not own the task learns of no rule.
    await this.status(id, context);
    const setting = runs.setVariables(principal, id, change, answerMs);
    const answer = await this.#stored(`the change of task '${clip(id)}'`, setting);
    if (!answer.ok) throw refused(answer.failure);
    return this.get(id, context);
  }

  override async handleWorkflowContinuation(
    id: string,
    { tool, args, result: value, step }: TaskContinuation,
    context: RequestContext,
  ): Promise<JsonObject> {
    const { calls, identified } = this.#parts;
    await this.status(id, context);
    const request = { ...identified(context), continues: { task: id, ...defined({ step }) } };
    const { _meta = {} } = await (await calls()).record({ tool, args, value }, request, { content: [] });
    const { task_error: error, ...meta } = _meta as JsonObject;
    if (error !== undefined) throw refused(error as unknown as Failure);
    return meta;
  }

  /** A fault of the store as one of the protocol. */
  #stored<T>(what: string, work: Promise<T>): Promise<T> {
    return work.catch((fault: unknown) => {
      throw storeFault(fault, what, this.#parts.log);
    });
  }
}

function refused({ code, message, details }: Failure): ProtocolFault {
  const isInternal = code === 'E_TASK_VERSION' || code === 'E_JOURNAL';
  const fault = isInternal ? faultCodes.internal : faultCodes.invalidParams;
  return new ProtocolFault(fault, message, { code, ...defined({ details }) });
}
