import type { Owner } from '../../../decorators/context.js';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest, RequestContext } from '../../runs/request.js';
import type { InspectedRun, RunStore } from '../../runs/run-store.js';
import type { Log } from '../../tools/log.js';
import { storeFault, taskNotFound } from '../store-failure.js';
import { faultCodes, ProtocolFault } from '../wire.js';
import type { TaskState, TaskView } from './task-view.js';

type Variables = Pick<InspectedRun, 'variables' | 'version'>;

/** A task with its variables. */
export interface StoredTask extends TaskState {
  /** Those that programs have set, and those of the server, which begin with `_workflow.`. */
  readonly variables: JsonObject;
  /** How often programs have changed variables. */
  readonly version: number;
}

interface TaskStoreParts {
  readonly runs: RunStore;
  readonly view: () => Promise<TaskView>;
  readonly variablesOf: (run: string, caller: Owner) => Promise<Variables | undefined>;
  readonly identified: (context: RequestContext) => IdentifiedRequest;
  /** How long a change waits for its run, in ms. */
  readonly answerMs: number;
  readonly log: Log;
}

/**
 * The tasks of a server, for programs. It has no state of its own: a task is a run under the same id. Each method throws
 * a {@link ProtocolFault} for a task that does not exist for its caller; a task of another caller does not.
 */
export class TaskStore {
  readonly #parts: TaskStoreParts;

  constructor(parts: TaskStoreParts) {
    this.#parts = parts;
  }

  /** Returns a task and its variables. */
  async get(id: string, context: RequestContext): Promise<StoredTask> {
    const { view, variablesOf, identified, log } = this.#parts;
    const { principal } = identified(context);
    const state = await (await view()).get(id, context);
    const stored = await variablesOf(id, principal).catch((fault: unknown) => {
      throw storeFault(fault, `task '${clip(id)}'`, log);
    });
    if (stored === undefined) throw taskNotFound(id);
    return { ...state, ...stored };
  }

  /**
   * Lists the tasks of a caller, the latest first. A caller without authentication gets an empty list.
   * @param cursor that of the page before.
   */
  async list(cursor: string | undefined, context: RequestContext): ReturnType<TaskView['list']> {
    return (await this.#parts.view()).list(cursor, context);
  }

  /**
   * Changes variables of an open task, all of them at once. `null` deletes one.
   *
   * @param expectedVersion the version that the change is based on. Default: it is not compared.
   * @returns the task after the change.
   * @throws ProtocolFault with `data.code`: `E_TASK_VARIABLES` for a reserved name or a limit, `E_TASK_VERSION` for another
   *   version, `E_TASK_OVER` for a task that is over.
   */
  async setVariables(
    id: string,
    changes: JsonObject,
    context: RequestContext,
    expectedVersion?: number,
  ): Promise<StoredTask> {
    const { runs, identified, answerMs, log } = this.#parts;
    const { principal } = identified(context);
    const change = { set: changes, ...defined({ expectedVersion }) };
    // A caller that does not own the task learns of no rule.
    await this.get(id, context);
    const answer = await runs.setVariables(principal, id, change, answerMs).catch((fault: unknown) => {
      throw storeFault(fault, `the change of task '${clip(id)}'`, log);
    });
    if (!answer.ok) throw refused(answer.failure);
    return this.get(id, context);
  }

  /** Cancels a task. Throws a fault for one that is over. */
  async cancel(id: string, context: RequestContext): Promise<TaskState> {
    return (await this.#parts.view()).cancel(id, context);
  }
}

function refused({ code, message, details }: Failure): ProtocolFault {
  const isInternal = code === 'E_TASK_VERSION' || code === 'E_JOURNAL';
  const fault = isInternal ? faultCodes.internal : faultCodes.invalidParams;
  return new ProtocolFault(fault, message, { code, ...defined({ details }) });
}
