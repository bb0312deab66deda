import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonSchema } from '../graph/json.js';
import type { ToolTask } from '../graph/model.js';
import type { RetrySafety } from '../graph/tool-safety.js';
import type { Arg, SupplyOf, Unmark } from './arg.js';
import type { ToolContext } from './context.js';
import type { ListedOptions } from './decorate.js';
import { decorateClass, type Flat, optionsOf, type Received } from './decorate.js';
import type { StateClass } from './workflow.js';

/** Who may call a tool: clients as well, or steps of workflows only. */
export type ToolVisibility = 'client' | 'workflow';

/** The annotations of a tool, as MCP defines them: hints about its effects, without guarantees. */
export interface ToolAnnotations {
  /** A name for people. */
  readonly title?: string;
  /** The tool changes nothing. Default: `false`. */
  readonly readOnlyHint?: boolean;
  /** The tool may delete or overwrite something. No meaning with `readOnlyHint: true`. Default: `true`. */
  readonly destructiveHint?: boolean;
  /** A repeated call with the same input has no further effect. Default: `false`. */
  readonly idempotentHint?: boolean;
  /** The tool interacts with systems beyond this server. Default: `true`. */
  readonly openWorldHint?: boolean;
}

/**
 * Relations of a tool to others, for a model that plans. Clients read them; the engine does not. What is not declared of
 * `next` and `requires` follows from the workflows that call the tool.
 */
export interface ToolHints {
  /**
   * The kind of work it does, which places it among others: `search`, `read`; `validation`, `check`; `action`, `write`,
   * `booking`; `payment`, `finalization`, `confirmation`, `notify`; or `cancellation`, which has no place.
   */
  readonly category?: string;
  /**
   * Tools that may be called after it; several are alternatives. Functions that return classes, since two classes may
   * name each other.
   */
  readonly next?: readonly (() => ToolClass)[];
  /** Tools that have to be called before it, all of them. */
  readonly requires?: readonly (() => ToolClass)[];
  /** Names of fields of its result that other tools need, for a tool without an output schema. */
  readonly outputs?: readonly string[];
  /** A sentence of advice. */
  readonly hint?: string;
  /** Questions that it answers, or inputs that it takes. */
  readonly examples?: readonly Json[];
}

/** The names of the properties of an input; of a union, those of all members. */
type PropertyNames<Input> = Input extends unknown ? keyof Input & string : never;

/** The names that `secret` may have by the schema. Without a schema any name, which is checked against the class. */
type SecretNames<Input> = [Input] extends [never] ? string : PropertyNames<Input>;

/** A tool of an upstream server. */
export interface UpstreamOption {
  /** The name of the server in the configuration. */
  readonly server: string;
  /** The name of the tool at the server. */
  readonly tool: string;
}

/** Options of {@link Tool}. `Input` and `Output` are the output types of the schemas. */
export interface ToolOptions<Input = unknown, Output = unknown, Secret extends string = string>
  extends ListedOptions {
  /**
   * Unique among the tools of a registry; `^[A-Za-z0-9_.-]{1,128}$`. Some hosts refuse names with dots or with more
   * than 64 characters.
   */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** What the tool does, for the model that chooses it. */
  readonly description: string;
  /**
   * Schema of the input, checked before every call: `execute` gets its output. Default: derived from the type of
   * `execute`'s parameter.
   *
   * Its output must fit that parameter. A property with a default in the schema is optional there, or an `Arg<T,
   * 'default'>`: always present in `execute`, optional for callers. `ToolInput` is the type of the whole parameter.
   */
  readonly input?: StandardSchemaV1<unknown, Input>;
  /**
   * Schema of the output, checked after every call: its output is the result. The result type of `execute` must fit
   * it. Default: derived from that type if it is an object, else none.
   */
  readonly output?: StandardSchemaV1<unknown, Output>;
  /**
   * JSON Schema of the input, written out, in place of `input`: an object with `type: 'object'`. It is what clients see.
   * TypeScript does not compare it with `execute`.
   */
  readonly inputSchema?: JsonSchema;
  /** JSON Schema of the output, written out, in place of `output`. */
  readonly outputSchema?: JsonSchema;
  /**
   * What clients see of an input schema with `oneOf`, `anyOf` or `allOf` at its top, which some hosts refuse. Default:
   * the schema itself. Inputs are checked by the schema itself in any case.
   *
   * - `'flat'`: one object with the fields of all forms, of which those are required that each form requires.
   */
  readonly listedSchema?: 'flat';
  readonly annotations?: ToolAnnotations;
  /**
   * The effect of another call with the same input, for retries and recovery. Default: `'idempotent'` with
   * `idempotentHint: true`, else `'none'`. A tool with `readOnlyHint: true` needs no value.
   *
   * - `'idempotent'`: no further effect;
   * - `'key'`: no further effect if `context.idempotencyKey` is the same, since the tool deduplicates by it;
   * - `'none'`: it may repeat the effect.
   */
  readonly retrySafety?: RetrySafety;
  /**
   * Who may call the tool. Default: `'client'`.
   *
   * - `'client'`: clients by `tools/call`, and steps of workflows;
   * - `'workflow'`: steps of workflows only. Clients do not see it in `tools/list`; `tools/call` answers as for a tool
   *   that does not exist.
   */
  readonly visibility?: ToolVisibility;
  /**
   * The scopes that a client needs to call it, as in `'notes:write'`. A client without them does not see it in lists, and
   * its call is refused (`E_SCOPE`). Steps of workflows do not need them. Default: none.
   */
  readonly scopes?: readonly string[];
  /**
   * Whether clients may call it as an MCP task: its call is a run of its own then, which outlasts the request. `'required'`:
   * they call it in no other way. Default: it is not called as a task.
   */
  readonly task?: ToolTask;
  readonly hints?: ToolHints;
  /** Fields of state that a workflow sets before it calls this tool. */
  readonly needsState?: readonly StateClass[];
  /**
   * The tool of an upstream server that `context.callUpstream` calls. `stepwright pull` writes classes with it.
   */
  readonly upstream?: UpstreamOption;
  /** Names of input properties whose values are masked in traces, logs and spans. */
  readonly secret?: readonly Secret[];
}

