/**
 * The two ways TypeScript calls a decorator, in one signature each: legacy (`experimentalDecorators`) hands over the
 * class, or the prototype and a key; TC39 hands over the value and a context.
 */

/** Decorates classes assignable to `Class`. */
export type DecoratesClass<Class extends abstract new (...deps: never[]) => object> = <T extends Class>(
  target: T,
  context?: ClassDecoratorContext<T>,
) => void;

/** What TC39 says of a public field of the instance; other fields are no place for a decorator of ours. */
type FieldContext<This = unknown, Value = unknown> = ClassFieldDecoratorContext<This, Value> & {
  readonly name: string;
  readonly static: false;
  readonly private: false;
};

/**
 * What a decorator of fields is handed first: the prototype of a class (legacy), which a class itself, the target for
 * a static member, is not: that has a property `prototype`; or nothing (TC39).
 */
export type FieldTarget = (object & { readonly prototype?: never }) | undefined;

/** What a decorator of fields is handed second: the field's name (legacy) or its context (TC39). */
export type FieldKey = string | FieldContext;

/** The type of a decorated field. A private field of a legacy target is no key of it: `unknown`. */
export type FieldType<T, K> =
  K extends FieldContext<infer _This, infer Value> ? Value : K extends keyof T ? T[K] : unknown;

/** Whether `exactOptionalPropertyTypes` is on where this is compiled: a property that is left out is not `undefined`. */
type IsExact = { readonly a: undefined } extends { readonly a?: 1 } ? false : true;

/**
 * What an author may write where a `T` is wanted. Under `exactOptionalPropertyTypes` a property that may be left out
 * may be `undefined` all the same, since absent values are dropped on the way to a tool; without that option TypeScript
 * says so itself, and this is `T`.
 */
export type Given<T> = IsExact extends true ? WithOptional<T, undefined> : T;

/**
 * What a tool is handed of input that fits a schema with the output `T`. Under `exactOptionalPropertyTypes` a property
 * that may be left out is never `undefined`, whatever its schema says: JSON has no such value.
 */
export type Received<T> = IsExact extends true ? WithOptional<T, never> : T;

/** `T`, its optional properties `Absent` besides what they hold and never `undefined` otherwise, however deep. */
type WithOptional<T, Absent> = unknown extends T
  ? T
  : // Lists are written out: a mapped type over them is expanded at once, which never ends for a recursive type.
    T extends (infer Item)[]
    ? number extends T['length']
      ? WithOptional<Item, Absent>[]
      : T
    : T extends readonly (infer Item)[]
      ? number extends T['length']
        ? readonly WithOptional<Item, Absent>[]
        : T
      : T extends (...args: never[]) => unknown
        ? T
        : T extends object
          ? {
              [K in keyof T]: IsOptional<T, K> extends true
                ? WithOptional<Exclude<T[K], undefined>, Absent> | Absent
                : WithOptional<T[K], Absent>;
            }
          : T;

/** An index signature is not optional: `undefined` under a name of the author's own is a mistake. */
type IsOptional<T, K extends keyof T> = string extends K
  ? false
  : number extends K
    ? false
    : Record<never, never> extends Pick<T, K>
      ? true
      : false;

/** What a constant of type `T` may be written as. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
