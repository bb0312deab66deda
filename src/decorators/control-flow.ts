import type { Unmark } from './arg.js';
import { WorkflowNotRunnableError } from './errors.js';

/**
 * Takes the arm that stands under a value: one of a few texts or numbers, with an arm for each. The value is that of
 * the arm. What goes by a condition is a plain `? :`.
 *
 * @example
 * ```ts
 * @Step() routed = match(this.body.kind, {
 *   bug: call(AddContent, { content: this.task }),
 *   feature: run(AddLine, { line: this.task }),
 *   chore: undefined,
 * });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function match<V extends string | number, Arms extends Readonly<Record<CaseOf<V>, unknown>>>(
  _value: V & MatchFault<V>,
  _arms: KnownArms<V, Arms>,
): Unmark<Arms[CaseOf<V>]> {
  throw new WorkflowNotRunnableError('match(...)');
}

/** Options of {@link parallel}. */
export interface ParallelOptions<Policy extends PartialFailure = PartialFailure> {
  /** How many branches run at once. Default: all. */
  readonly concurrency?: number;
  /**
   * What a branch that fails means for the others. Default: `'abort'`.
   *
   * - `'abort'`: they are given up at once, and the step fails;
   * - `'continue'`: they go on. Where one succeeds the step does, and branches that failed stand as
   *   `{ error: { code, message } }`;
   * - `'rollback'`: they go on, then every call of the branches that succeeded and has `compensate` is undone, the
   *   last one first, and the step fails.
   */
  readonly onPartialFailure?: Policy;
}

/**
 * Carries out steps side by side. The value is an object of theirs.
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
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function parallel<Branches extends object, const Policy extends PartialFailure = 'abort'>(
  _branches: Branches & BranchesFault<Branches>,
  _options?: ParallelOptions<Policy>,
): { [K in keyof Branches]: BranchValue<Branches[K], Policy> } {
  throw new WorkflowNotRunnableError('parallel(...)');
}

/** Options of {@link forEach}. */
export interface ForEachOptions<Policy extends ItemFailure = ItemFailure> {
  /** How many items are worked on at once, 1 to 100. Default: 1, one after the other. */
  readonly concurrency?: number;
  /**
   * More items than this are refused before the first one begins. Default: 1 000. At most 100 000: no run starts more
   * steps.
   */
  readonly max?: number;
  /**
   * What an item that fails means. Default: `'fail'`.
   *
   * - `'fail'`: no further item begins, and the step fails;
   * - `'continue'`: `null` stands in its place.
   */
  readonly onItemError?: Policy;
}

/**
 * Carries out a step for each item of a list. The value is the list of theirs, in the order of the items; an absent
 * one is `null`.
 *
 * @example
 * ```ts
 * @Step() lines = forEach(this.body.lines, (line) => run(AddLine, { line }), { concurrency: 4, max: 100 });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
// What is no list is a fault by itself: its items are `never`, at which nothing else is one.
export function forEach<Item = never, Value = unknown, const Policy extends ItemFailure = 'fail'>(
  _items: readonly Item[],
  _body: (item: Item, index: number) => Value,
  _options?: ForEachOptions<Policy>,
): ItemValue<Value, Policy>[] {
  throw new WorkflowNotRunnableError('forEach(...)');
}

/** Options of {@link goto}. */
export interface GotoOptions {
  /** How often it goes back at most, 1 to 100. */
  readonly max: number;
  /** Past that the step fails, or the run goes on behind it. Default: `'fail'`. */
  readonly onLimit?: 'fail' | 'continue';
}

/**
 * Goes back to an earlier step of the workflow: everything from there on is done again, without the outputs it had.
 * State stays. It has no value.
 *
 * @example
 * ```ts
 * @Step() again = this.draft.score > 0.5 ? undefined : goto(this.draft, { max: 3 });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function goto(_step: unknown, _options: GotoOptions): undefined {
  throw new WorkflowNotRunnableError('goto(...)');
}

/**
 * Waits for a while, or until a moment; one that is over passes at once. At most 366 days. It has no value.
 *
 * @example
 * ```ts
 * @Step() pause = wait({ seconds: 2 });
 * @Step() due = wait({ until: this.task.startsAt });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function wait(_span: Span): undefined {
  throw new WorkflowNotRunnableError('wait(...)');
}

/** The values that a `match` of a `V` has arms for. */
type CaseOf<V> = Extract<Unmark<V>, string | number>;

/** Why nothing can be matched with a value of type `V`, or `unknown`. The text reaches authors. */
type MatchFault<V> =
  string extends CaseOf<V>
    ? ['match has an arm for each value there is, and any text is too many: use conditions']
    : number extends CaseOf<V>
      ? ['match has an arm for each value there is, and any number is too many: use conditions']
      : unknown;

