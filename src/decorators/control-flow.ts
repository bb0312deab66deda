import type { JsonSchema } from '../graph/json.js';
import type { AgentClass } from './agents.js';
import type { Answerer } from './answerers.js';
import type { Unmark } from './arg.js';
import type { OrderOptions } from './decorate.js';
import { WorkflowNotRunnableError } from './decorate.js';

/**
 * Runs the arm for a value that is one of a few texts or numbers. There is exactly one arm for each possible value;
 * `undefined` is an arm that does nothing. The value is that of the arm. For a condition use `? :`.
 *
 * @example
 * ```ts
 * @Step() routed = match(this.body.kind, {
 *   bug: call(AddContent, { content: this.task }),
 *   feature: run(AddLine, { line: this.task }),
 *   chore: undefined,
 * });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function match<V extends string | number, Arms extends Readonly<Record<CaseOf<V>, unknown>>>(
  _value: V & MatchFault<V>,
  _arms: KnownArms<V, Arms>,
  _options?: OrderOptions,
): Unmark<Arms[CaseOf<V>]> {
  throw new WorkflowNotRunnableError('match(...)');
}

/** Options of {@link parallel}. */
export interface ParallelOptions<Policy extends PartialFailure = PartialFailure> extends OrderOptions {
  /** How many branches run at once. Default: all. */
  readonly concurrency?: number;
  /**
   * What a failed branch means for the other branches. Default: `'abort'`.
   *
   * - `'abort'`: they are aborted at once, and the step fails;
   * - `'continue'`: they go on. The step succeeds if at least one branch does, and the value of a failed branch is
   *   `{ error: { code, message } }`;
   * - `'rollback'`: they go on. Then all calls of the branches that succeeded and have `compensate` are undone, the
   *   last one first, and the step fails.
   */
  readonly onPartialFailure?: Policy;
}

/**
 * Runs steps side by side. The value is an object of their values, by the names of the branches.
 *
 * @example
 * ```ts
 * @Step() booked = parallel(
 *   {
 *     flight: call(BookFlight, { id: this.flight }, { compensate: (out) => call(CancelFlight, { id: out.id }) }),
 *     hotel: call(BookHotel, { id: this.hotel }, { compensate: (out) => call(CancelHotel, { id: out.id }) }),
 *   },
 *   { onPartialFailure: 'rollback' },
 * );
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function parallel<Branches extends object, const Policy extends PartialFailure = 'abort'>(
  _branches: Branches & BranchesFault<Branches>,
  _options?: ParallelOptions<Policy>,
): { [K in keyof Branches]: BranchValue<Branches[K], Policy> } {
  throw new WorkflowNotRunnableError('parallel(...)');
}

/** Options of {@link forEach}. */
export interface ForEachOptions<Policy extends ItemFailure = ItemFailure> extends OrderOptions {
  /** How many items are processed at once, 1 to 100. Default: 1. */
  readonly concurrency?: number;
  /**
   * The greatest number of items. A longer list fails the step before the first item starts. Default: 1 000. At most
   * 100 000, since no run starts more steps.
   */
  readonly max?: number;
  /**
   * What a failed item means. Default: `'fail'`.
   *
   * - `'fail'`: no further item starts, items in progress settle, and the step fails;
   * - `'settle'`: all items settle, with `concurrency: 1` those up to the first failure, and the step fails;
   * - `'continue'`: the value of the item is `null`;
   * - `'report'`: the value of the item is `{ error: { code, message } }`.
   */
  readonly onItemError?: Policy;
  /**
   * The class of the agent of the client that each item is handed to: it drives the steps of the body one by one, without
   * the state of the rest. Default: the items are driven by the one that drives the run.
   */
  readonly agent?: AgentClass;
}

/**
 * Runs a step for each item of a list. The value is the list of their values in the order of the items; an absent value
 * is `null`. With one item at a time the body may read the `results` of the items before it.
 *
 * @example
 * ```ts
 * @Step() lines = forEach(this.body.lines, (line) => run(AddLine, { line }), { concurrency: 4, max: 100 });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
// `Item = never`: for a first argument that is not a list, TypeScript reports that and nothing inside the body.
export function forEach<Item = never, Value = unknown, const Policy extends ItemFailure = 'fail'>(
  _items: readonly Item[],
  _body: (item: Item, index: number, results: readonly unknown[]) => Value,
  _options?: ForEachOptions<Policy>,
): ItemValue<Value, Policy>[] {
  throw new WorkflowNotRunnableError('forEach(...)');
}

/** Options of {@link goto}. */
export interface GotoOptions extends OrderOptions {
  /** The greatest number of times it goes back, 1 to 100. */
  readonly max: number;
  /** After `max` times: `'fail'` fails the step, `'continue'` continues with the next step. Default: `'fail'`. */
  readonly onLimit?: 'fail' | 'continue';
}

