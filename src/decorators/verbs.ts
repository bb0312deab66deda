import type { ArgsOf, Unmark } from './arg.js';
import type { Given } from './decorate.js';
import { WorkflowNotRunnableError } from './errors.js';
import type { PromptText, ResourceLink } from './prompt.js';
import type { AddressedClass, ReadFault, TextOf, VariablesArguments } from './resource.js';
import type { NoInput, Supplied, ToolClass } from './tool.js';
import type { RetryOptions } from './workflow.js';

/** Options of a {@link call}; for a call that is a step of its own, those of a nested step may stand in `@Step(...)`. */
export interface CallOptions<Output = unknown, Result = unknown> extends NestedOptions {
  /**
   * How the call is undone, of its output: by another call. It is made when a `parallel` around it rolls back, or the
   * run is cancelled and is to be undone.
   */
  readonly compensate?: (output: Output) => unknown;
  /**
   * Makes another value of the output: an arrow with an expression, or the name of an exported function that does no
   * more than compute.
   */
  readonly transform?: (output: Output) => Result;
}

/** The arguments of {@link call} after the tool: the input may be left out where an empty object fits. */
export type CallArguments<Input, Output = unknown, Result = unknown> =
  // biome-ignore lint/complexity/noBannedTypes: it asks about the empty object literal itself
  {} extends Supplied<Input>
    ? [input?: NoInfer<Given<Supplied<Input>>>, options?: CallOptions<NoInfer<Output>, Result>]
    : [input: NoInfer<Given<Supplied<Input>>>, options?: CallOptions<NoInfer<Output>, Result>];

/** `Result`, never guessed from where the value is wanted: a string is no reason for a call to give one. */
type Made<Result> = [Result] extends [infer Value] ? Value : never;

/**
 * Calls a tool. The value is the tool's output, or what `transform` makes of it.
 *
 * @example
 * ```ts
 * @Step() pages = call(ListPages);
 * @Step() found = call(VerifyProject, { project: this.project, available: this.pages.names });
 * @Step() first = call(ListPages, {}, { transform: (out) => out.names[0] ?? 'inbox' });
 * @Step() added = call(AddContent, { content: this.task }, { compensate: (out) => call(RemoveContent, { id: out.id }) });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function call<Input = NoInput, Output = unknown, Result = Output>(
  _tool: ToolClass<Input, Output>,
  ..._rest: CallArguments<Input, Output, Result>
): Made<Result> {
  throw new WorkflowNotRunnableError('call(...)');
}

/**
 * Reads a resource. The value is its text.
 *
 * @example
 * ```ts
 * @Step() intro = read(LogseqIntro);
 * @Step() page = read(Page, { name: this.project });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function read<R extends AddressedClass>(
  _resource: R & ReadFault<R>,
  ..._variables: VariablesArguments<R>
): TextOf<R> {
  throw new WorkflowNotRunnableError('read(...)');
}

/**
 * Names a resource without reading it. The value is a resource link, as MCP defines it.
 *
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function link<R extends AddressedClass>(
  _resource: R,
  ..._variables: VariablesArguments<R>
): ResourceLink {
  throw new WorkflowNotRunnableError('link(...)');
}

/**
 * Carries out one step after the other, each given the value of the one before. The value is the last one's.
 *
 * @example
 * ```ts
 * @Step() moved = chain(call(AddContent, { content: this.task }), (added) => call(RemoveContent, { id: added.id }));
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function chain<A, B>(step: A, second: (value: A) => B): B;
export function chain<A, B, C>(step: A, second: (value: A) => B, third: (value: B) => C): C;
export function chain<A, B, C, D>(
  step: A,
  second: (value: A) => B,
  third: (value: B) => C,
  fourth: (value: C) => D,
): D;
export function chain<A, B, C, D, E>(
  step: A,
  second: (value: A) => B,
  third: (value: B) => C,
  fourth: (value: C) => D,
  fifth: (value: D) => E,
): E;
export function chain<A, B, C, D, E, F>(
  step: A,
  second: (value: A) => B,
  third: (value: B) => C,
  fourth: (value: C) => D,
  fifth: (value: D) => E,
  sixth: (value: E) => F,
): F;
export function chain(..._steps: readonly unknown[]): unknown {
  throw new WorkflowNotRunnableError('chain(...)');
}

/** Why a step failed for good. */
export interface StepError {
  /** `E_TIMEOUT`, `E_TOOL_ERROR`, …, or the code the tool's own error carries. */
  readonly code: string;
  /** What the tool said, on one line. */
  readonly message: string;
  /** How many tries were made. */
  readonly attempts: number;
  /** Id of the step's node. */
  readonly node: string;
}

