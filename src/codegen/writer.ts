import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path, { basename, dirname, join } from 'node:path';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { REGISTRY_HEADER } from './emit/registry.js';

/** A file to write, all of it. */
export interface OutputFile {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly text: string;
}

/** How a file on disk compares with what codegen would write. `foreign`: codegen did not write it. */
export type OutputState = 'current' | 'stale' | 'missing' | 'foreign';

/** Compares a file with what should be in it. Line ends may have been changed by a checkout. */
export async function outputState(root: string, { file, text }: OutputFile): Promise<OutputState> {
  const present = await readPresent(root, file);
  if (present === 'missing' || present === 'foreign') return present;
  return present.text === text ? 'current' : 'stale';
}

/** Whether the path of an output holds something that codegen did not write. */
export async function isForeign(root: string, file: string): Promise<boolean> {
  return (await readPresent(root, file)) === 'foreign';
}

async function readPresent(
  root: string,
  file: string,
): Promise<{ readonly text: string } | 'missing' | 'foreign'> {
  try {
    const text = (await readFile(path.join(root, file), 'utf8')).replaceAll('\r\n', '\n');
    const isOurs = text === '' || text.startsWith(`${REGISTRY_HEADER}\n`);
    return isOurs ? { text } : 'foreign';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'foreign';
  }
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

/** Files are written under such a name first: `.registry.ts.1a2b3c4d-4711-5e6f7a8b.tmp` names machine and process. */
const NAME = /^\.(.+)\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.tmp$/;

/** The age in milliseconds at which a file of an unknown process is removed. A write takes far less. */
const MAX_AGE_MS = 3_600_000;

const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

/** The temporary names that this process is using. */
const open = new Set<string>();

/** A name in the folder of the target, since a rename does not cross file systems. It is taken until it is released. */
export function takeTemporaryName(target: string): { readonly temporary: string; release(): void } {
  const unique = `${machine}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const temporary = join(dirname(target), `.${basename(target)}.${unique}.tmp`);
  open.add(temporary);
  return { temporary, release: () => void open.delete(temporary) };
}

/**
 * Removes temporary files that killed processes left in a folder. Other files, and those of processes that may still
 * write, remain.
 *
 * @param isOurs - whether codegen writes a file of this name there.
 */
export function removeStaleFiles(folder: string, isOurs: (name: string) => boolean): void {
  for (const entry of entriesOf(folder)) {
    const [, name, host, pid] = NAME.exec(entry) ?? [];
    const path = join(folder, entry);
    if (name === undefined || !isOurs(name) || open.has(path)) continue;
    const isDead = host === machine && !isAlive(Number(pid));
    try {
      if (isDead || Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path, { force: true });
    } catch {
      // Another run has removed it, or removal is not permitted: the file does no harm.
    }
  }
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** False for this process too, whose temporary files are known. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
