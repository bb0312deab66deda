import { decorationFaults } from './faults.js';
import { readMetadata } from './metadata.js';
import type { ResourceClass } from './resource.js';
import type { ToolClass } from './tool.js';
import type { WorkflowClass } from './workflow.js';

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
      throw new TypeError(decorationFaults.promptPart(value === null ? 'null' : typeof value));
  }
}

function handleText(handle: Handle): string {
  const metadata = readMetadata(handle);
  switch (metadata?.kind) {
    case 'tool':
    case 'workflow':
      return metadata.options.name;
    case 'resource':
      return metadata.uri ?? metadata.uriTemplate;
    case 'prompt':
    case 'state':
    case undefined:
      throw new TypeError(decorationFaults.notAHandle(handle.name));
    default:
      return metadata satisfies never;
  }
}
