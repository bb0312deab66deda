import type { Unmark } from './arg.js';

/** The values that a `match` of a `V` has arms for. */
export type CaseOf<V> = Extract<Unmark<V>, string | number>;

/** Why nothing can be matched with a value of type `V`, or `unknown`. The text reaches authors. */
export type MatchFault<V> =
  string extends CaseOf<V>
    ? ['match has an arm for each value there is, and any text is too many: use conditions']
    : number extends CaseOf<V>
      ? ['match has an arm for each value there is, and any number is too many: use conditions']
      : unknown;

/**
 * Arms as they are, but for those under a value that never comes, which are faults. The text reaches authors. Not an
 * intersection: of one with a fault in the place of `undefined` nothing would be left, and all arms would be faults.
 */
export type KnownArms<V, Arms> = {
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
export type BranchValue<Value, Policy> = Policy extends 'continue'
  ? Unfailed<Unmark<Value>> | FailedBranch
  : Unmark<Value>;

/** Why these cannot be branches, or `unknown`. The text reaches authors. */
export type BranchesFault<Branches> = Branches extends readonly unknown[]
  ? ['branches have names: parallel({ first: …, second: … })']
  : unknown;

/** What a `forEach` does when the body fails for an item. */
export type ItemFailure = 'fail' | 'continue';

/** What a list holds for an item: JSON has no absent values in lists. */
type Listed<T> = unknown extends T ? T : T extends void ? null : T;

/** What the body of `forEach` gives for an item. */
export type ItemValue<Value, Policy> = Policy extends 'continue'
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
