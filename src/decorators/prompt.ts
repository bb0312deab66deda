import { isValidName, NAME_RULES } from '../graph/names.js';
import type { RequestContext } from './context.js';
import { decorationFaults } from './faults.js';
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

/** What a caller filled in, by argument. An argument that is not required may be missing. */
export type SimplePromptArguments = Readonly<Record<string, string | undefined>>;

/** Makes the messages of a prompt. What it throws is the reason the caller is given. */
export type SimplePromptHandler = (
  args: SimplePromptArguments,
  context: RequestContext,
) => PromptMessages | Promise<PromptMessages>;

/** One argument of a {@link SimplePrompt}. Its value is text. */
export interface SimplePromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** A prompt without a class, as data. Each method gives a new one and leaves this one as it is. */
export interface SimplePrompt {
  readonly kind: 'simplePrompt';
  readonly name: string;
  readonly description?: string;
  /** In the order they were added. */
  readonly arguments: readonly SimplePromptArgument[];
  readonly handler: SimplePromptHandler;

  /** Says what the prompt is for. */
  withDescription(description: string): SimplePrompt;
  /**
   * Adds an argument.
   *
   * @param required whether a caller must supply it. Default: `false`.
   * @throws TypeError for a name that is no identifier, or is there already.
   */
  withArgument(name: string, description: string, required?: boolean): SimplePrompt;
}

/**
 * A prompt for programs: a name and a function that makes the messages.
 *
 * @example
 * ```ts
 * const review = simplePrompt('code-review', ({ code = '' }) => [user(`Please review this code:\n\n${code}`)])
 *   .withDescription('Reviews code')
 *   .withArgument('code', 'The code to review', true);
 * ```
 * @throws TypeError for a name that breaks the rule `^[A-Za-z0-9_.-]{1,128}$`.
 */
export function simplePrompt(name: string, handler: SimplePromptHandler): SimplePrompt {
  if (!isValidName('prompt', name)) {
    throw new TypeError(decorationFaults.promptName(name, NAME_RULES.prompt.source));
  }
  return made({ name, arguments: [], handler });
}

type SimplePromptFields = Pick<SimplePrompt, 'name' | 'description' | 'arguments' | 'handler'>;

function made(fields: SimplePromptFields): SimplePrompt {
  return {
    kind: 'simplePrompt',
    ...fields,
    withDescription: (description) => made({ ...fields, description }),
    withArgument(name, description, required = false) {
      if (!isValidName('argument', name)) throw new TypeError(decorationFaults.promptArgumentName(name));
      if (fields.arguments.some((argument) => argument.name === name)) {
        throw new TypeError(decorationFaults.promptArgumentTwice(name));
      }
      return made({ ...fields, arguments: [...fields.arguments, { name, description, required }] });
    },
  };
}
