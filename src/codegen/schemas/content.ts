import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { texts } from './texts.js';

/** Text of this many bytes and less is embedded in the registry. */
export const MAX_EMBEDDED_BYTES = 64 * 1024;

/** What becomes of a resource's file, or why it cannot be read. */
export type ContentReading =
  | { readonly kind: 'text'; readonly text: string }
  /** Too large to be embedded, or no text: it is read when it is asked for. */
  | {
      readonly kind: 'file';
      /** Relative to the package, with `/`. */
      readonly file: string;
      readonly isText: boolean;
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Reads the file a resource names.
 *
 * @param root - absolute path of the project, which the file must not leave, not even through a link.
 * @param owner - the source file of the resource's class, relative to the root.
 * @param contentFile - as written in the decorator: relative to the owner's folder.
 * @param packageRoot - absolute path of the folder that files are found from at run time.
 */
export async function readContent(
  root: string,
  owner: string,
  contentFile: string,
  packageRoot = root,
): Promise<ContentReading> {
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
  const text = decode(bytes);
  if (text !== undefined && bytes.length <= MAX_EMBEDDED_BYTES) return { kind: 'text', text };
  if (!contains(packageRoot, path)) return unreadable(texts.outsidePackage);
  const file = relative(packageRoot, path).split(sep).join('/');
  return { kind: 'file', file, isText: text !== undefined };
}

/** The decoder drops a byte order mark by itself. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The folder that a registry's files are found from at run time: the nearest one above it with a `package.json`, or
 * else its own.
 *
 * @param out - the registry's path relative to the root.
 */
export function packageRootOf(root: string, out: string): string {
  const start = dirname(resolve(root, out));
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return start;
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
