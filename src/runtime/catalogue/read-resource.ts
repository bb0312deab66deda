import type { JsonObject } from '../../graph/json.js';
import type { CallContext, ResourceOutcome } from './port.js';
import type { ResourceEntry } from './registry.js';
import { message, texts } from './texts.js';
import { thrownText } from './thrown.js';

/** What `read()` of a resource class may return. Bytes are sent as base64; `blob` text is base64 already. */
export type ResourceContent =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string }
  | { readonly blob: string | Uint8Array; readonly mimeType?: string };

/** Asks an instance for its content at `uri`, and gives it the shape a workflow binds. Fails with `E_RESOURCE_READ`. */
export async function readInstance(
  entry: ResourceEntry,
  uri: string,
  read: (uri: string, context: CallContext) => unknown,
  context: CallContext,
): Promise<ResourceOutcome> {
  try {
    const content = await read(uri, context);
    const value = contentValue(content, uri, entry.mimeType);
    return value === undefined ? failed(texts.resourceUnusable(describe(content))) : { ok: true, value };
  } catch (error) {
    return failed(thrownText(error));
  }
}

/** `{ uri, mimeType?, text }` or `{ uri, mimeType?, blob }`; nothing where `content` is neither text nor bytes. */
export function contentValue(
  content: unknown,
  uri: string,
  mimeType: string | undefined,
): JsonObject | undefined {
  const head = (type: string | undefined) => ({ uri, ...(type === undefined ? {} : { mimeType: type }) });
  if (typeof content === 'string') return { ...head(mimeType), text: content };
  if (content instanceof Uint8Array) return { ...head(mimeType), blob: base64(content) };
  if (typeof content !== 'object' || content === null) return undefined;
  const own: { readonly text?: unknown; readonly blob?: unknown; readonly mimeType?: unknown } = content;
  const type = typeof own.mimeType === 'string' ? own.mimeType : mimeType;
  if (typeof own.text === 'string' && own.blob === undefined) return { ...head(type), text: own.text };
  if (own.text !== undefined) return undefined;
  if (typeof own.blob === 'string') return { ...head(type), blob: own.blob };
  return own.blob instanceof Uint8Array ? { ...head(type), blob: base64(own.blob) } : undefined;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function describe(content: unknown): string {
  if (content === undefined) return 'nothing';
  if (content === null) return 'null';
  return typeof content === 'object' ? 'an object of another shape' : `a ${typeof content}`;
}

function failed(text: string): ResourceOutcome {
  return { ok: false, failure: { code: 'E_RESOURCE_READ', message: message(text) } };
}
