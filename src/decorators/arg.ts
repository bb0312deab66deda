import type { Json } from '../graph/json.js';
import type { CompletionContext } from './context.js';
import {
  decorateField,
  type FieldKey,
  type FieldTarget,
  type FieldType,
  type Flat,
  type Frozen,
  optionsOf,
} from './decorate.js';

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

/** The types of JSON, and integers, as TypeScript has them. */
interface JsonTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly array: readonly unknown[];
  readonly object: object;
}

export type JsonTypeName = keyof JsonTypes;

/** What a value must be beyond its TypeScript type. Each rule goes with one kind of value. */
export interface ValueRules {
  /** Numbers: without a fraction. What else a value is follows from its TypeScript type. */
  readonly type?: 'integer';
  /** Text: a regular expression, as of ECMAScript with the flag `u`, that is found in it. */
  readonly pattern?: string;
  /** Text: the fewest characters. */
  readonly minLength?: number;
  /** Text: the most characters. */
  readonly maxLength?: number;
  /** Text and numbers: all values there are. */
  readonly enum?: readonly (string | number)[];
  /** Numbers: the least. */
  readonly min?: number;
  /** Numbers: the greatest. */
  readonly max?: number;
  /** Lists: the fewest items. */
  readonly minItems?: number;
  /** Lists: the most items. */
  readonly maxItems?: number;
  /** Lists: what the items are, where the TypeScript type says less. */
  readonly itemType?: JsonTypeName;
  /** Objects: properties that must be there, besides those that the TypeScript type demands. */
  readonly requiredKeys?: readonly string[];
  /** Objects: rules for the values of properties. */
  readonly properties?: Readonly<Record<string, ValueRules>>;
}

type TextRule = 'pattern' | 'minLength' | 'maxLength';
type NumberRule = 'type' | 'min' | 'max';
type ListRule = 'minItems' | 'maxItems' | 'itemType';
type ObjectRule = 'requiredKeys' | 'properties';

/** Why the rules of these names cannot stand for a `V`, a value that is not of this `Kind`. */
type Misplaced<V, Names, Kind, Text extends string> = [Names] extends [never]
  ? never
  : [V] extends [Kind]
    ? never
    : [Names, Text];

/** A list is an object to TypeScript, not to JSON. */
type AsObject<V> = V extends readonly unknown[] ? 'a list' : V;

type EnumFault<V, Values> = Values extends { readonly enum: readonly (infer Value)[] }
  ? [Value] extends [V]
    ? never
    : ['no such value:', Exclude<Value, V>]
  : never;

type ItemFault<V, Values> = Values extends { readonly itemType: infer Name extends JsonTypeName }
  ? V extends readonly (infer Item)[]
    ? unknown extends Item
      ? never
      : [Item] extends [JsonTypes[Name]]
        ? never
        : ['the items are something else than', Name]
    : never
  : never;

type KeyFault<V, Values> = Values extends { readonly requiredKeys: readonly (infer Key)[] }
  ? [Key] extends [keyof V]
    ? never
    : ['no such property:', Exclude<Key, keyof V>]
  : never;

type PropertiesFault<V, Values> = Values extends { readonly properties: infer Properties }
  ? {
      [K in keyof Properties]-?: K extends keyof V
        ? Exclude<keyof Properties[K], keyof ValueRules> extends never
          ? RuleFault<V[K], keyof Properties[K], Properties[K]>
          : ['no such rule:', Exclude<keyof Properties[K], keyof ValueRules>]
        : ['no such property:', K];
    }[keyof Properties]
  : never;

type PresentFault<V, Names, Values> =
  | Misplaced<V, Extract<Names, TextRule>, string, 'goes with text'>
  | Misplaced<V, Extract<Names, NumberRule>, number, 'goes with a number'>
  | Misplaced<V, Extract<Names, ListRule>, readonly unknown[], 'goes with a list'>
  | EnumFault<V, Values>
  | ItemFault<V, Values>
  | (AsObject<V> extends object
      ? KeyFault<V, Values> | PropertiesFault<V, Values>
      : Misplaced<AsObject<V>, Extract<Names, ObjectRule>, object, 'goes with an object'>);

/**
 * Why rules cannot stand for a value of type `V`, or `never`. Rules hold for what is there: `null` and `undefined` do
 * not count. The texts reach authors.
 *
 * @typeParam Names the rules that are given.
 * @typeParam Values their values, as far as their types matter.
 */
type RuleFault<V, Names, Values> = unknown extends V ? never : PresentFault<NonNullable<V>, Names, Values>;

type NamesSuppliedBy<W, S> = {
  [K in keyof W]-?: [SupplyOf<W[K]>] extends [never] ? never : SupplyOf<W[K]> extends S ? K : never;
}[keyof W];

// Both are homomorphic over `W`, without an `as` clause, so that rename and go-to-definition reach the field.
type FromCaller<W, N extends keyof W> = { [K in N]: Unmark<W[K]> };
type WithDefault<W, N extends keyof W> = { [K in N]?: Unmark<W[K]> };

/**
 * What a caller of workflow `W` supplies: its `Arg<T>` fields as `T`, optional where the field is optional or has a
 * default.
 */
export type ArgsOf<W> = Flat<
  FromCaller<W, NamesSuppliedBy<W, 'caller'>> & WithDefault<W, NamesSuppliedBy<W, 'default'>>
>;
