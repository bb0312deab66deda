import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json } from '../graph/json.js';
import type { RetrySafety } from '../graph/tool-safety.js';
import type { Arg, SupplyOf, Unmark } from './arg.js';
import type { ToolContext } from './context.js';
import { decorateClass, type Flat, optionsOf, type Received } from './decorate.js';
import type { StateClass } from './state.js';

/** What a tool says about its effects, as MCP defines it. Hints, never guarantees. */
export interface ToolAnnotations {
  /** A name for people. */
  readonly title?: string;
  /** It changes nothing. Default: `false`. */
  readonly readOnlyHint?: boolean;
  /** It may destroy something; means nothing beside `readOnlyHint: true`. Default: `true`. */
  readonly destructiveHint?: boolean;
  /** A repeated call with the same input has no further effect. Default: `false`. */
  readonly idempotentHint?: boolean;
  /** It reaches out to things beyond this server. Default: `true`. */
  readonly openWorldHint?: boolean;
}

/** A picture that stands for a tool, as MCP defines it. */
export interface Icon {
  /** A URL (`https:`), or the picture itself (`data:`). */
  readonly src: string;
  readonly mimeType?: string;
  /** Sizes in pixels, such as `48x48`; `any` for what scales. */
  readonly sizes?: readonly string[];
  /** The background it is made for. */
  readonly theme?: 'light' | 'dark';
}

/** How a tool goes with others, for a model that plans: read by clients, never by the engine. */
export interface ToolHints {
  /** What kind of work it does: `search`, `validation`, … */
  readonly category?: string;
  /** What is usually called after it. Functions, since the classes may name each other. */
  readonly next?: readonly (() => ToolClass)[];
  /** What has to be called before it. */
  readonly requires?: readonly (() => ToolClass)[];
  /** Questions it answers or inputs it takes. */
  readonly examples?: readonly Json[];
}

/** The names of an input's properties, those of every member of a union. */
type PropertyNames<Input> = Input extends unknown ? keyof Input & string : never;

/** What may stand under `secret` while only the schema is known: without a schema the class decides. */
type SecretNames<Input> = [Input] extends [never] ? string : PropertyNames<Input>;

/** Options of {@link Tool}. `Input` and `Output` are what the schemas let through. */
export interface ToolOptions<Input = unknown, Output = unknown, Secret extends string = string> {
  /** Unique among the tools of a registry; `^[A-Za-z0-9_.-]{1,128}$`. Some hosts refuse dots, and more than 64 characters. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** What the tool does, for the model that chooses it. */
  readonly description: string;
  /**
   * Schema of the input, checked before every call. Default: derived from the type of `execute`'s parameter.
   * What it lets through must fit that parameter, in which a field with a default is optional, or an
   * `Arg<T, 'default'>`: always there for `execute`, and optional for callers. `ToolInput` declares it so.
   */
  readonly input?: StandardSchemaV1<unknown, Input>;
  /** Schema of the output. What `execute` returns must fit it. Default: none is announced. */
  readonly output?: StandardSchemaV1<unknown, Output>;
  readonly annotations?: ToolAnnotations;
  /**
   * What another call with the same input does, for retries and recovery. Default: `'idempotent'` with
   * `idempotentHint: true`, else `'none'`; a tool with `readOnlyHint: true` needs none.
   *
   * - `'idempotent'`: it has no further effect;
   * - `'key'`: it has none where `context.idempotencyKey` is that of an earlier call, by which the tool deduplicates;
   * - `'none'`: it may repeat the effect.
   */
  readonly retrySafety?: RetrySafety;
  readonly icons?: readonly Icon[];
  readonly hints?: ToolHints;
  /** Fields of state that a workflow has set before it calls this tool. */
  readonly needsState?: readonly StateClass[];
  /** Properties of the input that are masked in traces, logs and spans. */
  readonly secret?: readonly Secret[];
}

declare const NO_INPUT: unique symbol;

/** The input of a tool whose `execute` takes none: an object without properties. */
export interface NoInput {
  readonly [NO_INPUT]?: never;
}

/**
 * A class with an `execute`. `execute` is a property here, not a method, so that its parameter is compared strictly:
 * an `execute` that wants more than its schema gives is an error.
 */
export type ToolClass<Input = never, Output = unknown> = new (
  ...deps: never[]
) => { execute: (input: Input, context: ToolContext) => Output | Promise<Output> };

type InputOf<T> = T extends new (
  ...deps: never[]
) => { execute: (input: infer Input, ...rest: never[]) => unknown }
  ? Input
  : never;

/** Why these secrets cannot be those of the class, or `unknown`. The text reaches authors. */
type SecretFault<T, Secret extends string> = [Secret] extends [PropertyNames<InputOf<T>>]
  ? unknown
  : ['a secret is a property of the input, unlike', Exclude<Secret, PropertyNames<InputOf<T>>>];

/** Decorates a class with `execute`. */
export type DecoratesTool<Input, Output, Secret extends string> = <
  T extends ToolClass<Received<Input>, Output>,
>(
  target: T & SecretFault<T, Secret>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class with `execute(input, context)` a tool.
 *
 * Callers in workflows see the type of `execute`'s parameter and of what it returns, promise taken off.
 *
 * @example
 * ```ts
 * @Tool({ name: 'verify-project', description: 'Finds a project', input: z.object({ project: z.string() }) })
 * export class VerifyProject {
 *   async execute({ project }: { project: string }): Promise<{ path: string }> { … }
 * }
 * ```
 * @throws TypeError when it is given no options, or decorates something that has another decorator already.
 */
export function Tool<
  Input = never,
  Output = unknown,
  const Secret extends SecretNames<NoInfer<Input>> = never,
>(options: ToolOptions<Input, Output, Secret>): DecoratesTool<Input, Output, Secret>;
export function Tool(...given: readonly unknown[]): DecoratesTool<never, unknown, string> {
  const options = optionsOf<ToolOptions>('Tool', given);
  return (target, context) =>
    decorateClass<ToolClass>('Tool', target, context, () => ({ kind: 'tool', options }));
}

/** The keys of an input that are declared as `Arg<T, 'default'>`. */
type DefaultedKeys<Input> = {
  [K in keyof Input]-?: [SupplyOf<Input[K]>] extends [never]
    ? never
    : SupplyOf<Input[K]> extends 'default'
      ? K
      : never;
}[keyof Input];

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