declare const NO_INPUT: unique symbol;

/** The input of a tool whose `execute` has no parameter: an object without properties. */
export interface NoInput {
  readonly [NO_INPUT]?: never;
}

/**
 * A class with a method `execute`. It is declared as a property, so that TypeScript compares its parameter strictly: an
 * `execute` that requires more than the output of its schema is an error.
 */
export type ToolClass<Input = never, Output = unknown> = new (
  ...deps: never[]
) => { execute: (input: Input, context: ToolContext) => Output | Promise<Output> };

type InputOf<T> = T extends new (
  ...deps: never[]
) => { execute: (input: infer Input, ...rest: never[]) => unknown }
  ? Input
  : never;

/** Why the option `secret` does not fit the class, or `unknown`. Authors see the text. */
type SecretFault<T, Secret extends string> = [Secret] extends [PropertyNames<InputOf<T>>]
  ? unknown
  : ['a secret is a property of the input, unlike', Exclude<Secret, PropertyNames<InputOf<T>>>];

/** The type of a decorator of classes with `execute`. */
export type DecoratesTool<Input, Output, Secret extends string> = <
  T extends ToolClass<Received<Input>, Output>,
>(
  target: T & SecretFault<T, Secret>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class with `execute(input, context)` a tool.
 *
 * Workflows see the type of `execute`'s parameter and the awaited type of its result.
 *
 * @example
 * ```ts
 * @Tool({ name: 'verify-project', description: 'Finds a project', input: z.object({ project: z.string() }) })
 * export class VerifyProject {
 *   async execute({ project }: { project: string }): Promise<{ path: string }> { … }
 * }
 * ```
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package, and on a
 *   class with `@Arg` or `@Step` fields.
 */
export function Tool<
  Input = never,
  Output = unknown,
  const Secret extends SecretNames<NoInfer<Input>> = never,
>(options: ToolOptions<Input, Output, Secret>): DecoratesTool<Input, Output, Secret>;
export function Tool(...args: readonly unknown[]): DecoratesTool<never, unknown, string> {
  const options = optionsOf<ToolOptions>('Tool', args);
  return (target, context) =>
    decorateClass<ToolClass>('Tool', target, context, () => ({ kind: 'tool', options }));
}

declare const SENT: unique symbol;

/**
 * The mark of a field of {@link ToolInput} that callers give as another type, which the schema converts. No value has it.
 */
export interface SentAs<In> {
  readonly [SENT]?: In;
}

/** A field as `execute` gets it. What is sent as `unknown` is coerced, and its schema says which type to send. */
type Converted<In, Out> = unknown extends In
  ? Out
  : [In] extends [Out | undefined]
    ? Out
    : (Out & SentAs<In>) | Extract<Out, null | undefined>;

/** A field as callers give it. */
type Sent<V> = typeof SENT extends keyof NonNullable<V>
  ? Exclude<NonNullable<V>[typeof SENT & keyof NonNullable<V>], undefined>
  : Unmark<V>;

/** The keys of an input that callers give as another type. */
type ConvertedKeys<Input> = {
  [K in keyof Input]-?: unknown extends Input[K]
    ? never
    : typeof SENT extends keyof NonNullable<Input[K]>
      ? K
      : never;
}[keyof Input];

/** The keys of an input that are declared as `Arg<T, 'default'>`. */
type DefaultedKeys<Input> = {
  [K in keyof Input]-?: [SupplyOf<Input[K]>] extends [never]
    ? never
    : SupplyOf<Input[K]> extends 'default'
      ? K
      : never;
}[keyof Input];

// Both are homomorphic over `Input`, so that rename and go-to-definition reach the declaration.
type FromCaller<Input, K extends keyof Input> = { [P in K]: Sent<Input[P]> };
type WithDefault<Input, K extends keyof Input> = { [P in K]?: Sent<Input[P]> };

/**
 * The input that a caller passes: properties declared as `Arg<T, 'default'>` are optional, and those that a schema
 * converts are of the type before that.
 */
export type Supplied<Input> = unknown extends Input
  ? Input
  : Input extends object
    ? [DefaultedKeys<Input> | ConvertedKeys<Input>] extends [never]
      ? Input
      : Flat<
          FromCaller<Input, Exclude<keyof Input, DefaultedKeys<Input>>> &
            WithDefault<Input, DefaultedKeys<Input>>
        >
    : Input;

type OptionalKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T];

/** The keys with a default in a schema: optional in its input type, required in its output type. */
type KeysWithDefault<In, Out> = Exclude<OptionalKeys<In> & keyof Out, OptionalKeys<Out>>;

type MarkedIn<In, Out> = {
  [K in keyof Out]: K extends KeysWithDefault<In, Out>
    ? Arg<Converted<In[K & keyof In], Out[K]>, 'default'>
    : K extends keyof In
      ? Converted<In[K], Out[K]>
      : Out[K];
};

/**
 * The type of `execute`'s parameter for a schema of the input. Properties with a default are always present in
 * `execute` and optional for callers, so that the default is written once, in the schema. Properties that a
 * transform converts have its output in `execute`, and callers give its input.
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