/**
 * Goes back to an earlier step of the same workflow. Every step from there on runs again, without the values it had;
 * state is kept. It has no value.
 *
 * @example
 * ```ts
 * @Step() again = this.draft.score > 0.5 ? undefined : goto(this.draft, { max: 3 });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function goto(_step: unknown, _options: GotoOptions): undefined {
  throw new WorkflowNotRunnableError('goto(...)');
}

/**
 * Waits for a span of at most ten years, or until a moment; a moment in the past passes at once. It has no value.
 *
 * @example
 * ```ts
 * @Step() pause = wait({ seconds: 2 });
 * @Step() due = wait({ until: this.task.startsAt });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function wait(_span: Span, _options?: OrderOptions): undefined {
  throw new WorkflowNotRunnableError('wait(...)');
}

/** The values of a `V` that `match` has arms for. */
type CaseOf<V> = Extract<Unmark<V>, string | number>;

/** Why `match` does not take a value of type `V`, or `unknown`. Authors see the text. */
type MatchFault<V> =
  string extends CaseOf<V>
    ? ['match has an arm for each value there is, and any text is too many: use conditions']
    : number extends CaseOf<V>
      ? ['match has an arm for each value there is, and any number is too many: use conditions']
      : unknown;

/**
 * `Arms`, with an error in place of each arm whose key is not a value of `V`. Authors see the text. An intersection of
 * `Arms` and the errors would not do: if an arm is `undefined` it reduces to `never`, an error for every arm. By `& {}`
 * messages show the arms, and not this name.
 */
type KnownArms<V, Arms> = {
  readonly [K in keyof Arms]: K extends CaseOf<V> | `${CaseOf<V>}` ? Arms[K] : ['the value is never', K];
} & {};

/** The value of a failed branch of `parallel` with `onPartialFailure: 'continue'`. */
export interface FailedBranch {
  readonly error: { readonly code: string; readonly message: string };
}

/**
 * `T` with an absent `error` if it is an object without one, so that `error` distinguishes it from {@link
 * FailedBranch}.
 */
type Unfailed<T> = T extends object ? ('error' extends keyof T ? T : T & { readonly error?: undefined }) : T;

/** What a failed branch of `parallel` means for the others: see {@link ParallelOptions.onPartialFailure}. */
export type PartialFailure = 'abort' | 'continue' | 'rollback';

/** The value of a branch of `parallel`. */
type BranchValue<Value, Policy> = Policy extends 'continue'
  ? Unfailed<Unmark<Value>> | FailedBranch
  : Unmark<Value>;

/** Why `parallel` does not take these branches, or `unknown`. Authors see the text. */
type BranchesFault<Branches> = Branches extends readonly unknown[]
  ? ['branches have names: parallel({ first: …, second: … })']
  : unknown;

/** What a failed item of `forEach` means: see {@link ForEachOptions.onItemError}. */
export type ItemFailure = 'fail' | 'continue' | 'settle' | 'report';

/** `T`, with `null` for an absent value: JSON has no absent values in lists. */
type Listed<T> = unknown extends T ? T : T extends void ? null : T;

/** The value of an item of `forEach`. */
type ItemValue<Value, Policy> = Policy extends 'continue'
  ? Listed<Unmark<Value>> | null
  : Policy extends 'report'
    ? Unfailed<Listed<Unmark<Value>>> | FailedBranch
    : Listed<Unmark<Value>>;

/** Units of time for `wait`. They add up. */
export interface Duration {
  readonly seconds: number;
  readonly minutes: number;
  readonly hours: number;
  readonly days: number;
}

/** At least one of the properties. */
type SomeOf<T> = { [K in keyof T]: Pick<T, K> & Partial<Omit<T, K>> }[keyof T];

type NoneOf<T> = { readonly [K in keyof T]?: undefined };

/** A moment for `wait`. */
export interface Moment {
  /** Milliseconds since the Unix epoch, or an RFC 3339 time such as `2026-01-31T12:00:00Z`. */
  readonly until: number | string;
}

/** How long to wait, in one or more units that add up, or until when. */
export type Span = (SomeOf<Duration> & NoneOf<Moment>) | (Moment & NoneOf<Duration>);

/** Options of the questions to a person. */
export interface AskOptions extends OrderOptions {
  /**
   * Who may answer, exclusively: `role('lead')`, `[owner(), role('lead')]`. The question is shown to these callers
   * only, in `list_workflows`; the owner of the run, if not named, is refused. Default: the owner of the run.
   */
  readonly answerBy?: Answerer | readonly [Answerer, ...Answerer[]];
  /**
   * When an open question is marked as reminded, in milliseconds: in the log, in the state of the run, in its spans. It
   * is given once for each attempt, and is less than `timeoutMs`. Default: no reminder.
   */
  readonly remindAfterMs?: number;
  /** Who may answer as well from the reminder on. Default: the same callers. */
  readonly escalateTo?: Answerer | readonly [Answerer, ...Answerer[]];
}

