import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';
import type { Json } from '../../graph/json.js';
import type { Failure } from '../../runtime/engine/contract.js';
import { jsonSize } from '../../runtime/tools/to-json.js';
import { excessOf, type PayloadPart } from '../payload-limit.js';

/**
 * What a workflow may send to Temporal. A single value is limited, and so is all that is sent with one task of the workflow:
 * Temporal ends a workflow with a task that is larger than a message.
 */
export class PayloadBudget {
  readonly #bytes: number;
  /** The length of the history with which the current task began. */
  #task = -1;
  #used = 0;
  #nextTask: Promise<void> | undefined;

  /** @param bytes of one value, and of all values of a task. Default: no limit. */
  constructor(bytes = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
  }

  /** Why a value cannot be sent. @param what begins the message. */
  excess(what: string, part: PayloadPart, value: object): Failure | undefined {
    return this.#isLimited ? excessOf(what, part, value, this.#bytes) : undefined;
  }

  /** Reserves room for a value in the current task, or resolves in the first task with room. */
  reserve(value: object): Promise<void> | undefined {
    if (!this.#isLimited) return undefined;
    const size = jsonSize(value as Json, this.#bytes);
    return this.#take(size) ? undefined : this.#takeLater(size);
  }

  get #isLimited(): boolean {
    return this.#bytes < Number.POSITIVE_INFINITY;
  }

  #take(size: number): boolean {
    const { historyLength } = workflowInfo();
    if (historyLength !== this.#task) {
      this.#task = historyLength;
      this.#used = 0;
    }
    if (this.#used > 0 && this.#used + size > this.#bytes) return false;
    this.#used += size;
    return true;
  }

  async #takeLater(size: number): Promise<void> {
    do {
      this.#nextTask ??= CancellationScope.nonCancellable(() => sleep(1)).then(() => {
        this.#nextTask = undefined;
      });
      await this.#nextTask;
    } while (!this.#take(size));
  }
}