/**
 * Arms as they are, but for those under a value that never comes, which are faults. The text reaches authors. Not an
 * intersection: of one with a fault in the place of `undefined` nothing would be left, and all arms would be faults.
 */
type KnownArms<V, Arms> = {
  readonly [K in keyof Arms]: K extends CaseOf<V> | `${CaseOf<V>}` ? Arms[K] : ['the value is never', K];
};

/** What a branch of `parallel` that failed leaves behind under `onPartialFailure: 'continue'`. */
export interface FailedBranch {
  readonly error: { readonly code: string; readonly message: string };
}

/** Beside a {@link FailedBranch}: `error` tells them apart, wherever a branch gives an object without one. */
type Unfailed<T> = T extends object ? ('error' extends keyof T ? T : T & { readonly error?: undefined }) : T;

/** What a `parallel` does when some branches fail, and others do not. */
export type PartialFailure = 'abort' | 'continue' | 'rollback';

/** What a branch of `parallel` gives. */
type BranchValue<Value, Policy> = Policy extends 'continue'
  ? Unfailed<Unmark<Value>> | FailedBranch
  : Unmark<Value>;

/** Why these cannot be branches, or `unknown`. The text reaches authors. */
type BranchesFault<Branches> = Branches extends readonly unknown[]
  ? ['branches have names: parallel({ first: …, second: … })']
  : unknown;

/** What a `forEach` does when the body fails for an item. */
export type ItemFailure = 'fail' | 'continue';

/** What a list holds for an item: JSON has no absent values in lists. */
type Listed<T> = unknown extends T ? T : T extends void ? null : T;

/** What the body of `forEach` gives for an item. */
type ItemValue<Value, Policy> = Policy extends 'continue'
  ? Listed<Unmark<Value>> | null
  : Listed<Unmark<Value>>;

/** Units of time for `wait`. */
export interface Duration {
  readonly seconds: number;
  readonly minutes: number;
  readonly hours: number;
  readonly days: number;
}

/** At least one of the properties. */
type SomeOf<T> = { [K in keyof T]: Pick<T, K> & Partial<Omit<T, K>> }[keyof T];

type NoneOf<T> = { readonly [K in keyof T]?: undefined };

/** Until when to wait. */
export interface Moment {
  /** Milliseconds since the epoch, or a time such as `2026-01-31T12:00:00Z` (RFC 3339). */
  readonly until: number | string;
}

/** How long to wait, where the units given add up, or until when. */
export type Span = (SomeOf<Duration> & NoneOf<Moment>) | (Moment & NoneOf<Duration>);

/** Questions to the person behind the client. A step that asks waits for the answer; what does not need it goes on. */
export interface Ask {
  /**
   * Tells something, and waits until it was seen. It has no value.
   *
   * @example
   * ```ts
   * @Step() told = ask.info(prompt`Use ${NormalizeProject} as ${LogseqIntro} says`);
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  info(message: string): undefined;

  /**
   * Asks for yes or no. The value is `true` for yes.
   *
   * @example
   * ```ts
   * @Step() sure = ask.confirm(`Remove ${this.page.name}?`);
   * @Step() stop = this.sure ? undefined : fail('cancelled');
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  confirm(message: string): boolean;

  /**
   * Asks for text. The value is what was written.
   *
   * @example
   * ```ts
   * @Step() note = ask.text('Note?');
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  text(message: string): string;

  /**
   * Asks for one of some texts. The value is the one that was chosen; written out, they are its type.
   *
   * @param options at least one, none twice.
   * @example
   * ```ts
   * @Step() where = ask.choice('Where?', ['top', 'bottom']); // 'top' | 'bottom'
   * @Step() page = ask.choice('Which page?', this.pages.names); // string
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  choice<const Option extends string>(message: string, options: readonly Option[]): Unmark<Option>;

  /**
   * Asks for one of some items, shown by their labels. The value is the item that was chosen, as a whole.
   *
   * @param items at least one.
   * @param label what stands for an item; the labels differ.
   * @example
   * ```ts
   * @Step() flight = ask.pick('Which flight?', this.found.flights, (flight) => `${flight.from} ${flight.departs}`);
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  pick<Item = never>(message: string, items: readonly Item[], label: (item: Item) => string): Unmark<Item>;
}

const unrunnable = (mode: keyof Ask) => (): never => {
  throw new WorkflowNotRunnableError(`ask.${mode}(...)`);
};

/** Asks the person behind the client: see {@link Ask}. */
export const ask: Ask = {
  info: unrunnable('info'),
  confirm: unrunnable('confirm'),
  text: unrunnable('text'),
  choice: unrunnable('choice'),
  pick: unrunnable('pick'),
};
