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

/** `'caller'`: the caller supplies the value; `'default'`: it may be left out, and the option `default` applies. */
type Supply = 'caller' | 'default';

/**
 * The compile-time mark of an {@link Arg}; no value has it at run time. Exported so that declaration files can name it.
 */
export interface ArgMark<S extends Supply = Supply> {
  readonly [ARG]?: S;
}

/**
 * The type of an argument of a workflow or prompt: a `T` that the caller supplies, with a mark that `ArgsOf` reads.
 *
 * `Arg<T, 'default'>` requires the option `default`: the argument is optional for callers and never absent in the
 * workflow. An argument that may be absent in the workflow too is an optional field: `date?: Arg<string>`.
 */
export type Arg<T, S extends Supply = 'caller'> = (T & ArgMark<S>) | Extract<T, null | undefined>;

/** `T` without the mark of {@link Arg}. */
export type Unmark<T> = T extends infer U & ArgMark<'caller'>
  ? U
  : T extends infer U & ArgMark<'default'>
    ? U
    : T;

/**
 * The `Supply` of a field of type `V`; `never` if the field is not an argument, as with `any`, `unknown` and `never`.
 */
export type SupplyOf<V> = [unknown] extends [V]
  ? never
  : typeof ARG extends keyof NonNullable<V>
    ? Exclude<NonNullable<V>[typeof ARG & keyof NonNullable<V>], undefined>
    : never;

/** Options of {@link Arg}. The rules must apply to the type of the field. */
export interface ArgOptions extends ValueRules {
  /** What the value means, for the caller. */
  readonly description: string;
  /**
   * The name for callers, if it differs from the field's: `@Arg({ name: 'task-name', … }) taskName!: Arg<string>`. An
   * identifier, which may also have `.` and `-` inside. TypeScript code uses the field. Default: the field's name.
   */
  readonly name?: string;
  /** A name for people. Default: the name for callers. */
  readonly title?: string;
  /** The value if the caller leaves the argument out. The field is then declared as `Arg<T, 'default'>`. */
  readonly default?: Json;
  /** Whether the value is masked in traces, logs and spans. Default: `false`. */
  readonly secret?: boolean;
  /**
   * Suggests values for the text typed so far, the most likely first. Called when a client asks for completions; values
   * after the first 100 are dropped. Default: the values of a union, an `enum` or a boolean.
   */
  readonly complete?: (
    value: string,
    context: CompletionContext,
  ) => readonly string[] | Promise<readonly string[]>;
}

/** The options whose types are compared with the type of the field. */
interface TypedOptions<Default, Values, Item, Keys, Properties> {
  readonly default: Default;
  readonly enum: Values;
  readonly itemType: Item;
  readonly requiredKeys: Keys;
  readonly properties: Properties;
}

/** Why `@Arg` with these options does not apply to a field of type `V`, or `never`. Authors see the texts. */
type ArgFault<V, Names, Options> = [SupplyOf<V>] extends [never]
  ? ['declare this field as Arg<T>']
  : [keyof ArgOptions] extends [Names]
    ? never // TypeScript could not infer which options are given: it reports their own error.
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
 * Makes a field of a workflow or a prompt an argument, which the caller supplies. The field is declared as `Arg<T>`.
 * Values that break a rule are refused before the run starts.
 *
 * @example
 * ```ts
 * @Arg({ description: 'What needs doing' }) task!: Arg<string>;
 * @Arg({ description: 'Date' }) date?: Arg<string>;
 * @Arg({ description: 'At most', type: 'integer', min: 1, default: 10 }) limit!: Arg<number, 'default'>;
 * @Arg({ description: 'Page', complete: (typed, { signal }) => pageNames(typed, signal) }) page!: Arg<string>;
 * ```
 * @throws TypeError without options, on anything but a public instance field, and on a field with `@Arg` or `@Step`.
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
  // `Names` only infers which options are given. Written out, since messages would show `Partial<TypedOptions<…>>`.
  options: ArgOptions & {
    readonly default?: Default;
    readonly enum?: Values;
    readonly itemType?: Item;
    readonly requiredKeys?: Keys;
    readonly properties?: Properties;
  } & { readonly [Name in Names]: unknown },
): DecoratesArg<Names, TypedOptions<Default, Values, Item, Keys, Properties>>;
export function Arg(...args: readonly unknown[]): DecoratesArg<never, unknown> {
  const options = optionsOf<ArgOptions>('Arg', args);
  return (...decorated: readonly unknown[]) => decorateField('Arg', decorated, options);
}

