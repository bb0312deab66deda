import type { Json, JsonObject } from '../../../graph/json.js';
import type { RequestContext } from '../../runs/request.js';
import type { TaskStatus } from '../../trace/messages.js';
import type { UserQuestion } from '../wire.js';
import { faultCodes, ProtocolFault, type ToolResult } from '../wire.js';

/** A run as a task. Times are in ms since the epoch. */
export interface TaskState {
  /** That of the run. */
  readonly id: string;
  readonly status: TaskStatus;
  /** What it waits for, or why it did not succeed. */
  readonly message?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long it is kept from its start, in ms. Missing: without limit. */
  readonly ttlMs?: number;
}

/** A tool call that is made as a task. */
export interface TaskCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** How long the caller wants it to be kept, in ms. */
  readonly ttlMs?: number;
}

/** A task with its variables. */
export interface StoredTask extends TaskState {
  /** Those that programs have set, and those of the server, which begin with `_workflow.`. */
  readonly variables: JsonObject;
  /** How often programs have changed variables. */
  readonly version: number;
}

/** A call that was made for a step of a task. */
export interface TaskContinuation {
  readonly tool: string;
  readonly args: JsonObject;
  readonly result: Json;
  /** The step that the call is for. Default: the one step that waits for a call of the tool. */
  readonly step?: string;
}

/** A page of the tasks of a caller, the latest first. */
export interface TaskPage {
  readonly tasks: readonly TaskState[];
  readonly nextCursor?: string;
}

/**
 * What a server does with tasks: adapters of the protocol and programs ask it. A method that a subclass does not have
 * is refused with `E_TASK_UNSUPPORTED`. Each method throws a {@link ProtocolFault} for a task that does not exist for its
 * caller; a task of another caller does not.
 */
export class TaskRouter {
  /** Calls a tool as a task. Resolves when the task is stored. */
  start(_call: TaskCall, _context: RequestContext): Promise<TaskState> {
    return unsupported('start');
  }

  /** Returns a task without its variables. */
  status(_id: string, _context: RequestContext): Promise<TaskState> {
    return unsupported('status');
  }

  /** Returns a task and its variables. */
  get(_id: string, _context: RequestContext): Promise<StoredTask> {
    return unsupported('get');
  }

  /**
   * Lists the tasks of a caller. A caller without authentication gets an empty list.
   * @param cursor that of the page before.
   */
  list(_cursor: string | undefined, _context: RequestContext): Promise<TaskPage> {
    return unsupported('list');
  }

  /** Cancels a task. Throws a fault for one that is over. */
  cancel(_id: string, _context: RequestContext): Promise<TaskState> {
    return unsupported('cancel');
  }

  /** Returns the result of the call that the task is for, once the task is over. */
  result(_id: string, _context: RequestContext): Promise<ToolResult> {
    return unsupported('result');
  }

  /** Returns the open questions of a task that its caller can answer in a form or on a page, in the order in which they were asked. */
  questions(_id: string, _context: RequestContext): Promise<readonly UserQuestion[]> {
    return unsupported('questions');
  }

  /**
   * Answers questions of a task. Answers to questions that are not open have no effect.
   *
   * @param answers what clients return for forms, by the ids of questions.
   * @throws ProtocolFault -32602 for answers that do not fit, after those that fit were taken, and for what clients do not
   *   return for a form, before any was taken.
   */
  update(_id: string, _answers: Readonly<Record<string, unknown>>, _context: RequestContext): Promise<void> {
    return unsupported('update');
  }

  /** Reports each change of a task until it is over, or the request is aborted. */
  follow(_id: string, _context: RequestContext, _report: (task: TaskState) => void): Promise<void> {
    return unsupported('follow');
  }

  /**
   * Starts a workflow as a task.
   * @param ttlMs how long the task is kept from its start, at most.
   */
  createWorkflowTask(
    _workflow: string,
    _inputs: JsonObject,
    _context: RequestContext,
    _ttlMs?: number,
  ): Promise<TaskState> {
    return unsupported('createWorkflowTask');
  }

  /**
   * Changes variables of an open task, all of them at once. `null` deletes one.
   *
   * @param expectedVersion the version that the change is based on. Default: it is not compared.
   * @returns the task after the change.
   * @throws ProtocolFault with `data.code`: `E_TASK_VARIABLES` for a reserved name or a limit, `E_TASK_VERSION` for another
   *   version, `E_TASK_OVER` for a task that is over.
   */
  setTaskVariables(
    _id: string,
    _changes: JsonObject,
    _context: RequestContext,
    _expectedVersion?: number,
  ): Promise<StoredTask> {
    return unsupported('setTaskVariables');
  }

  /**
   * Records a call at the step of a task that waits for it.
   * @returns `_meta` of the task afterwards, with `task_warnings` for a call that was not used.
   */
  handleWorkflowContinuation(
    _id: string,
    _call: TaskContinuation,
    _context: RequestContext,
  ): Promise<JsonObject> {
    return unsupported('handleWorkflowContinuation');
  }

  /** Completes a task with a result. Tasks of runs complete by themselves: their router does not have it. */
  completeWorkflowTask(_id: string, _result: Json, _context: RequestContext): Promise<TaskState> {
    return unsupported('completeWorkflowTask');
  }
}

function unsupported(method: string): Promise<never> {
  const message = `The task router does not support '${method}': override it, or do without it`;
  return Promise.reject(
    new ProtocolFault(faultCodes.methodNotFound, message, { code: 'E_TASK_UNSUPPORTED', method }),
  );
}

/** A router that is loaded by its first request. */
export function lazyRouter(load: () => Promise<TaskRouter>): TaskRouter {
  return new Proxy(new TaskRouter(), {
    get(base, name) {
      const member: unknown = Reflect.get(base, name);
      if (typeof member !== 'function' || Object.hasOwn(base, name) || name in Object.prototype)
        return member;
      return async (...how: unknown[]): Promise<unknown> => {
        const router = await load();
        return Reflect.apply(Reflect.get(router, name), router, how);
      };
    },
  });
}
