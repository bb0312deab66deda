import { isValidName, NAME_RULES } from '../graph/names.js';
import type { ArgsOf } from './arg.js';
import type { RequestContext } from './context.js';
import type { ListedOptions } from './decorate.js';
import { decorateClass, decorationErrors, optionsOf, recordOf } from './decorate.js';
import { addressOf, type ResourceClass } from './resource.js';
import type { ToolClass } from './tool.js';
import type { WorkflowClass } from './workflow.js';

/** Options of {@link Prompt}. */
export interface PromptOptions extends ListedOptions {
  /**
   * Unique among the prompts and workflows of a registry; `^[A-Za-z0-9_.-]{1,128}$`. Some hosts refuse names with dots
   * or with more than 64 characters.
   */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** The purpose of the prompt, for the person or model that chooses one. */
  readonly description: string;
}

/** A class with a method `render`. Its `@Arg` fields are the arguments. */
export type PromptClass = new (
  ...deps: never[]
) => {
  render: (args: never, context: RequestContext) => PromptMessages | Promise<PromptMessages>;
};

type RenderedFrom<I> = I extends { render: (args: infer Args, ...rest: never[]) => unknown } ? Args : never;

/** Why the parameter of `render` does not fit the arguments of the class, or `unknown`. Authors see the text. */
type RenderFault<T> = T extends new (
  ...deps: never[]
) => infer I
  ? [ArgsOf<I>] extends [RenderedFrom<I>]
    ? unknown
    : ['render takes the arguments of its class: write ArgsOf of it']
  : never;

/** The type of a decorator of classes with `render`. */
export type DecoratesPrompt = <T extends PromptClass>(
  target: T & RenderFault<T>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class with `render(args, context)` a prompt. Its `@Arg` fields are the arguments; `render` returns the
 * messages for the model. To run steps before a model reads the messages, use `@Workflow`.
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
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package or fields
 *   with `@Step`, and on a class that extends one with arguments or steps.
 */
export function Prompt(options: PromptOptions): DecoratesPrompt;
export function Prompt(...args: readonly unknown[]): DecoratesPrompt {
  const options = optionsOf<PromptOptions>('Prompt', args);
  return (target, context) =>
    decorateClass<PromptClass>('Prompt', target, context, ({ args }) => ({ kind: 'prompt', options, args }));
}

/** The values of a prompt's arguments, by name. Arguments that are not required may be absent. */
export type SimplePromptArguments = Readonly<Record<string, string | undefined>>;

/** Returns the messages of a prompt. The message of an error it throws goes to the caller. */
export type SimplePromptHandler = (
  args: SimplePromptArguments,
  context: RequestContext,
) => PromptMessages | Promise<PromptMessages>;

/** An argument of a {@link SimplePrompt}. Its value is text. */
export interface SimplePromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** A prompt without a class, as data. Each method returns a new prompt and leaves this one unchanged. */
export interface SimplePrompt {
  readonly kind: 'simplePrompt';
  readonly name: string;
  readonly description?: string;
  /** In the order they were added. */
  readonly arguments: readonly SimplePromptArgument[];
  readonly handler: SimplePromptHandler;

  /** Sets the description. */
  withDescription(description: string): SimplePrompt;
  /**
   * Adds an argument.
   *
   * @param name an identifier, which may also have `.` and `-` inside.
   * @param required whether a caller must supply it. Default: `false`.
   * @throws TypeError for an invalid name, and for the name of an argument that the prompt has.
   */
  withArgument(name: string, description: string, required?: boolean): SimplePrompt;
}

/**
 * Makes a prompt without a class, from a name and a function that returns its messages.
 *
 * @example
 * ```ts
 * const review = simplePrompt('code-review', ({ code = '' }) => [user(`Please review this code:\n\n${code}`)])
 *   .withDescription('Reviews code')
 *   .withArgument('code', 'The code to review', true);
 * ```
 * @throws TypeError for a name that does not match `^[A-Za-z0-9_.-]{1,128}$`.
 */
export function simplePrompt(name: string, handler: SimplePromptHandler): SimplePrompt {
  if (!isValidName('prompt', name)) {
    throw new TypeError(decorationErrors.promptName(name, NAME_RULES.prompt.source));
  }
  return simplePromptOf({ name, arguments: [], handler });
}

type SimplePromptFields = Pick<SimplePrompt, 'name' | 'description' | 'arguments' | 'handler'>;

function simplePromptOf(fields: SimplePromptFields): SimplePrompt {
  return {
    kind: 'simplePrompt',
    ...fields,
    withDescription: (description) => simplePromptOf({ ...fields, description }),
    withArgument(name, description, required = false) {
      if (!isValidName('argument', name)) throw new TypeError(decorationErrors.promptArgumentName(name));
      if (fields.arguments.some((argument) => argument.name === name)) {
        throw new TypeError(decorationErrors.promptArgumentTwice(name));
      }
      return simplePromptOf({ ...fields, arguments: [...fields.arguments, { name, description, required }] });
    },
  };
}

// The content of messages is plain data. Objects with `type` have the shapes of MCP, so messages written for another
// server can be used unchanged. Handles are expanded when a message is sent.

/** The class of a tool, a resource or a workflow, as a reference to it in a message. */
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

/** A link to a resource. Clients request the content from the server. */
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
 * The content of a message. A tool becomes text with its name, description and schema, a resource becomes a link to it,
 * and a list becomes one message for each part.
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

/** The role of a message. MCP has no `system`: such a message is sent as the user's, and the server logs that once. */
export type PromptRole = 'user' | 'assistant' | 'system';

export interface PromptMessage {
  readonly role: PromptRole;
  readonly content: PromptContent;
}

/** The result of a prompt: its messages in order, optionally with a description. */
export type PromptMessages =
  | readonly PromptMessage[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] };

