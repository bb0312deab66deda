import type { Json } from '../graph/json.js';
import type { JsonTypeName, RuleFault, ValueRules } from './arg-rules.js';
import type { CompletionContext } from './context.js';
import type { Frozen } from './given.js';
import { decorateField, optionsOf } from './record.js';
import type { FieldKey, FieldTarget, FieldType } from './signatures.js';

declare const ARG: unique symbol;

/** Who gives the value: the caller, or a default where the caller leaves it out. */
type Supply = 'caller' | 'default';

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

/** Who supplies the value of a field of type `V`: `never` where it is no argument. `any`, `unknown` and `never` are none. */
export type SupplyOf<V> = [unknown] extends [V]
  ? never
  : typeof ARG extends keyof NonNullable<V>
    ? Exclude<NonNullable<V>[typeof ARG & keyof NonNullable<V>], undefined>
    : never;

/** Options of {@link Arg}: what the value means, and the rules that go with the type of the field. */
export interface ArgOptions extends ValueRules {
  /** What the value means, for whoever supplies it. */
  readonly description: string;
  /**
   * The name callers know it by, where that is no identifier: `@Arg({ name: 'task-name', … }) taskName!: Arg<string>`.
   * Inside the class it is the field. Default: the field's name.
   */
  readonly name?: string;
  /** A name for people. Default: the name callers know it by. */
  readonly title?: string;
  /** What stands in where the caller leaves the argument out; the field is then an `Arg<T, 'default'>`. */
  readonly default?: Json;
  /** Masked in traces, logs and spans. Default: `false`. */
  readonly secret?: boolean;
  /**
   * Values that go on from the text typed so far, the likeliest first. A client that helps to fill in the argument
   * asks for them; more than 100 are cut.
   */
  readonly complete?: (
    value: string,
    context: CompletionContext,
  ) => readonly string[] | Promise<readonly string[]>;
}

/** The options whose values decide whether they fit a field. */
interface TypedOptions<Default, Values, Item, Keys, Properties> {
  readonly default: Default;
  readonly enum: Values;
  readonly itemType: Item;
  readonly requiredKeys: Keys;
  readonly properties: Properties;
}

/** Why a field of type `V` cannot stand under `@Arg` with these options, or `never`. The texts reach authors. */
type ArgFault<V, Names, Options> = [SupplyOf<V>] extends [never]
  ? ['declare this field as Arg<T>']
  : [keyof ArgOptions] extends [Names]
    ? never // What the options are could not be inferred, for a fault of their own.
    : DefaultFault<V, Options> | RuleFault<Unmark<V>, Names, Options>;

type DefaultFault<V, Options> = Options extends { readonly default: infer Default }
  ? [Default] extends [undefined]
    ? SupplyOf<V> extends 'caller'
      ? never
      : ["Arg<T, 'default'> goes with @Arg({ default: … })"]
    : SupplyOf<V> extends 'default'
      ? [Default] extends [Frozen<Unmark<V>>]
        ? never
        : ['the default does not fit the type of this argument']
      : ["an argument with a default is declared as Arg<T, 'default'>"]
  : never;

type UnknownIfNever<Fault> = [Fault] extends [never] ? unknown : Fault;

/** Decorates a field that is declared as `Arg<T>`. */
type DecoratesArg<Names, Options> = <T extends FieldTarget, const K extends FieldKey>(
  target: T,
  field: K & UnknownIfNever<ArgFault<FieldType<T, K>, Names, Options>>,
  onlyFields?: never,
) => void;

/**
 * Makes a field of a workflow or a prompt an argument: what a caller supplies. The field is declared as `Arg<T>`; rules
 * are checked before a run.
 *
 * @example
 * ```ts
 * @Arg({ description: 'What needs doing' }) task!: Arg<string>;
 * @Arg({ description: 'Date' }) date?: Arg<string>;
 * @Arg({ description: 'At most', type: 'integer', min: 1, default: 10 }) limit!: Arg<number, 'default'>;
 * @Arg({ description: 'Page', complete: (typed, { signal }) => pageNames(typed, signal) }) page!: Arg<string>;
 * ```
 * @throws TypeError when it is given no options, or decorates anything but a public field of the instance.
 */
// biome-ignore lint/suspicious/noRedeclare: one name for the decorator and the type that goes with it
export function Arg<
  Names extends keyof ArgOptions,
  const Default extends Json | undefined = undefined,
  const Values extends readonly (string | number)[] | undefined = undefined,
  const Item extends JsonTypeName | undefined = undefined,
  const Keys extends readonly string[] | undefined = undefined,
  const Properties extends Readonly<Record<string, ValueRules>> | undefined = undefined,
>(
  // `Names` infers which options are there; nothing else of it matters.
  options: ArgOptions &
    Partial<TypedOptions<Default, Values, Item, Keys, Properties>> & { readonly [Name in Names]: unknown },
): DecoratesArg<Names, TypedOptions<Default, Values, Item, Keys, Properties>>;
export function Arg(...given: readonly unknown[]): DecoratesArg<never, unknown> {
  const options = optionsOf<ArgOptions>('Arg', given);
  return (...decorated: readonly unknown[]) => decorateField('Arg', decorated, options);
}
