import type { ArgsOf, ResultOf } from '../../decorators/workflow-types.js';
import type { JsonObject } from '../../graph/json.js';
import type { AnyClass, Registry } from '../catalogue/registry.js';
import type { RUN_TOOLS } from './composite/workflows.js';
import type { Envelope } from './runs/envelope.js';

/** An entry as far as its type says what a caller gives and gets. */
interface Entry {
  readonly class: AnyClass;
}

type InstanceOf<E> = E extends { readonly class: abstract new (...deps: never[]) => infer I } ? I : never;

/** The entries of a registry that may have none of this kind. */
type PromptsOf<R extends Registry> = R extends { readonly prompts: infer P } ? P : Record<never, never>;

/** The name callers know a field by: that of `fields` in its entry, else its own. */
type ArgumentName<Field, Fields> = Field extends Fields[keyof Fields]
  ? { [Name in keyof Fields]: Fields[Name] extends Field ? Name : never }[keyof Fields]
  : Field;

/** The arguments of a workflow or a prompt, by the names that callers know. */
type ArgumentsOf<E> = E extends { readonly fields: infer Fields }
  ? { [Field in keyof ArgsOf<InstanceOf<E>> as ArgumentName<Field, Fields>]: ArgsOf<InstanceOf<E>>[Field] }
  : ArgsOf<InstanceOf<E>>;

/** What a caller of a workflow of this registry supplies, by the names that callers know. */
export type WorkflowArguments<R extends Registry, N extends keyof R['workflows']> = ArgumentsOf<
  R['workflows'][N]
>;

/** What is sent for arguments of a prompt: the protocol knows text alone. */
type AsText<Args> = { readonly [Name in keyof Args]: string };

/** The names of the workflows that are offered this way; what says nothing is a prompt. */
type Exposed<Workflows, As extends 'prompt' | 'tool'> = {
  [N in keyof Workflows]: Workflows[N] extends {
    readonly graph: { readonly expose: readonly (infer Way)[] };
  }
    ? As extends Way
      ? N
      : never
    : As extends 'prompt'
      ? N
      : never;
}[keyof Workflows] &
  string;

/** What `prompts/get` knows: workflows, and prompts in loose mode. Any text, where the registry's type names none. */
export type PromptNameOf<R extends Registry> = string extends keyof R['workflows']
  ? string
  : Exposed<R['workflows'], 'prompt'> | (keyof PromptsOf<R> & string);

/** What `tools/call` knows: tools, the tools of workflows, and those that look after runs. */
export type ToolNameOf<R extends Registry> = string extends keyof R['tools']
  ? string
  : (keyof R['tools'] & string) | `w_${Exposed<R['workflows'], 'tool'>}` | (typeof RUN_TOOLS)[number];

/** Arguments that nothing is known of. */
type AnyInput = Readonly<Record<string, unknown>>;

/** Names that are known at run time only. */
type Untyped<R extends Registry, N> = string extends keyof R['tools']
  ? true
  : string extends N
    ? true
    : false;

/** The arguments of the prompt of this name. */
export type PromptInput<R extends Registry, N extends string> =
  Untyped<R, N> extends true
    ? AnyInput
    : N extends keyof R['workflows']
      ? AsText<ArgumentsOf<R['workflows'][N]>>
      : N extends keyof PromptsOf<R>
        ? AsText<ArgumentsOf<PromptsOf<R>[N]>>
        : AnyInput;

type Executed<E> =
  InstanceOf<E> extends { execute: (...args: infer Args) => infer Output }
    ? {
        readonly input: Args extends readonly [infer Input, ...unknown[]] ? Input : AnyInput;
        readonly output: Awaited<Output>;
      }
    : { readonly input: AnyInput; readonly output: unknown };

/** The input of the tool of this name. */
export type ToolInput<R extends Registry, N extends string> =
  Untyped<R, N> extends true
    ? AnyInput
    : N extends keyof R['tools']
      ? Executed<R['tools'][N] & Entry>['input']
      : N extends `w_${infer W extends keyof R['workflows'] & string}`
        ? WorkflowArguments<R, W>
        : AnyInput;

/** An object as it is; anything else under `result`. */
type Wrapped<Result> = [Result] extends [readonly unknown[]]
  ? { readonly result: Result }
  : [Result] extends [object]
    ? Result
    : { readonly result: Result };

/** The structured content of the tool of this name where its call succeeds; a run that is not over gives an envelope. */
export type ToolOutput<R extends Registry, N extends string> =
  Untyped<R, N> extends true
    ? JsonObject
    : N extends keyof R['tools']
      ? Extract<Executed<R['tools'][N] & Entry>['output'], object>
      : N extends `w_${infer W extends keyof R['workflows'] & string}`
        ? Wrapped<ResultOf<InstanceOf<R['workflows'][W]>>> | Envelope
        : JsonObject;

/** Why a name cannot be asked for, or `unknown`. Text that is known at run time only may be any name. */
export type NameFault<N extends string, Known extends string> = string extends N
  ? unknown
  : [N] extends [Known]
    ? unknown
    : ['the registry has none of this name, but', Known];
