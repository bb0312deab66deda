import type { SupplyOf, Unmark } from './arg.js';
import type { PromptText } from './prompt-content.js';

declare const RETURNS: unique symbol;

/** What `done(value)` gives: the mark that `ResultOf` looks for. */
export interface Returned<T> {
  readonly [RETURNS]: T;
}

type NamesSuppliedBy<W, S> = {
  [K in keyof W]-?: [SupplyOf<W[K]>] extends [never] ? never : SupplyOf<W[K]> extends S ? K : never;
}[keyof W];

// Both are homomorphic over `W`, without an `as` clause, so that rename and go-to-definition reach the field.
type FromCaller<W, N extends keyof W> = { [K in N]: Unmark<W[K]> };
type WithDefault<W, N extends keyof W> = { [K in N]?: Unmark<W[K]> };
type Flat<T> = { [K in keyof T]: T[K] };

/**
 * What a caller of workflow `W` supplies: its `Arg<T>` fields as `T`, optional where the field is optional or has a
 * default.
 */
export type ArgsOf<W> = Flat<
  FromCaller<W, NamesSuppliedBy<W, 'caller'>> & WithDefault<W, NamesSuppliedBy<W, 'default'>>
>;

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
