import type { Json } from '../graph/json.js';
import { decorateField, optionsOf } from './record.js';
import type { FieldContext, InstanceSide } from './signatures.js';

declare const ARG: unique symbol;

/** Who gives the value: the caller, or a default where the caller leaves it out. */
export type Supply = 'caller' | 'default';

/** The mark of an {@link Arg}. Nothing carries it at run time; it is exported so that declaration files can name it. */
export interface ArgMark<S extends Supply = Supply> {
  readonly [ARG]?: S;
}

/**
 * A value supplied by the caller of a workflow, usable as a `T`; the mark is what `ArgsOf` looks for.
 *
 * `Arg<T, 'default'>` goes with the option `default`: never absent inside the workflow, optional for callers.
 * An argument that may be absent inside as well is an optional field: `date?: Arg<string>`.
 */
export type Arg<T, S extends Supply = 'caller'> = (T & ArgMark<S>) | Extract<T, null | undefined>;

/** `T` without the mark. */
export type Unmark<T> = T extends infer U & ArgMark<'caller'>
  ? U
  : T extends infer U & ArgMark<'default'>
    ? U
    : T;

/** Who supplies the value of a field of type `V`: `never` where it is no argument. `any` and `never` are none. */
export type SupplyOf<V> = 0 extends 1 & V
  ? never
  : typeof ARG extends keyof NonNullable<V>
    ? Exclude<NonNullable<V>[typeof ARG & keyof NonNullable<V>], undefined>
    : never;

/** Options of {@link Arg}. */
export interface ArgOptions<Default extends Json | undefined = Json | undefined> {
  /** What the value means, for whoever supplies it. */
  readonly description: string;
  /** A name for people. Default: the field's name. */
  readonly title?: string;
  /** What stands in where the caller leaves the argument out; the field is then an `Arg<T, 'default'>`. */
  readonly default?: Default;
  /** Masked in traces, logs and spans. Default: `false`. */
  readonly secret?: boolean;
}

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** Why a field of type `V` cannot stand under `@Arg` with this default, or `never`. The texts reach authors. */
type ArgFault<V, Default> = [SupplyOf<V>] extends [never]
  ? ['declare this field as Arg<T>']
  : [Default] extends [undefined]
    ? SupplyOf<V> extends 'caller'
      ? never
      : ["Arg<T, 'default'> goes with @Arg({ default: … })"]
    : SupplyOf<V> extends 'default'
      ? [Default] extends [Frozen<Unmark<V>>]
        ? never
        : ['the default does not fit the type of this argument']
      : ["an argument with a default is declared as Arg<T, 'default'>"];

/** Decorates a field that is declared as `Arg<T>`. */
export interface DecoratesArg<Default> {
  <T extends object & InstanceSide, K extends keyof T & string>(
    target: T,
    key: [ArgFault<T[K], Default>] extends [never] ? K : ArgFault<T[K], Default>,
    onlyFields?: never,
  ): void;
  <This, V>(
    value: undefined,
    context: FieldContext<This, V> &
      ([ArgFault<V, Default>] extends [never] ? unknown : ArgFault<V, Default>),
  ): void;
}

/**
 * Makes a field of a workflow an argument: what a caller supplies. The field is declared as `Arg<T>`.
 *
 * @example
 * ```ts
 * @Arg({ description: 'What needs doing' }) task!: Arg<string>;
 * @Arg({ description: 'Date' }) date?: Arg<string>;
 * @Arg({ description: 'At most', default: 10 }) limit!: Arg<number, 'default'>;
 * ```
 * @throws TypeError when it is given no options, or decorates anything but a public field of the instance.
 */
// biome-ignore lint/suspicious/noRedeclare: one name for the decorator and the type that goes with it
export function Arg<const Default extends Json | undefined = undefined>(
  options: ArgOptions<Default>,
): DecoratesArg<Default>;
export function Arg(...given: readonly unknown[]): DecoratesArg<Json | undefined> {
  const options = optionsOf<ArgOptions>('Arg', given);
  return (...decorated: readonly unknown[]) => decorateField('Arg', decorated, options);
}
