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