type Parts = readonly [PromptContent, ...PromptContent[]];

/**
 * A message of the user. Several parts are sent as one message each.
 *
 * @example
 * ```ts
 * user(prompt`Review this with ${AnalyzeCode}`, image(screenshot, 'image/png'))
 * ```
 */
export function user(...parts: Parts): PromptMessage {
  return messageOf('user', parts);
}

/** A message of the assistant. Parts are as of {@link user}. */
export function assistant(...parts: Parts): PromptMessage {
  return messageOf('assistant', parts);
}

/**
 * A message with instructions. It is sent as the user's, since MCP has no system role. Parts are as of {@link user}.
 */
export function system(...parts: Parts): PromptMessage {
  return messageOf('system', parts);
}

/**
 * An image as content of a message.
 *
 * @param data bytes, or base64.
 * @param mimeType such as `image/png`.
 */
export function image(data: string | Uint8Array, mimeType: string): ImageContent {
  return { type: 'image', data, mimeType };
}

/**
 * Audio as content of a message.
 *
 * @param data bytes, or base64.
 * @param mimeType such as `audio/wav`.
 */
export function audio(data: string | Uint8Array, mimeType: string): AudioContent {
  return { type: 'audio', data, mimeType };
}

function messageOf(role: PromptRole, parts: Parts): PromptMessage {
  const [first, ...more] = parts;
  return { role, content: more.length === 0 ? first : parts };
}

/** A value in a template of {@link prompt}: text, a number, a boolean, other prompt text or a handle. */
export type PromptPart = string | number | boolean | PromptText | Handle;

/**
 * Text with handles in it, made by {@link prompt}. As a string, a tool or workflow is its name, and a resource its URI
 * or URI template.
 *
 * It extends `String`: {@link prompt} types it as a string, whose methods it must have.
 */
export class PromptText extends String {
  /** Texts and handles in order. No text is empty, and no two texts are adjacent. */
  readonly parts: readonly (string | Handle)[];

  /** @throws TypeError for a class that is not a tool, a resource or a workflow. */
  constructor(parts: readonly (string | Handle)[]) {
    super(parts.map((part) => (typeof part === 'string' ? part : handleText(part))).join(''));
    this.parts = parts;
  }
}

/**
 * Text that may name tools, workflows and resources by their classes. In a workflow codegen reads it; elsewhere it runs
 * and returns a {@link PromptText}.
 *
 * @example
 * ```ts
 * user(prompt`Review this ${language} code with ${AnalyzeCode}, as ${StyleGuide} says`)
 * ```
 * @throws TypeError for a value that is not a text, a number, a boolean, prompt text, or the class of a tool, a
 *   resource or a workflow.
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
    // With an invalid escape, as in a path on Windows, there is only the raw text.
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
