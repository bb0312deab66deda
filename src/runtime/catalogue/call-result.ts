import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';

/** What a tool may return to speak MCP itself: content blocks, with or without a structured form of the same. */
export interface CallResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

const MEMBERS = new Set(['content', 'structuredContent', 'isError', '_meta']);

/**
 * Recognises a `CallToolResult` of MCP. A value with other members beside it is the tool's own object and stays as it
 * is, so that nothing of it is lost; the same goes for an empty `content` on its own.
 */
export function asCallResult(value: Json): CallResult | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.content)) return undefined;
  if (!Object.keys(value).every((key) => MEMBERS.has(key))) return undefined;
  const { content, structuredContent, isError, _meta } = value;
  if (structuredContent !== undefined && !isJsonObject(structuredContent)) return undefined;
  if (isError !== undefined && typeof isError !== 'boolean') return undefined;
  if (_meta !== undefined && !isJsonObject(_meta)) return undefined;
  if (content.length === 0 && structuredContent === undefined && isError === undefined) return undefined;
  if (!content.every(isContentBlock)) return undefined;
  return value as unknown as CallResult;
}

/** True for a content block of MCP. */
export function isContentBlock(block: Json): block is JsonObject {
  if (!isJsonObject(block)) return false;
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string';
    case 'image':
    case 'audio':
      return typeof block.data === 'string' && typeof block.mimeType === 'string';
    case 'resource':
      return isJsonObject(block.resource) && typeof block.resource.uri === 'string';
    case 'resource_link':
      return typeof block.uri === 'string';
    default:
      return false;
  }
}

/** The texts among content blocks, one per line. */
export function textOf(content: readonly JsonObject[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('\n');
}
