import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import { uriFault } from '../../graph/uri.js';
import { RESULT_LIMIT_BYTES } from './call-result.js';
import { thrownText } from './exceptions.js';
import type { ResourceOutcome } from './port.js';
import type { ResourceEntry } from './registry.js';
import { jsonSize } from './to-json.js';
import { message, quoted, toolTexts } from './tool-texts.js';

/** What a read content is made with. */
interface Head {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/**
 * Reads the content of a resource. Fails with `E_RESOURCE_READ` where `read` throws or returns a value that is not a
 * `ResourceContent`, and with `E_RESULT_TOO_LARGE` for more than {@link RESULT_LIMIT_BYTES} as JSON.
 *
 * @param onThrown receives what `read` threw.
 */
export async function readContent(
  { mimeType }: Pick<ResourceEntry, 'mimeType'>,
  uri: string,
  read: () => unknown,
  onThrown: (error: unknown) => void,
): Promise<ResourceOutcome> {
  let content: unknown;
  try {
    content = await read();
  } catch (error) {
    onThrown(error);
    return unreadable(thrownText(error));
  }
  const head = { uri, mimeType };
  if (!Array.isArray(content)) {
    const value = contentOf(content, head);
    return typeof value === 'string'
      ? unreadable(
          `read() gave ${value}: it may return text, bytes (Uint8Array), { text }, { blob } or a list of these`,
        )
      : fitting({ value });
  }
  const contents: JsonObject[] = [];
  for (const [index, item] of content.entries()) {
    const part = itemOf(item, head);
    if (typeof part === 'string')
      return unreadable(
        `read() gave a list, and item ${index} of it is ${part}: an item is text, bytes (Uint8Array), { text, uri? } or { blob, uri? }`,
      );
    contents.push(part);
  }
  return fitting({ value: asOne(contents, uri), contents });
}

/** Contents of one resource as one text: a workflow binds one value, and a conversation shows one block. */
function asOne(contents: readonly JsonObject[], uri: string): JsonObject {
  const [only, ...others] = contents;
  if (only !== undefined && others.length === 0) return { ...only, uri };
  const texts = contents.map(({ text, uri: own }) =>
    typeof text === 'string' ? text : `[Resource: ${String(own)}]`,
  );
  return { uri, mimeType: 'text/plain', text: texts.join('\n') };
}

function fitting(outcome: {
  readonly value: JsonObject;
  readonly contents?: readonly JsonObject[];
}): ResourceOutcome {
  const size = jsonSize([...(outcome.contents ?? [outcome.value])], RESULT_LIMIT_BYTES);
  return size > RESULT_LIMIT_BYTES ? tooLarge(size) : { ok: true, ...outcome };
}

/** One of several contents, as {@link contentOf}. Its address is its own where it has one. */
function itemOf(item: unknown, head: Head): JsonObject | string {
  if (!isRecord(item) || item.uri === undefined) return contentOf(item, head);
  const { uri } = item;
  if (typeof uri !== 'string') return 'an object whose uri is not text';
  const fault = uriFault(uri);
  return fault === undefined
    ? contentOf(item, { ...head, uri })
    : `an object whose uri ${quoted(uri)} is not an absolute URI (${fault})`;
}

/** `{ uri, mimeType?, text }` or `{ uri, mimeType?, blob }`, or in words what was found in place of text or bytes. */
function contentOf(content: unknown, { uri, mimeType }: Head): JsonObject | string {
  const head = (type: string | undefined) => ({ uri, ...defined({ mimeType: type }) });
  if (typeof content === 'string') return { ...head(mimeType), text: content };
  if (content instanceof Uint8Array) return { ...head(mimeType), blob: base64(content) };
  if (!isRecord(content)) return describe(content);
  const { text, blob } = content;
  const type = typeof content.mimeType === 'string' ? content.mimeType : mimeType;
  if (typeof text === 'string' && blob === undefined) return { ...head(type), text };
  if (text !== undefined) return toolTexts.contentOfOtherShape();
  if (blob instanceof Uint8Array) return { ...head(type), blob: base64(blob) };
  if (typeof blob !== 'string') return toolTexts.contentOfOtherShape();
  return isBase64(blob) ? { ...head(type), blob } : 'a blob whose text is not base64';
}

function describe(content: unknown): string {
  if (content === undefined) return 'nothing';
  if (content === null) return 'null';
  return Array.isArray(content) ? 'a list' : `a ${typeof content}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tooLarge(size: number): ResourceOutcome {
  const text = message(
    `the content is too large: its JSON text has at least ${size} bytes, and ${RESULT_LIMIT_BYTES} are allowed`,
  );
  const details = { size, limit: RESULT_LIMIT_BYTES };
  return { ok: false, failure: { code: 'E_RESULT_TOO_LARGE', message: text, details } };
}

function unreadable(text: string): ResourceOutcome {
  return { ok: false, failure: { code: 'E_RESOURCE_READ', message: message(text) } };
}

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Whether a value is base64 as clients accept it: the standard alphabet, padded. */
export function isBase64(value: unknown): value is string {
  if (typeof value !== 'string' || value.length % 4 !== 0) return false;
  return !/[^A-Za-z0-9+/]/.test(value.replace(/={1,2}$/, ''));
}
