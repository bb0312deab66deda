import type { Json } from '../graph/json.js';
import { type DecoratesClass, decorateClass, type Frozen, type Given, optionsOf } from './decorate.js';
import { WorkflowNotRunnableError } from './errors.js';

/** Options of {@link State}. */
export interface StateOptions {
  /** Unique among the fields of state of a registry; `^[A-Za-z][A-Za-z0-9_-]{0,61}$`. */
  readonly name: string;
  /** How long a value is kept: for the run and the workflows inside it. */
  readonly scope?: 'run';
  /** What it reads as until something is set. It fits the type of `value`. Default: nothing, absent. */
  readonly initial?: Json;
}

/** A class under `@State`: its `value` says what is kept. It is never instantiated. */
export type StateClass<Value = unknown> = new () => { value: Value };

type ValueOf<T> = T extends StateClass<infer Value> ? Value : never;

/** Why this cannot be the first value of the class, or `unknown`. The text reaches authors. */
type InitialFault<T, Initial> = [Initial] extends [undefined]
  ? unknown
  : [Initial] extends [Frozen<ValueOf<T>>]
    ? unknown
    : ['the initial value does not fit the type of `value`'];

/** Decorates a class with a field `value`. */
export type DecoratesState<Initial> = <T extends StateClass>(
  target: T & InitialFault<T, Initial>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class a field of state: what `set` writes, `get` reads, in a workflow and in those it runs. Its `value`
 * says of which type it is.
 *
 * @example
 * ```ts
 * @State({ name: 'active-project' })
 * export class ActiveProject { value!: string; }
 *
 * @State({ name: 'seen-pages', initial: [] })
 * export class SeenPages { value!: string[]; }
 * ```
 * @throws TypeError when it is given no options, or decorates something that has another decorator already.
 */
export function State<const Initial extends Json | undefined = undefined>(
  options: StateOptions & { readonly initial?: Initial },
): DecoratesState<Initial>;
export function State(...given: readonly unknown[]): DecoratesClass<StateClass> {
  const options = optionsOf<StateOptions>('State', given);
  return (target, context) => decorateClass('State', target, context, () => ({ kind: 'state', options }));
}

/**
 * Writes a field of state. The value is the one that was written.
 *
 * @example
 * ```ts
 * @Step() saved = set(ActiveProject, this.found.name);
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function set<Value>(_state: StateClass<Value>, _value: NoInfer<Given<Value>>): Value {
  throw new WorkflowNotRunnableError('set(...)');
}

/**
 * Reads a field of state. Until something is set that is its `initial`, or nothing at all: where the latter may happen,
 * declare `value!: … | undefined`, so that the type says so.
 *
 * @example
 * ```ts
 * output = done({ id: this.added.id, project: get(ActiveProject) });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function get<Value>(_state: StateClass<Value>): Value {
  throw new WorkflowNotRunnableError('get(...)');
}
