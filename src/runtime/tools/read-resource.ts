import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResourceContext } from '../../decorators/context.js';
import type { ResourceContent } from '../../decorators/resource.js';
import type { JsonObject } from '../../graph/json.js';
import { RESULT_LIMIT_BYTES } from './call-result.js';
import { thrownText } from './exceptions.js';
import type { CallContext, ResourceOutcome } from './port.js';
import type { Registry, ResourceEntry } from './registry.js';
import { message, texts } from './texts.js';
import { jsonSize } from './to-json.js';

/**
 * Gives content the shape a workflow binds. Fails with `E_RESOURCE_READ` where `read` throws, and where what it gives
 * is no {@link ResourceContent}; with `E_RESULT_TOO_LARGE` where that has more than {@link RESULT_LIMIT_BYTES} as JSON.
 */
export async function readContent(
  entry: ResourceEntry,
  uri: string,
  read: () => unknown,
  onThrown: (error: unknown) => void,
): Promise<ResourceOutcome> {
  try {
    const content = await read();
    const value = contentValue(content, uri, entry.mimeType);
    if (value === undefined) return failed(texts.resourceUnusable(describe(content)));
    const size = jsonSize(value, RESULT_LIMIT_BYTES);
    return size > RESULT_LIMIT_BYTES ? tooLarge(size) : { ok: true, value };
  } catch (error) {
    onThrown(error);
    return failed(thrownText(error));
  }
}

/** What `read()` of a class is given beside the variables of its address. */
export function resourceContext(
  uri: string,
  { signal, requestId, auth, principal }: CallContext,
): ResourceContext {
  return {
    signal,
    requestId,
    ...(auth === undefined ? {} : { auth }),
    ...(principal === undefined ? {} : { principal }),
    uri,
  };
}

/** `{ uri, mimeType?, text }` or `{ uri, mimeType?, blob }`; nothing where `content` is neither text nor bytes. */
function contentValue(content: unknown, uri: string, mimeType: string | undefined): JsonObject | undefined {
  const head = (type: string | undefined) => ({ uri, ...(type === undefined ? {} : { mimeType: type }) });
  if (typeof content === 'string') return { ...head(mimeType), text: content };
  if (content instanceof Uint8Array) return { ...head(mimeType), blob: base64(content) };
  if (typeof content !== 'object' || content === null) return undefined;
  const own: { readonly text?: unknown; readonly blob?: unknown; readonly mimeType?: unknown } = content;
  const type = typeof own.mimeType === 'string' ? own.mimeType : mimeType;
  if (typeof own.text === 'string' && own.blob === undefined) return { ...head(type), text: own.text };
  if (own.text !== undefined) return undefined;
  if (typeof own.blob === 'string') return isBase64(own.blob) ? { ...head(type), blob: own.blob } : undefined;
  return own.blob instanceof Uint8Array ? { ...head(type), blob: base64(own.blob) } : undefined;
}

function describe(content: unknown): string {
  if (content === undefined) return 'nothing';
  if (content === null) return 'null';
  if (typeof content !== 'object') return `a ${typeof content}`;
  return 'blob' in content && typeof content.blob === 'string'
    ? texts.blobNotBase64()
    : 'an object of another shape';
}

function tooLarge(size: number): ResourceOutcome {
  const text = message(texts.resourceTooLarge(size, RESULT_LIMIT_BYTES));
  const details = { size, limit: RESULT_LIMIT_BYTES };
  return { ok: false, failure: { code: 'E_RESULT_TOO_LARGE', message: text, details } };
}

function failed(text: string): ResourceOutcome {
  return { ok: false, failure: { code: 'E_RESOURCE_READ', message: message(text) } };
}

/**
 * The folder that {@link ResourceEntry.file} starts from: the nearest one with a `package.json`, above the generated
 * module or else above the working directory; the latter itself where there is none.
 */
export function packageRoot({ module }: Registry): string {
  const start = module?.startsWith('file:') ? dirname(fileURLToPath(module)) : process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** Whether a file of the package is there. */
export function hasFile(root: string, file: string): boolean {
  return existsSync(resolve(root, file));
}

/**
 * The content of a file of the package: text where it is UTF-8 and its media type does not say otherwise, else bytes.
 *
 * @throws whatever reading a file throws.
 */
export async function readPackageFile(
  root: string,
  file: string,
  mimeType: string | undefined,
  signal: AbortSignal,
): Promise<string | Uint8Array> {
  const bytes = await readFile(resolve(root, file), { signal });
  if (mimeType !== undefined && !isText(mimeType)) return bytes;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

function isText(mimeType: string): boolean {
  const [type = ''] = mimeType.toLowerCase().split(';');
  return (
    type.startsWith('text/') ||
    /[/+](?:json|xml|yaml|javascript|typescript|sql|toml)$/.test(type) ||
    type === 'application/x-yaml'
  );
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
