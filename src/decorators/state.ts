import type { Json } from '../graph/json.js';
import {
  type DecoratesClass,
  decorateClass,
  type Frozen,
  type Given,
  optionsOf,
  WorkflowNotRunnableError,
} from './decorate.js';

/** Options of {@link State}. */
export interface StateOptions {
  /** Unique among the fields of state of a registry; `^[A-Za-z][A-Za-z0-9_-]{0,61}$`. */
  readonly name: string;
  /** How long a value is kept. `'run'`, for the run and the workflows it runs, is the only scope and the default. */
  readonly scope?: 'run';
  /** The value before the first `set`. It fits the type of `value`. Default: absent. */
  readonly initial?: Json;
}

/** A class with one field, `value`, whose type is that of the state. It is never instantiated. */
export type StateClass<Value = unknown> = new () => { value: Value };

type ValueOf<T> = T extends StateClass<infer Value> ? Value : never;

/** Why the option `initial` does not fit the class, or `unknown`. Authors see the text. */
type InitialFault<T, Initial> = [Initial] extends [undefined]
  ? unknown
  : [Initial] extends [Frozen<ValueOf<T>>]
    ? unknown
    : ['the initial value does not fit the type of `value`'];

/** The type of a decorator of classes with a field `value`. */
export type DecoratesState<Initial> = <T extends StateClass>(
  target: T & InitialFault<T, Initial>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class a field of state: `set` writes it and `get` reads it, in a workflow and in those it runs. The type of
 * its field `value` is the type of the state.
 *
 * @example
 * ```ts
 * @State({ name: 'active-project' })
 * export class ActiveProject { value!: string; }
 *
 * @State({ name: 'seen-pages', initial: [] })
 * export class SeenPages { value!: string[]; }
 * ```
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package, and on a
 *   class with `@Arg` or `@Step` fields.
 */
export function State<const Initial extends Json | undefined = undefined>(
  options: StateOptions & { readonly initial?: Initial },
): DecoratesState<Initial>;
export function State(...given: readonly unknown[]): DecoratesClass<StateClass> {
  const options = optionsOf<StateOptions>('State', given);
  return (target, context) => decorateClass('State', target, context, () => ({ kind: 'state', options }));
}

/**
 * Writes a field of state. The value of the step is the written value.
 *
 * @example
 * ```ts
 * @Step() saved = set(ActiveProject, this.found.name);
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function set<Value>(_state: StateClass<Value>, _value: NoInfer<Given<Value>>): Value {
  throw new WorkflowNotRunnableError('set(...)');
}

/**
 * Reads a field of state. Before the first `set` it is the option `initial`, or absent: then declare
 * `value!: … | undefined`. It is an expression, so it may be a part of any value.
 *
 * @example
 * ```ts
 * output = done({ id: this.added.id, project: get(ActiveProject) });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function get<Value>(_state: StateClass<Value>): Value {
  throw new WorkflowNotRunnableError('get(...)');
}
