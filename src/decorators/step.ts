import type { SupplyOf } from './arg.js';
import { decorateField, optionsOf } from './record.js';
import type { FieldContext, InstanceSide } from './signatures.js';

/** Options of {@link Step}. They are literals; whatever names a binding stands in the field's initializer. */
export interface StepOptions {
  /** Id of the step's node. Default: the field's name. */
  readonly id?: string;
  /** Steps this one waits for, in place of the one before it; `[]` starts it at once. Data it uses orders in any case. */
  readonly after?: readonly string[];
  /** A name for people. */
  readonly title?: string;
  /** What a model should know about this step; `{name}` stands for an argument or an earlier binding. */
  readonly guidance?: string;
  /** Limit of one attempt, in milliseconds. Default: 60 000. */
  readonly timeoutMs?: number;
}

/** Why a field of type `V` cannot stand under `@Step`: whatever is an `Arg<T>` counts as an argument of the workflow. */
type StepFault<V> = [SupplyOf<V>] extends [never]
  ? never
  : ['declare the type of this field without Arg, or callers would have to supply it'];

/** Decorates a public field of the instance that is no argument. */
export interface DecoratesStep {
  // A private field is no key of `T`, and no argument either.
  <T extends object & InstanceSide, K extends string>(
    target: T,
    key: K extends keyof T ? ([StepFault<T[K]>] extends [never] ? K : StepFault<T[K]>) : K,
    onlyFields?: never,
  ): void;
  <This, V>(
    value: undefined,
    context: FieldContext<This, V> & ([StepFault<V>] extends [never] ? unknown : StepFault<V>),
  ): void;
}

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
