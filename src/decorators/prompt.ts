import type { RequestContext } from './context.js';
import type { PromptMessages } from './prompt-content.js';
import { decorateClass, optionsOf } from './record.js';
import type { ArgsOf } from './workflow-types.js';

/** Options of {@link Prompt}. */
export interface PromptOptions {
  /** Unique among the prompts and workflows of a registry; `^[A-Za-z0-9_.-]{1,128}$`. Some hosts refuse dots, and more than 64 characters. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** What the prompt is for, for whoever chooses it. */
  readonly description: string;
}

/** A class with a `render`. Its `@Arg` fields are what a caller supplies. */
export type PromptClass = new (
  ...deps: never[]
) => {
  render: (args: never, context: RequestContext) => PromptMessages | Promise<PromptMessages>;
};

type RenderedFrom<I> = I extends { render: (args: infer Args, ...rest: never[]) => unknown } ? Args : never;

/** Why the `render` of a class does not go with its fields, or `unknown`. The text reaches authors. */
type RenderFault<T> = T extends new (
  ...deps: never[]
) => infer I
  ? [ArgsOf<I>] extends [RenderedFrom<I>]
    ? unknown
    : ['render takes the arguments of its class: write ArgsOf of it']
  : never;

/** Decorates a class with `render`. */
export type DecoratesPrompt = <T extends PromptClass>(
  target: T & RenderFault<T>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class with `render(args, context)` a prompt: its `@Arg` fields are what a caller supplies, `render` makes
 * the messages of it. Nothing is run before a model reads them; what is to be run is a `@Workflow`.
 *
 * @example
 * ```ts
 * @Prompt({ name: 'code-review', description: 'Review code' })
 * export class CodeReview {
 *   @Arg({ description: 'Language' }) language?: Arg<string>;
 *   render({ language }: ArgsOf<CodeReview>): PromptMessages {
 *     return [user(prompt`Review this ${language ?? ''} code with ${AnalyzeCode}`)];
 *   }
 * }
 * ```
 * @throws TypeError when it is given no options, decorates something that has another decorator already, or a class
 *   with steps, or one that extends a class with arguments.
 */
export function Prompt(options: PromptOptions): DecoratesPrompt;
export function Prompt(...given: readonly unknown[]): DecoratesPrompt {
  const options = optionsOf<PromptOptions>('Prompt', given);
  return (target, context) =>
    decorateClass<PromptClass>('Prompt', target, context, ({ args }) => ({ kind: 'prompt', options, args }));
}
