import { isValidName, NAME_RULES } from '../graph/names.js';
import type { ArgsOf } from './arg.js';
import type { RequestContext } from './context.js';
import { decorateClass, optionsOf, recordOf } from './decorate.js';
import { decorationErrors } from './errors.js';
import { addressOf, type ResourceClass } from './resource.js';
import type { ToolClass } from './tool.js';
import type { WorkflowClass } from './workflow.js';

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
    throw new TypeError(decorationErrors.promptName(name, NAME_RULES.prompt.source));
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
      if (!isValidName('argument', name)) throw new TypeError(decorationErrors.promptArgumentName(name));
      if (fields.arguments.some((argument) => argument.name === name)) {
        throw new TypeError(decorationErrors.promptArgumentTwice(name));
      }
      return made({ ...fields, arguments: [...fields.arguments, { name, description, required }] });
    },
  };
}

/**
 * What messages of a prompt are made of: plain data. The shapes with `type` are those of MCP, so that messages
 * written for another server fit as they are; handles are expanded when a message is sent.
 */

/** A class that stands for a tool, a resource or a workflow. */
export type Handle = ToolClass | ResourceClass | WorkflowClass;

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageContent {
  readonly type: 'image';
  /** Bytes, or base64. */
  readonly data: string | Uint8Array;
  readonly mimeType: string;
}

export interface AudioContent {
  readonly type: 'audio';
  /** Bytes, or base64. */
  readonly data: string | Uint8Array;
  readonly mimeType: string;
}

/** Names a resource; whoever reads it asks the server for the content. */
export interface ResourceLink {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** A resource with its content. */
export interface EmbeddedResource {
  readonly type: 'resource';
  readonly resource:
    | { readonly uri: string; readonly mimeType?: string; readonly text: string }
    | { readonly uri: string; readonly mimeType?: string; readonly blob: string };
}

/**
 * The content of a message. A tool becomes its name, description and schema, a resource a link to it; a list becomes
 * one message for each part.
 */
export type PromptContent =
  | string
  | PromptText
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceLink
  | EmbeddedResource
  | Handle
  | readonly PromptContent[];

/** Who speaks. MCP has no `system`: such a message is sent as the user's, and the server says so once. */
export type PromptRole = 'user' | 'assistant' | 'system';

export interface PromptMessage {
  readonly role: PromptRole;
  readonly content: PromptContent;
}

/** What a prompt gives: its messages, in order, and what they are about. */
export type PromptMessages =
  | readonly PromptMessage[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] };

type Parts = readonly [PromptContent, ...PromptContent[]];

/**
 * A message of the user.
 *
 * @example
 * ```ts
 * user(prompt`Review this with ${AnalyzeCode}`, image(screenshot, 'image/png'))
 * ```
 */
export function user(...parts: Parts): PromptMessage {
  return messageOf('user', parts);
}

/** A message of the model. */
export function assistant(...parts: Parts): PromptMessage {
  return messageOf('assistant', parts);
}

/** A message that sets the scene. It is sent as the user's, since MCP has no such role. */
export function system(...parts: Parts): PromptMessage {
  return messageOf('system', parts);
}

/** A picture: bytes or base64, and its media type such as `image/png`. */
export function image(data: string | Uint8Array, mimeType: string): ImageContent {
  return { type: 'image', data, mimeType };
}

/** A sound: bytes or base64, and its media type such as `audio/wav`. */
export function audio(data: string | Uint8Array, mimeType: string): AudioContent {
  return { type: 'audio', data, mimeType };
}

function messageOf(role: PromptRole, parts: Parts): PromptMessage {
  const [first, ...more] = parts;
  return { role, content: more.length === 0 ? first : parts };
}

/** What may stand between the braces of {@link prompt}: text, numbers, booleans, other prompt text and handles. */
export type PromptPart = string | number | boolean | PromptText | Handle;

/**
 * Text with handles in it, as {@link prompt} makes it. Read as text, a tool or workflow stands as its name, a resource
 * as its address.
 *
 * It is a `String`, so that it has every method of the text it is typed as.
 */
export class PromptText extends String {
  /** Text and handles in turn; no text is empty, and no two stand side by side. */
  readonly parts: readonly (string | Handle)[];

  /** @throws TypeError for a class without a decorator of this package. */
  constructor(parts: readonly (string | Handle)[]) {
    super(parts.map((part) => (typeof part === 'string' ? part : handleText(part))).join(''));
    this.parts = parts;
  }
}

/**
 * Text that may name tools, workflows and resources by their classes. The one tag that runs: elsewhere than in a
 * workflow it gives a {@link PromptText}.
 *
 * @example
 * ```ts
 * user(prompt`Review this ${language} code with ${AnalyzeCode}, as ${StyleGuide} says`)
 * ```
 * @throws TypeError for a value that is no text, number or boolean, and no class with a decorator of this package.
 */
export function prompt(texts: TemplateStringsArray, ...values: readonly PromptPart[]): PromptText & string {
  const parts: (string | Handle)[] = [];
  const add = (part: string | Handle): void => {
    const last = parts.at(-1);
    if (typeof part !== 'string') parts.push(part);
    else if (typeof last === 'string') parts[parts.length - 1] = last + part;
    else if (part !== '') parts.push(part);
  };
  for (const [index, raw] of texts.raw.entries()) {
    // An escape that means nothing, as in a path on Windows, leaves no text but the one that was written.
    add((texts as readonly (string | undefined)[])[index] ?? raw);
    if (index < values.length) for (const part of partsOf(values[index])) add(part);
  }
  return new PromptText(parts) as PromptText & string;
}

function partsOf(value: unknown): readonly (string | Handle)[] {
  if (value instanceof PromptText) return value.parts;
  switch (typeof value) {
    case 'string':
      return [value];
    case 'number':
    case 'boolean':
      return [String(value)];
    case 'function':
      return [value as Handle];
    default:
      throw new TypeError(decorationErrors.promptPart(value === null ? 'null' : typeof value));
  }
}

function handleText(handle: Handle): string {
  const record = recordOf(handle);
  if (record?.kind === 'tool' || record?.kind === 'workflow') return record.options.name;
  if (record?.kind !== 'resource') throw new TypeError(decorationErrors.notAHandle(handle.name));
  const address = addressOf(handle);
  return address.uri ?? address.uriTemplate;
}
