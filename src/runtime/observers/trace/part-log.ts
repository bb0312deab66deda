import type { PromptMessage } from './messages.js';
import type { StepLog } from './step-log.js';

/** What a list of steps has to say: the top of the workflow, an arm, a branch, an item. In the order in which steps end. */
export class PartLog {
  readonly #messages: PromptMessage[] = [];
  /** Steps that have started and are not over. */
  readonly #open = new Map<string, StepLog>();

  /** Steps that are over, by the step they are told behind. */
  readonly #held = new Map<string, string>();

  /** Everything so far, that of steps that are not over behind that of the others. */
  get all(): readonly PromptMessage[] {
    const unfinished = [...this.#open.values()].flatMap((step) => (step.hasActed ? step.all : []));
    return [...this.#messages, ...unfinished];
  }

  /** What the step has to say, from its first fact on. */
  step(id: string, create: () => StepLog): StepLog {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const step = create();
    this.#open.set(id, step);
    return step;
  }

  /** The step that has started and is not over. */
  open(id: string): StepLog | undefined {
    return this.#open.get(id);
  }

  /** The step is over. @param behind a step after which it is told, where that is not over. */
  close(id: string, behind?: string): void {
    if (behind !== undefined && this.#open.has(behind)) {
      this.#held.set(behind, id);
      return;
    }
    this.#messages.push(...(this.#open.get(id)?.all ?? []));
    this.#open.delete(id);
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    this.close(held);
  }

  say(message: PromptMessage): void {
    this.#messages.push(message);
  }
}