/**
 * Puts a value, or another step, in the place of a step that has failed for good; the run goes on.
 *
 * @example
 * ```ts
 * @Step() added = attempt(call(AddContent, { content: this.task }), (error) => ({ id: error.code }));
 * @Step() found = attempt(run(FindPage, { text: this.task }), () => call(CreatePage, { name: this.task }));
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function attempt<T, F>(_step: T, _fallback: (error: StepError) => F): T | F {
  throw new WorkflowNotRunnableError('attempt(...)');
}

/** Options of {@link fail}. */
export interface FailOptions {
  /**
   * The failure's code, for programs: letters, digits and `_`, a letter first, 64 characters at most. `E_` and `W_` begin
   * the product's own codes. Default: `E_FAIL`.
   */
  readonly code?: string;
}

/**
 * Ends the run as failed, with this message: `this.sure ? undefined : fail('cancelled')`. Later steps may rely on the
 * condition: `this.found.alias ?? fail('no alias')` is never absent.
 *
 * @example
 * ```ts
 * @Step() inStock = this.found.count > 0 ? undefined : fail(`${this.article} is sold out`, { code: 'OUT_OF_STOCK' });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function fail(_message: string, _options?: FailOptions): never {
  throw new WorkflowNotRunnableError('fail(...)');
}

/**
 * Ends the run with a value: its result.
 *
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function done<T>(_value: T): Returned<T> {
  throw new WorkflowNotRunnableError('done(...)');
}

type AnyClass = new (...deps: never[]) => object;

type InstanceOf<C> = C extends new (...deps: never[]) => infer Instance ? Instance : never;

type Method = (...args: never[]) => unknown;

/** Why a class is no workflow, or `unknown`. The texts reach authors. */
export type RunFault<C> = C extends { readonly uri: string } | { readonly uriTemplate: string }
  ? ['this class is a resource: use read(...)']
  : InstanceOf<C> extends { execute: Method }
    ? ['this class is a tool: use call(...)']
    : InstanceOf<C> extends { render: Method }
      ? ['this class is a prompt, which nothing runs: its messages are for a model']
      : unknown;

/** The arguments of {@link run} after the workflow: its own may be left out where it wants none. */
export type RunArguments<W> =
  Record<never, never> extends ArgsOf<W>
    ? [args?: NoInfer<Given<ArgsOf<W>>>, options?: NestedOptions]
    : [args: NoInfer<Given<ArgsOf<W>>>, options?: NestedOptions];

/**
 * Runs another workflow, with arguments and steps of its own; state is shared. The value is its result.
 *
 * A workflow that runs itself says what it gives: the field has a type annotation. Five workflows may be inside each
 * other.
 *
 * @example
 * ```ts
 * @Step() sub = run(AddLine, { line: this.task });
 * @Step() rest: number = this.left > 0 ? run(CountDown, { left: this.left - 1 }) : 0;
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function run<C extends AnyClass>(
  _workflow: C & RunFault<C>,
  ..._rest: RunArguments<InstanceOf<C>>
): ResultOf<InstanceOf<C>> {
  throw new WorkflowNotRunnableError('run(...)');
}

/** Settings of a step that stands inside another one: what `@Step(...)` says of a step that is a field of its own. */
export interface NestedOptions {
  /** Id of the step's node. Default: derived from the step it stands in, such as `routed.bug`. */
  readonly id?: string;
  /** Limit of one attempt, in milliseconds. Default: 60 000 for a call, none for a workflow. */
  readonly timeoutMs?: number;
  /** Default: by the error strategy of the workflow. */
  readonly retry?: RetryOptions;
}

declare const RETURNS: unique symbol;

/** What `done(value)` gives: the mark that `ResultOf` looks for. */
export interface Returned<T> {
  readonly [RETURNS]: T;
}

type IsReturned<V> = [V] extends [never]
  ? false
  : [unknown] extends [V]
    ? false
    : V extends Returned<unknown>
      ? true
      : false;

type ReturnedBy<V> = V extends Returned<infer R> ? Plain<R> : never;

/** `T` without marks, however deep; what `prompt` makes is text in a result. */
type Plain<T> = PlainInside<Unmark<T>>;
type PlainInside<T> = T extends PromptText ? string : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

/** The fields that end the run whatever happened before: `done(...)` without a condition. */
type CertainEnds<W> = { [K in keyof W]-?: IsReturned<W[K]> extends true ? K : never }[keyof W];

type Results<W> = {
  [K in keyof W]-?: [unknown] extends [W[K]] ? never : ReturnedBy<W[K]>;
}[keyof W];

/**
 * What workflow `W` hands back: the union over its `done(...)` fields, and `undefined` where none of them is certain
 * to be reached.
 */
export type ResultOf<W> = Results<W> | ([CertainEnds<W>] extends [never] ? undefined : never);
