import { readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../graph/source-location.js';
import { MANIFEST_HEADER } from './emit/manifest.js';
import { REGISTRY_HEADER } from './emit/registry.js';
import { removeStaleFiles, takeTemporaryName } from './temporary-files.js';

/** A file to write, all of it. */
export interface OutputFile {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly text: string;
}

/** How a file on disk compares with what codegen would write. `foreign`: codegen did not write it. */
export type OutputState = 'current' | 'stale' | 'missing' | 'foreign';

/** Compares a file with what should be in it; its own files begin with the same line. Line ends may have been changed by a checkout. */
export async function outputState(root: string, { file, text }: OutputFile): Promise<OutputState> {
  const isRegistry = HEADERS.some((header) => text.startsWith(header));
  const present = readPresent(root, file, isRegistry ? HEADERS : [text.slice(0, text.indexOf('\n') + 1)]);
  if (present === 'missing' || present === 'foreign') return present;
  // Registries are large: bytes are compared without being decoded.
  const written = present.includes('\r') ? Buffer.from(withLineFeeds(present)) : present;
  const isCurrent = written.length === Buffer.byteLength(text) && written.equals(Buffer.from(text));
  return isCurrent ? 'current' : 'stale';
}

/** Whether the path of an output holds something that codegen did not write. */
export async function isForeign(root: string, file: string): Promise<boolean> {
  return readPresent(root, file, HEADERS) === 'foreign';
}

/** SW9004, for a path that holds something that codegen did not write. */
export function foreignFile(root: string, file: string, place?: SourceLocation): Diagnostic {
  const stats = statSync(path.join(root, file), { throwIfNoEntry: false });
  return diagnostic('SW9004', place, { file, isFolder: stats?.isDirectory() === true });
}

const HEADERS = [`${REGISTRY_HEADER}\n`, MANIFEST_HEADER];

/** No header is longer. */
const HEADER_BYTES = 200;

function readPresent(root: string, file: string, headers: readonly string[]): Buffer | 'missing' | 'foreign' {
  try {
    const bytes = readFileSync(path.join(root, file));
    const start = withLineFeeds(bytes.subarray(0, HEADER_BYTES));
    const isOurs = bytes.length === 0 || headers.some((header) => start.startsWith(header));
    return isOurs ? bytes : 'foreign';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'foreign';
  }
}

function withLineFeeds(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\r\n', '\n');
}

/**
 * Writes a file in one step: readers see the old text or the new one, never a part.
 *
 * @returns a diagnostic where the file system refuses (SW9005).
 */
export async function writeOutput(root: string, { file, text }: OutputFile): Promise<Diagnostic | undefined> {
  const target = path.join(root, file);
  const { temporary, release } = takeTemporaryName(target);
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(temporary, text, 'utf8');
    await rename(temporary, target);
    return undefined;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    return diagnostic('SW9005', undefined, { file, reason: reasonOf(error, root) });
  } finally {
    release();
  }
}

/** Removes temporary files that a killed run left beside an output. */
export function removeRemains(root: string, file: string): void {
  const target = path.join(root, file);
  removeStaleFiles(path.dirname(target), (name) => name === path.basename(target));
}

/** The cause in words; for rare causes, the system's message. */
function reasonOf(error: unknown, root: string): string {
  const { code, path: at } = error as NodeJS.ErrnoException;
  const where = at === undefined ? 'it' : `\`${path.relative(root, at).split(path.sep).join('/')}\``;
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${where} is not a folder`;
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'it is not permitted to write there';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENOSPC':
      return 'there is no space left';
    default: {
      const message = error instanceof Error ? error.message : String(error);
      return message.replaceAll(`${root}${path.sep}`, '');
    }
  }
}
