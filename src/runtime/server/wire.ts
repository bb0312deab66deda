import type { Icon } from '../../decorators/decorate.js';
import type { ToolAnnotations } from '../../decorators/tool.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../graph/json.js';
import type { TaskSupport } from '../../graph/model.js';
import { bodyText, clip, jsonText, oneLine } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import type { CallResult } from '../tools/call-result.js';

/** What items of every list may have. */
interface Listing {
  readonly name: string;
  readonly title?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** One item of `tools/list`. The author's hints are in `_meta['stepwright/hints']`. */
export interface ToolListing extends Listing {
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** How it may be called as a task. Default: it may not. */
  readonly execution?: { readonly taskSupport: TaskSupport };
}

/** One item of `prompts/list`. */
export interface PromptListing extends Listing {
  readonly description?: string;
  readonly arguments: readonly PromptArgumentListing[];
}

/**
 * An argument of a prompt. Its type, if it is not text, is in the description: the protocol has no other place for it.
 */
export interface PromptArgumentListing {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly required: boolean;
}

/** One item of `resources/list`. */
export interface ResourceListing extends Listing {
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** One item of `resources/templates/list`. */
export interface ResourceTemplateListing extends Listing {
  readonly uriTemplate: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** The content of a resource: text, or bytes in base64. */
export type ResourceContents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

/** A part of a tool result or of a prompt message. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string; readonly _meta?: JsonObject }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: ResourceContents; readonly _meta?: JsonObject }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly description?: string;
      readonly mimeType?: string;
    };

/** The answer to `prompts/get` of a prompt in loose mode. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: ContentBlock;
  }[];
}

/** The answer to `completion/complete`. */
export interface CompletionResult {
  readonly completion: {
    /** At most 100. */
    readonly values: readonly string[];
    readonly total: number;
    readonly hasMore: boolean;
  };
}

/** The answer to `tools/call`. */
export interface ToolResult<Structured = JsonObject> {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Structured;
  readonly isError?: true;
  readonly _meta?: JsonObject;
}

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
      ...defined({ structuredContent, _meta }),
    };
  }
  return {
    content: [{ type: 'text', text: typeof value === 'string' ? bodyText(value) : jsonText(value) }],
    ...(isJsonObject(value) ? { structuredContent: value } : {}),
  };
}

/**
 * A failure as the answer to `tools/call`: a result and no protocol error, so that a model can read what to correct.
 * The code for programs is in `_meta`.
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
        ...defined({ outcomeUnknown, retryAfterMs, details }),
      },
    },
  };
}

/** A block that the toolset recognised as content. Its text is encoded: a tool may hand on what others wrote. */
function shownBlock(block: CallResult['content'][number]): ContentBlock {
  const { type, text } = block;
  const shown = type === 'text' && typeof text === 'string' ? { ...block, text: bodyText(text) } : block;
  return shown as CallResult['content'][number] & ContentBlock;
}

/** The JSON-RPC codes this server answers with. */
export const faultCodes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  resourceNotFound: -32002,
  /** The authenticated caller cannot be distinguished from others; of the codes that JSON-RPC leaves to servers. */
  unidentified: -32003,
  /** The server ends and takes no further requests; of the codes that JSON-RPC leaves to servers. */
  shuttingDown: -32004,
  /** A limit of this server is reached; of the codes that JSON-RPC leaves to servers. */
  exhausted: -32005,
  /** Middleware refused the request; of the codes that JSON-RPC leaves to servers. */
  refused: -32006,
} as const;

/**
 * A request that is answered with a protocol error rather than a result. Thrown by the server's methods;
 * an adapter sends `code`, `message` and `data` as they are.
 */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';

  constructor(
    /** A JSON-RPC error code, one of {@link faultCodes}. */
    readonly code: number,
    message: string,
    /** Details for programs. */
    readonly data?: Json,
  ) {
    super(message);
  }
}

/** What every item of a list may have. */
export function headOf(
  name: string,
  entry: {
    readonly title?: string;
    readonly icons?: readonly Icon[];
    readonly meta?: JsonObject | undefined;
  },
) {
  const { title, icons, meta } = entry;
  return {
    name,
    ...defined({ title, icons, _meta: meta }),
  };
}

/** How long a client may keep a result, and whether it may give it to other callers. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

/** Lists and the description of the server, or the content at an address. */
export type CacheSubject = 'lists' | { readonly uri: string };

/** Who gets a result. */
export interface CachingCaller {
  readonly auth?: object | undefined;
}

/** A question to the user of a client: as a form of the protocol, on its page, or in both ways. */
export interface UserQuestion {
  readonly id: string;
  readonly message: string;
  /** Of the form. Missing where a form cannot have the answer, or does not prove that a person gives it. */
  readonly schema?: JsonSchema;
  /** The address of the page. Missing on a server without pages. */
  readonly url?: string;
}

/** In which ways a client puts questions to its user. */
export interface AskingClient {
  /** In forms. */
  readonly canAsk: boolean;
  /** By opening pages. */
  readonly canOpen: boolean;
}

/** The questions that a client can put, each in the one way that it is put: as a form, or else on its page. */
export function putBy(
  { canAsk, canOpen }: AskingClient,
  questions: readonly UserQuestion[],
): readonly UserQuestion[] {
  return questions.flatMap(({ schema, url, ...question }): readonly UserQuestion[] => {
    if (canAsk && schema !== undefined) return [{ ...question, schema }];
    return canOpen && url !== undefined ? [{ ...question, url }] : [];
  });
}

/** The sentence of the protocol: why a state is refused does not reach its sender. */
export function invalidState(): ProtocolFault {
  return new ProtocolFault(faultCodes.invalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
}

/** @param keys of the input requests with a response that is not one. */
export function invalidResponses(keys: readonly string[]): ProtocolFault {
  const names = keys.map((key) => `'${clip(key)}'`).join(', ');
  return new ProtocolFault(
    faultCodes.invalidParams,
    `Invalid inputResponses: ${names}: expected the result of the request with this key, such as { "action": "accept", "content": { … } }, { "action": "decline" } or { "action": "cancel" } for an elicitation`,
  );
}