/** The TypeScript types of the JSON types and of integers. */
interface JsonTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly array: readonly unknown[];
  readonly object: object;
}

export type JsonTypeName = keyof JsonTypes;

/** Rules for a value beyond its TypeScript type. Each rule applies to one kind of value. */
export interface ValueRules {
  /** Numbers: no fraction. All other types follow from the TypeScript type. */
  readonly type?: 'integer';
  /**
   * Text: an ECMAScript regular expression with the flag `u`, without lookaround and back-references. It matches
   * anywhere in the text unless it has anchors.
   */
  readonly pattern?: string;
  /** Text: the least number of characters. */
  readonly minLength?: number;
  /** Text: the greatest number of characters. */
  readonly maxLength?: number;
  /** Text and numbers: all permitted values. */
  readonly enum?: readonly (string | number)[];
  /** Numbers: the least value, inclusive. */
  readonly min?: number;
  /** Numbers: the greatest value, inclusive. */
  readonly max?: number;
  /** Lists: the least number of items. */
  readonly minItems?: number;
  /** Lists: the greatest number of items. */
  readonly maxItems?: number;
  /** Lists: the type of the items, if the TypeScript type is less specific. */
  readonly itemType?: JsonTypeName;
  /** Objects: required properties, in addition to those that the TypeScript type requires. */
  readonly requiredKeys?: readonly string[];
  /** Objects: rules for the values of properties, by property. */
  readonly properties?: Readonly<Record<string, ValueRules>>;
}

type TextRule = 'pattern' | 'minLength' | 'maxLength';
type NumberRule = 'type' | 'min' | 'max';
type ListRule = 'minItems' | 'maxItems' | 'itemType';
type ObjectRule = 'requiredKeys' | 'properties';

/** `[Names, Text]` if rules with these names do not apply to a `V`, since it is not of this `Kind`; else `never`. */
type Misplaced<V, Names, Kind, Text extends string> = [Names] extends [never]
  ? never
  : [V] extends [Kind]
    ? never
    : [Names, Text];

/** `V`, with arrays replaced by a type that is not an object: TypeScript's objects include arrays, JSON's do not. */
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
 * Why rules do not apply to a value of type `V`, or `never`. `null` and `undefined` in `V` are ignored. Authors see the
 * texts.
 *
 * @typeParam Names the names of the rules that are given.
 * @typeParam Values the types of those rules whose values are compared with `V`.
 */
type RuleFault<V, Names, Values> = unknown extends V ? never : PresentFault<NonNullable<V>, Names, Values>;

type NamesSuppliedBy<W, S> = {
  [K in keyof W]-?: [SupplyOf<W[K]>] extends [never] ? never : SupplyOf<W[K]> extends S ? K : never;
}[keyof W];

// Both are homomorphic over `W`, without an `as` clause, so that rename and go-to-definition reach the field.
type FromCaller<W, N extends keyof W> = { [K in N]: Unmark<W[K]> };
type WithDefault<W, N extends keyof W> = { [K in N]?: Unmark<W[K]> };

/**
 * The arguments that a caller of workflow or prompt `W` supplies: its `Arg<T>` fields as `T`, by field name. Optional
 * fields and those with a default are optional.
 */
export type ArgsOf<W> = Flat<
  FromCaller<W, NamesSuppliedBy<W, 'caller'>> & WithDefault<W, NamesSuppliedBy<W, 'default'>>
>;
