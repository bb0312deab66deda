import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { removeStaleFiles, takeTemporaryName } from '../../temporary-files.js';
import type { ClassReading } from '../protocol.js';
import type { Reads } from './reads.js';

/** What is kept of one module. */
export interface CacheEntry {
  /** What the readings were made from. */
  readonly key: string;
  readonly reads: Reads;
  /** Of the variables among the reads. */
  readonly environment: string;
  readonly classes: readonly ClassReading[];
}

/**
 * The folder of a project's cache, made if need be, without what runs that were killed have left in it. Nothing where there is none to be had: without a `package.json`
 * the folder is no project; without the right to write, or where `node_modules` is a link into another project, it is
 * not ours to fill.
 */
export function cacheFolder(root: string): string | undefined {
  const folder = join(root, 'node_modules', '.cache', 'stepwright');
  try {
    readFileSync(join(root, 'package.json'));
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    for (const made of [dirname(dirname(folder)), dirname(folder), folder]) {
      mkdirSync(made, { recursive: true });
      if (!realpathSync(made).startsWith(realpathSync(root) + sep)) return undefined;
    }
    removeStaleFiles(folder, (name) => /^[0-9a-f]{32}\.json$/.test(name));
    return folder;
  } catch {
    return undefined;
  }
}

/** Reads an entry. One that is missing, cut off or changed by whomever is none. */
export function readEntry(folder: string, module: string): CacheEntry | undefined {
  try {
    const text = readFileSync(entryPath(folder, module), 'utf8');
    const end = text.indexOf('\n');
    const body = text.slice(end + 1);
    return text.slice(0, end) === sha256(body) ? (JSON.parse(body) as CacheEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes an entry in one step. Where the file system refuses, there is none. */
export function writeEntry(folder: string, module: string, entry: CacheEntry): void {
  const target = entryPath(folder, module);
  const { temporary, release } = takeTemporaryName(target);
  const body = JSON.stringify(entry);
  try {
    writeFileSync(temporary, `${sha256(body)}\n${body}`);
    renameSync(temporary, target);
  } catch {
    rmSync(temporary, { force: true, recursive: true });
  } finally {
    release();
  }
}

/** One file for each module, whatever becomes of it: the cache does not grow with every change. */
function entryPath(folder: string, module: string): string {
  return join(folder, `${sha256(module).slice(0, 32)}.json`);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
