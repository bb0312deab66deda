import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { REGISTRY_HEADER } from './emit/registry.js';

/** A file to write, all of it. */
export interface OutputFile {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly text: string;
}

/** How a file on disk compares with what codegen would write. `foreign`: something else stands in its place. */
export type OutputState = 'current' | 'stale' | 'missing' | 'foreign';

/** Compares a file with what should be in it. Line ends may have been changed by a checkout. */
export async function outputState(root: string, { file, text }: OutputFile): Promise<OutputState> {
  let present: string;
  try {
    present = (await readFile(path.join(root, file), 'utf8')).replaceAll('\r\n', '\n');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'foreign';
  }
  if (present === text) return 'current';
  const ours = present === '' || present.startsWith(`${REGISTRY_HEADER}\n`);
  return ours ? 'stale' : 'foreign';
}

/**
 * Writes a file in one step: readers see the old text or the new one, never a part.
 *
 * @returns a diagnostic where the file system refuses (SW9005).
 */
export async function writeOutput(root: string, { file, text }: OutputFile): Promise<Diagnostic | undefined> {
  const target = path.join(root, file);
  // In the same folder, since a rename does not cross file systems.
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(temporary, text, 'utf8');
    await rename(temporary, target);
    return undefined;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    return diagnostic('SW9005', undefined, { file, reason: reason.replaceAll(`${root}${path.sep}`, '') });
  }
}
