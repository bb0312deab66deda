import type { JoinRule } from '../graph/model.js';
import type { SupplyOf } from './arg.js';
import { decorateField, optionsOf } from './record.js';
import type { FieldKey, FieldTarget, FieldType } from './signatures.js';

/** Options of {@link Step}. They are literals; whatever names a binding stands in the field's initializer. */
export interface StepOptions {
  /** Id of the step's node. Default: the field's name. */
  readonly id?: string;
  /** Steps this one waits for, in place of the one before it; `[]` starts it at once. Data it uses orders in any case. */
  readonly after?: readonly string[];
  /**
   * How those it waits for decide whether it is carried out: `'all_success'`, `'none_failed'`,
   * `'none_failed_min_one_success'`, `'one_success'` or `'all_done'`. Default: `'none_failed'`, so that a step that
   * was skipped skips no other, or `'all_done'` under the error strategy `collect`.
   */
  readonly join?: JoinRule;
  /** A name for people. */
  readonly title?: string;
  /** What a model should know about this step; `{name}` stands for an argument or an earlier binding. */
  readonly guidance?: string;
  /** Limit of one attempt, in milliseconds. Default: 60 000 for calls, reads and functions, none for all others. */
  readonly timeoutMs?: number;
  /** Default: by the error strategy of the workflow. */
  readonly retry?: RetryOptions;
  /** Whether the trace shows the content of a resource that is read, or its address alone. Default: `true`. */
  readonly embed?: boolean;
  /**
   * What the trace shows in place of the whole result; `{name}` stands for an argument, an earlier binding, or this
   * step's own. The binding stays whole.
   */
  readonly summary?: string;
}

/** Why a field of type `V` cannot stand under `@Step`: whatever is an `Arg<T>` counts as an argument of the workflow. */
type StepFault<V> = [SupplyOf<V>] extends [never]
  ? unknown
  : ['declare the type of this field without Arg, or callers would have to supply it'];

/** Decorates a public field of the instance that is no argument. */
export type DecoratesStep = <T extends FieldTarget, const K extends FieldKey>(
  target: T,
  field: K & StepFault<FieldType<T, K>>,
  onlyFields?: never,
) => void;

/**
 * Makes a field of a workflow a step: its initializer says what happens, its name binds the result.
 *
 * @example
 * ```ts
 * @Step({ guidance: 'Pick the page that fits {task}' }) page = call(FindPage, { text: this.task });
 * ```
 * @throws TypeError when the options are no object, or it decorates anything but a public field of the instance.
 */
export function Step(options?: StepOptions): DecoratesStep;
export function Step(...given: readonly unknown[]): DecoratesStep {
  const options = given.length === 0 ? {} : optionsOf<StepOptions>('Step', given);
  return (...decorated: readonly unknown[]) => decorateField('Step', decorated, options);
}

/** How often and when a step that failed is tried again. Refused input, faulty expressions and cancellation never are. */
export interface RetryOptions {
  /** How many tries in all, the first one included. */
  readonly attempts: number;
  /** Wait before the second try, in milliseconds. Default: 0. */
  readonly delayMs?: number;
  /**
   * How the wait before try `k + 1` follows from `delayMs`: the same each time, `delayMs * k`, or `delayMs * 2 ** (k - 1)`.
   * Default: `'constant'`.
   */
  readonly backoff?: 'constant' | 'linear' | 'exponential';
  /** The longest wait, in milliseconds. Default: 60 000. */
  readonly capMs?: number;
  /** Part of each wait that is left to chance, 0 to 1. Default: 0. */
  readonly jitter?: number;
}
