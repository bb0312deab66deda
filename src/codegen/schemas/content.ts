import { readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { texts } from './texts.js';

/** Text of this many bytes and less is embedded in the registry. */
export const MAX_EMBEDDED_BYTES = 64 * 1024;

/** The text of a resource's file, or why it cannot be embedded. */
export type ContentReading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Reads the file a resource names.
 *
 * @param root - absolute path of the project, which the file must not leave, not even through a link.
 * @param owner - the source file of the resource's class, relative to the root.
 * @param contentFile - as written in the decorator: relative to the owner's folder.
 */
export async function readContent(root: string, owner: string, contentFile: string): Promise<ContentReading> {
  if (isAbsolute(contentFile)) return unreadable(texts.absolutePath);
  const path = resolve(root, dirname(owner), contentFile);
  if (!contains(root, path)) return unreadable(texts.outsidePath);
  let bytes: Buffer;
  try {
    if (!contains(await realpath(root), await realpath(path))) return unreadable(texts.outsidePath);
    bytes = await readFile(path);
  } catch (error) {
    return unreadable(systemReason(error));
  }
  if (bytes.length > MAX_EMBEDDED_BYTES) {
    return unreadable(texts.tooLarge(bytes.length, MAX_EMBEDDED_BYTES));
  }
  try {
    // The decoder drops a byte order mark by itself.
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return unreadable(texts.notText);
  }
}

const unreadable = (why: string): ContentReading => ({ kind: 'unreadable', why });

function contains(folder: string, path: string): boolean {
  const inner = relative(folder, path);
  return inner !== '' && inner !== '..' && !inner.startsWith(join('..', sep)) && !isAbsolute(inner);
}

function systemReason(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  switch (code) {
    case 'ENOENT':
      return texts.noFile;
    case 'EISDIR':
      return texts.isFolder;
    case 'EACCES':
      return texts.notPermitted;
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
