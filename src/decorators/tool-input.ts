import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Arg, SupplyOf, Unmark } from './arg.js';

/** The keys of an input that are declared as `Arg<T, 'default'>`. */
type DefaultedKeys<Input> = {
  [K in keyof Input]-?: [SupplyOf<Input[K]>] extends [never]
    ? never
    : SupplyOf<Input[K]> extends 'default'
      ? K
      : never;
}[keyof Input];

type Flat<T> = { [K in keyof T]: T[K] };

// Both are homomorphic over `Input`, so that rename and go-to-definition reach the declaration.
type FromCaller<Input, K extends keyof Input> = { [P in K]: Input[P] };
type WithDefault<Input, K extends keyof Input> = { [P in K]?: Unmark<Input[P]> };

/** What a caller gives a tool with this input: keys declared as `Arg<T, 'default'>` may be left out. */
export type Supplied<Input> = unknown extends Input
  ? Input
  : Input extends object
    ? [DefaultedKeys<Input>] extends [never]
      ? Input
      : Flat<
          FromCaller<Input, Exclude<keyof Input, DefaultedKeys<Input>>> &
            WithDefault<Input, DefaultedKeys<Input>>
        >
    : Input;

type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];

/** The keys that a schema lets a caller leave out and gives in any case. */
type KeysWithDefault<In, Out> = Exclude<OptionalKeys<In> & keyof Out, OptionalKeys<Out>>;

type MarkedIn<In, Out> = {
  [K in keyof Out]: K extends KeysWithDefault<In, Out> ? Arg<Out[K], 'default'> : Out[K];
};

/**
 * What `execute` receives of input that fits a schema: keys with a default are always there, and callers may leave them
 * out. The default is written once, in the schema.
 *
 * @example
 * ```ts
 * const input = z.object({ text: z.string(), limit: z.number().default(10) });
 *
 * @Tool({ name: 'search-pages', description: 'Finds pages', input })
 * export class SearchPages {
 *   execute({ text, limit }: ToolInput<typeof input>): { hits: string[] } { … }
 * }
 * // in a workflow: call(SearchPages, { text: this.text })
 * ```
 */
export type ToolInput<Schema extends StandardSchemaV1> = MarkedIn<
  StandardSchemaV1.InferInput<Schema>,
  StandardSchemaV1.InferOutput<Schema>
>;