/** Options of `ask.confirm`. */
export interface ConfirmOptions<Out = never> extends AskOptions {
  /**
   * The call that a yes permits: `call(Tool, input)`, or `onClient(call(…))`. The question shows the tool and its whole
   * input, secrets masked, and the step is that call: its value is the tool's output, and absent after a no. If the input
   * that would be sent differs from the one that was shown, the question is asked again and says why. `timeoutMs` of the
   * step limits the question and each attempt of the call. Default: the answer permits no call, and is the value.
   */
  readonly approves?: Out;
}

/** Options of `ask.value`. */
export interface AskValueOptions extends AskOptions, AskModelOptions {}

/** Options of `ask.model`. */
export interface AskModelOptions extends OrderOptions {
  /**
   * JSON Schema of the value, written out: `{ type: 'string', maxLength: 80 }`. It takes precedence over the schema
   * derived from the type. Default: derived from the type.
   */
  readonly schema?: JsonSchema;
}

/**
 * Questions to the person behind the client, or to the callers that `answerBy` names, and values from a model. The step
 * waits for the answer; steps that do not depend on it go on. There is a time limit only if the step has `timeoutMs`.
 */
export interface Ask {
  /**
   * Shows a message, and waits until the person has seen it. It has no value.
   *
   * @example
   * ```ts
   * @Step() told = ask.info(prompt`Use ${NormalizeProject} as ${LogseqIntro} says`);
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  info(message: string, options?: AskOptions): undefined;

  /**
   * Asks for yes or no. The value is `true` for yes; with `approves` it is that of the call.
   *
   * @example
   * ```ts
   * @Step() sure = ask.confirm(`Remove ${this.page.name}?`);
   * @Step() stop = this.sure ? undefined : fail('cancelled');
   * @Step() paid = ask.confirm('Pay it?', { approves: call(Pay, { amount: this.total }) });
   * @Step() approved = ask.confirm(`Pay ${this.total}?`, { answerBy: role('lead', { except: owner() }) });
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  confirm<Out = never>(
    message: string,
    options?: ConfirmOptions<Out>,
  ): [Out] extends [never] ? boolean : Out | undefined;

  /**
   * Asks for text. The value is the text.
   *
   * @example
   * ```ts
   * @Step() note = ask.text('Note?');
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  text(message: string, options?: AskOptions): string;

  /**
   * Asks for one of several texts. The value is the chosen one. If the options are literals, their union is its type.
   *
   * @param options one or more distinct texts.
   * @example
   * ```ts
   * @Step() where = ask.choice('Where?', ['top', 'bottom']); // 'top' | 'bottom'
   * @Step() page = ask.choice('Which page?', this.pages.names); // string
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  choice<const Option extends string>(
    message: string,
    options: readonly Option[],
    more?: AskOptions,
  ): Unmark<Option>;

  /**
   * Asks for one of several items, which are shown by their labels. The value is the chosen item.
   *
   * @param items one or more items.
   * @param label returns the label of an item. Labels are distinct.
   * @example
   * ```ts
   * @Step() flight = ask.pick('Which flight?', this.found.flights, (flight) => `${flight.from} ${flight.departs}`);
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  pick<Item = never>(
    message: string,
    items: readonly Item[],
    label: (item: Item) => string,
    options?: AskOptions,
  ): Unmark<Item>;

  /**
   * Asks for a value of a type: any JSON, an object or a list too. The value is the answer.
   *
   * @example
   * ```ts
   * @Step() address = ask.value<{ street: string; city: string }>('Where to?');
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  value<T = never>(message: string, options?: AskValueOptions): T;

  /**
   * Asks a model for a value: that of the operator, or of the client. As an input of `call` or `run` its type and its
   * schema are those of the input; as a step, those of the type argument. No person is asked. The step fails with
   * `E_MODEL_VALUE` if the third value does not fit the schema either.
   *
   * @param message what the model is asked for. A message that names a secret is refused.
   * @example
   * ```ts
   * @Step() added = call(AddTask, { project: this.project, formatted_task: ask.model('Format the task as a block') });
   * @Step() titled = ask.model<{ title: string }>(`Write a title for ${this.task}`);
   * ```
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  model<T = never>(message: string, options?: AskModelOptions): T;
}

const unrunnable = (mode: keyof Ask) => (): never => {
  throw new WorkflowNotRunnableError(`ask.${mode}(...)`);
};

/** Asks the person behind the client, or a model: see {@link Ask}. */
export const ask: Ask = {
  info: unrunnable('info'),
  confirm: unrunnable('confirm'),
  text: unrunnable('text'),
  choice: unrunnable('choice'),
  pick: unrunnable('pick'),
  value: unrunnable('value'),
  model: unrunnable('model'),
};
