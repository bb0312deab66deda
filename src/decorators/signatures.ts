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
export type FieldContext<This = unknown, Value = unknown> = ClassFieldDecoratorContext<This, Value> & {
  readonly name: string;
  readonly static: false;
  readonly private: false;
};

/**
 * A target of a legacy decorator that is the prototype of a class: a class itself, the target for a static member,
 * has a property `prototype`.
 */
export interface InstanceSide {
  readonly prototype?: never;
}
