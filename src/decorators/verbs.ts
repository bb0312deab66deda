import type { SettledStatus } from '../graph/nodes.js';
import type { ArgsOf, Unmark } from './arg.js';
import type { OrderOptions } from './decorate.js';
import { type Given, WorkflowNotRunnableError } from './decorate.js';
import type { PromptText, ResourceLink } from './prompt.js';
import type { AddressedClass, ReadArguments, ReadFault, TextOf, VariablesArguments } from './resource.js';
import type { NoInput, Supplied, ToolClass } from './tool.js';
import type { RetryOptions } from './workflow.js';

/**
 * Options of {@link call}. If the call is a whole step, the options of a nested step may be in `@Step(...)` instead.
 */
export interface CallOptions<Output = unknown, Result = unknown> extends NestedOptions {
  /**
   * Returns the call that undoes this one, given its output. It is made if a `parallel` around the call rolls back, or
   * if the run is cancelled with `compensate`.
   */
  readonly compensate?: (output: Output) => unknown;
  /**
   * Returns the value of the step, given the output: an arrow function with an expression, or an exported function that
   * only computes.
   */
  readonly transform?: (output: Output) => Result;
}

/** The arguments of {@link call} after the tool. The input is optional if `{}` fits it. */
export type CallArguments<Input, Output = unknown, Result = unknown> =
  // biome-ignore lint/complexity/noBannedTypes: the type of the empty object literal is meant
  {} extends Supplied<Input>
    ? [input?: NoInfer<Given<Supplied<Input>>>, options?: CallOptions<NoInfer<Output>, Result>]
    : [input: NoInfer<Given<Supplied<Input>>>, options?: CallOptions<NoInfer<Output>, Result>];

/** `Result`, without inference from the type that the context of the call expects. */
export type Made<Result> = [Result] extends [infer Value] ? Value : never;

/**
 * Calls a tool. The value is the tool's output, or what `transform` returns for it.
 *
 * @example
 * ```ts
 * @Step() pages = call(ListPages);
 * @Step() found = call(VerifyProject, { project: this.project, available: this.pages.names });
 * @Step() first = call(ListPages, {}, { transform: (out) => out.names[0] ?? 'inbox' });
 * @Step() added = call(AddContent, { content: this.task }, { compensate: (out) => call(RemoveContent, { id: out.id }) });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
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
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function read<R extends AddressedClass>(
  _resource: R & ReadFault<R>,
  ..._rest: ReadArguments<R>
): TextOf<R> {
  throw new WorkflowNotRunnableError('read(...)');
}

/** How a step settled. `handled`: it failed, and another step took over. */
export type StepStatus = SettledStatus;

/**
 * Reads how an earlier step settled: `'succeeded'`, `'failed'`, `'handled'`, `'skipped'` or `'cancelled'`. The step that
 * reads it waits for that step, and runs however it settled, as far as its own `join` and the error strategy allow. It is
 * an expression, so it may be a part of any value.
 *
 * @example
 * ```ts
 * @Step({ after: [] }) notice = call(Notify, { text: `The page is ${statusOf(this.page)}` });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function statusOf(_step: unknown): StepStatus {
  throw new WorkflowNotRunnableError('statusOf(...)');
}

/**
 * Reads the failure of an earlier step; absent if it did not fail. The failure is also there if `attempt` replaced it by a
 * value or another step. The step that reads it waits for that step. It is an expression, so it may be a part of any value.
 *
 * @example
 * ```ts
 * @Step() page = attempt(call(FindPage, { name: 'Inbox' }), () => ({ path: 'inbox.md' }));
 * output = done({ path: this.page.path, problem: errorOf(this.page)?.message ?? null });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function errorOf(_step: unknown): StepError | undefined {
  throw new WorkflowNotRunnableError('errorOf(...)');
}

/**
 * Names a resource without reading it. The value is a resource link, as MCP defines it. It is an expression, so it may
 * be a part of any value.
 *
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function link<R extends AddressedClass>(
  _resource: R,
  ..._variables: VariablesArguments<R>
): ResourceLink {
  throw new WorkflowNotRunnableError('link(...)');
}

/**
 * Computes a value with a Jinja template, with the functions, filters and tests of templates in spec files. Each
 * `${value}` is a variable of the template; outside `{{ … }}` and `{% … %}` it is inserted. The value is that of the
 * expression if the template is a single `{{ … }}`, else text. It is an expression, so it may be a part of any value.
 *
 * @example
 * ```ts
 * @Step() key = jinja`plan_{{ ${this.topic} | hash }}`;
 * @Step() titles = jinja<string[]>`{{ ${this.reply} | parse_json }}`;
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function jinja<T = string>(_template: TemplateStringsArray, ..._values: readonly unknown[]): T {
  throw new WorkflowNotRunnableError('jinja`...`');
}

/**
 * Runs up to six steps in a row. Each one after the first gets the value of the step before it. The value is that of
 * the last step.
 *
 * @example
 * ```ts
 * @Step() moved = chain(call(AddContent, { content: this.task }), (added) => call(RemoveContent, { id: added.id }));
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
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

/** The failure of a step after its last attempt. */
export interface StepError {
  /** `E_TIMEOUT`, `E_TOOL_ERROR`, …, or the `code` of the error that the tool threw. */
  readonly code: string;
  /** The message of the failure, on one line. */
  readonly message: string;
  /** The number of attempts, the first included. */
  readonly attempts: number;
  /** Id of the step's node. */
  readonly node: string;
}

