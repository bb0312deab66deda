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
export type RuleFault<V, Names, Values> = unknown extends V
  ? never
  : PresentFault<NonNullable<V>, Names, Values>;
