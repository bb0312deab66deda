import type { PromptText } from './prompt-text.js';
import type { ResourceClass } from './resource-types.js';
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
