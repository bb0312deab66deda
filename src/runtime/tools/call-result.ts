import { isJsonObject, isWrapped, type Json, type JsonObject, type JsonSchema } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import { isWithin, jsonSize, toJson } from './to-json.js';
import { message, toolTexts } from './tool-texts.js';

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
function asCallResult(value: Json): CallResult | undefined {
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
function textOf(content: readonly JsonObject[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('\n');
}

/** The longest result of one tool, function or read, in bytes of its JSON text: models and clients choke on more. */
export const RESULT_LIMIT_BYTES = 4 * 1024 * 1024;

/** What an author's code gave, as JSON that is small enough to be kept and shown. */
export type KeptJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly failure: Failure };

/** A result, and the `CallToolResult` that it was sent as. */
export interface SentResult {
  readonly ok: true;
  readonly value: Json;
  readonly callResult?: CallResult;
}

export type NormalResult =
  | SentResult
  | { readonly ok: false; readonly failure: Failure; readonly callResult?: CallResult };

/**
 * What a tool returned, as the one value a workflow binds:
 *
 * 1. anything but a `CallToolResult` is the value itself, as JSON; nothing at all is null;
 * 2. `isError: true` is the failure `E_TOOL_ERROR` with the text of its content;
 * 3. `structuredContent` is the value, unwrapped from `{ result }` where the output schema says `x-fastmcp-wrap-result`;
 * 4. a single text block that holds a JSON object or array is that;
 * 5. a single text block is its text; anything else is the array of content blocks.
 *
 * What is not JSON is the failure `E_RESULT_NOT_JSON`, what is longer than `limit` bytes of JSON `E_RESULT_TOO_LARGE`.
 * `callResult` is the tool's own `CallToolResult`, for an answer to `tools/call` that must not lose images.
 */
export function normalizeResult(
  raw: unknown,
  outputSchema?: JsonSchema,
  limit: number = RESULT_LIMIT_BYTES,
): NormalResult {
  const json = keptJson(raw, limit);
  if (!json.ok) return json;
  const callResult = asCallResult(json.value);
  if (callResult === undefined) return { ok: true, value: json.value };
  if (callResult.isError === true) {
    const text = message(textOf(callResult.content));
    return {
      ok: false,
      failure: {
        code: 'E_TOOL_ERROR',
        message: text === '' ? 'the tool reported an error without a message' : text,
      },
      callResult,
    };
  }
  return { ok: true, value: boundValue(callResult, outputSchema), callResult };
}

/**
 * A copy of a value as JSON. What is not JSON is the failure `E_RESULT_NOT_JSON`, what is longer than `limit` bytes of
 * JSON `E_RESULT_TOO_LARGE`.
 */
export function keptJson(raw: unknown, limit: number = RESULT_LIMIT_BYTES): KeptJson {
  const json = toJson(raw);
  if (!json.ok) {
    const { pointer, problem } = json;
    const text = message(toolTexts.resultNotJson(pointer, problem));
    return { ok: false, failure: { code: 'E_RESULT_NOT_JSON', message: text, details: { pointer } } };
  }
  if (isWithin(json.value, limit)) return json;
  const size = jsonSize(json.value, limit);
  const text = message(
    `the result is too large: its JSON text has at least ${size} bytes, and ${limit} are allowed`,
  );
  return { ok: false, failure: { code: 'E_RESULT_TOO_LARGE', message: text, details: { size, limit } } };
}

function boundValue(result: CallResult, outputSchema: JsonSchema | undefined): Json {
  const structured = result.structuredContent;
  if (structured !== undefined) {
    const keys = Object.keys(structured);
    return isWrapped(outputSchema) && keys.length === 1 && keys[0] === 'result'
      ? (structured.result ?? null)
      : structured;
  }
  const [only, ...others] = result.content;
  if (only === undefined || others.length > 0 || only.type !== 'text') return result.content;
  const text = String(only.text);
  return parseStructure(text) ?? text;
}

/** The JSON object or array that `text` is, if it is one. */
function parseStructure(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    // Through `toJson` again: text may nest deeper than a result may.
    const json = toJson(JSON.parse(text));
    return json.ok && (Array.isArray(json.value) || isJsonObject(json.value)) ? json.value : undefined;
  } catch {
    return undefined;
  }
}