/**
 * Handles a failure after the last attempt: the fallback, a value or another step, replaces the failed step, and the
 * run goes on. The value is that of the step or of the fallback.
 *
 * @example
 * ```ts
 * @Step() added = attempt(call(AddContent, { content: this.task }), (error) => ({ id: error.code }));
 * @Step() found = attempt(run(FindPage, { text: this.task }), () => call(CreatePage, { name: this.task }));
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function attempt<T, F>(_step: T, _fallback: (error: StepError) => F, _options?: OrderOptions): T | F {
  throw new WorkflowNotRunnableError('attempt(...)');
}

/** Options of {@link fail}. */
export interface FailOptions extends OrderOptions {
  /**
   * The code of the failure, for programs: a letter, then letters, digits and `_`, at most 64 characters. Codes with
   * `E_` and `W_` are reserved. Default: `E_FAIL`.
   */
  readonly code?: string;
}

/**
 * Ends the run as failed, with this message: `this.sure ? undefined : fail('cancelled')`. In later steps the value of
 * `this.found.alias ?? fail('no alias')` is never absent.
 *
 * @example
 * ```ts
 * @Step() inStock = this.found.count > 0 ? undefined : fail(`${this.article} is sold out`, { code: 'OUT_OF_STOCK' });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function fail(_message: string, _options?: FailOptions): never {
  throw new WorkflowNotRunnableError('fail(...)');
}

/**
 * Ends the run with its result. A field with `done(...)` needs no `@Step`.
 *
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function done<T>(_value: T, _options?: OrderOptions): Returned<T> {
  throw new WorkflowNotRunnableError('done(...)');
}

type AnyClass = new (...deps: never[]) => object;

type InstanceOf<C> = C extends new (...deps: never[]) => infer Instance ? Instance : never;

type Method = (...args: never[]) => unknown;

/** Why `run` does not take a class, or `unknown`. Authors see the texts. */
export type RunFault<C> = C extends { readonly uri: string } | { readonly uriTemplate: string }
  ? ['this class is a resource: use read(...)']
  : InstanceOf<C> extends { execute: Method }
    ? ['this class is a tool: use call(...)']
    : InstanceOf<C> extends { render: Method }
      ? ['this class is a prompt, which nothing runs: its messages are for a model']
      : unknown;

/** The arguments of {@link run} after the workflow. `args` is optional if the workflow requires none. */
export type RunArguments<W> =
  Record<never, never> extends ArgsOf<W>
    ? [args?: NoInfer<Given<ArgsOf<W>>>, options?: NestedOptions]
    : [args: NoInfer<Given<ArgsOf<W>>>, options?: NestedOptions];

/**
 * Runs another workflow as a step. It has its own arguments and steps; state is shared. The value is its result.
 *
 * At most five workflows run inside each other, the first included. If a workflow runs itself, the field has a type
 * annotation.
 *
 * @example
 * ```ts
 * @Step() sub = run(AddLine, { line: this.task });
 * @Step() rest: number = this.left > 0 ? run(CountDown, { left: this.left - 1 }) : 0;
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function run<C extends AnyClass>(
  _workflow: C & RunFault<C>,
  ..._rest: RunArguments<InstanceOf<C>>
): ResultOf<InstanceOf<C>> {
  throw new WorkflowNotRunnableError('run(...)');
}

/** Options of a call or a workflow inside another step. A step that is a field may have them in `@Step(...)`. */
export interface NestedOptions extends OrderOptions {
  /** Id of the step's node. Default: derived from the step that contains it, such as `routed.bug`. */
  readonly id?: string;
  /** Time limit of one attempt, in milliseconds. Default: 60 000 for a call, none for a workflow. */
  readonly timeoutMs?: number;
  /** Default: the `retry` of the workflow's error strategy, else no retry. */
  readonly retry?: RetryOptions;
}

declare const RETURNS: unique symbol;

/** The type of a field with `done(value)`, with a mark that {@link ResultOf} reads. */
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

/** `T` without marks, at any depth. A `PromptText` is a string in a result. */
type Plain<T> = PlainInside<Unmark<T>>;
type PlainInside<T> = T extends PromptText ? string : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

/** The names of fields with `done(...)` without a condition. */
type CertainEnds<W> = { [K in keyof W]-?: IsReturned<W[K]> extends true ? K : never }[keyof W];

type Results<W> = {
  [K in keyof W]-?: [unknown] extends [W[K]] ? never : ReturnedBy<W[K]>;
}[keyof W];

/**
 * The result of workflow `W`: the union of the values of its `done(...)` fields, with `undefined` if each of them has a
 * condition.
 */
export type ResultOf<W> = Results<W> | ([CertainEnds<W>] extends [never] ? undefined : never);
