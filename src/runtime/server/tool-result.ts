import { isJsonObject, type Json } from '../../graph/json.js';
import type { CallResult } from '../catalogue/call-result.js';
import { bodyText, jsonText, oneLine } from '../catalogue/encode-text.js';
import type { Failure } from '../engine/contract.js';
import type { ContentBlock, ToolResult } from './wire.js';

/** Key of the failure in a result's `_meta`: `{ code, message, outcomeUnknown?, retryAfterMs?, details? }`. */
export const FAILURE_META = 'stepwright/failure';

/**
 * A tool's value as the answer to `tools/call`: text as it is, anything else as JSON, objects as structured content
 * as well. A tool that speaks MCP itself keeps its own content. Texts are encoded, structured content is as it was.
 */
export function successResult(value: Json, callResult: CallResult | undefined): ToolResult {
  if (callResult !== undefined) {
    const { content, structuredContent, _meta } = callResult;
    return {
      content: content.map(shownBlock),
      ...(structuredContent === undefined ? {} : { structuredContent }),
      ...(_meta === undefined ? {} : { _meta }),
    };
  }
  return {
    content: [{ type: 'text', text: typeof value === 'string' ? bodyText(value) : jsonText(value) }],
    ...(isJsonObject(value) ? { structuredContent: value } : {}),
  };
}

/**
 * A failure as the answer to `tools/call`: a result and no protocol error, so that a model can read what to correct.
 * The code for programs stands in `_meta`.
 */
export function failureResult(failure: Failure, callResult?: CallResult): ToolResult {
  const { code, message, outcomeUnknown, retryAfterMs, details } = failure;
  return {
    content: callResult?.content.length
      ? callResult.content.map(shownBlock)
      : [{ type: 'text', text: oneLine(message, Number.POSITIVE_INFINITY) }],
    ...(callResult?.structuredContent === undefined
      ? {}
      : { structuredContent: callResult.structuredContent }),
    isError: true,
    _meta: {
      ...callResult?._meta,
      [FAILURE_META]: {
        code,
        message,
        ...(outcomeUnknown === undefined ? {} : { outcomeUnknown }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(details === undefined ? {} : { details }),
      },
    },
  };
}

/** A block the catalogue has recognised as content. Its text is encoded: a tool may hand on what others wrote. */
function shownBlock(block: CallResult['content'][number]): ContentBlock {
  const { type, text } = block;
  const shown = type === 'text' && typeof text === 'string' ? { ...block, text: bodyText(text) } : block;
  return shown as CallResult['content'][number] & ContentBlock;
}
