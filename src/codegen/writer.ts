import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import path, { basename, dirname, join } from 'node:path';
import { relativePath } from '../formats/source-record.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../graph/source-location.js';
import { REGISTRY_HEADER } from './emit/registry.js';
import { MANIFEST_HEADER } from './manifest.js';

export interface OutputFile {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly text: string;
  /** Whether a text is an earlier form of the file. Default: what begins with the same line is one. */
  readonly isOurs?: (present: string) => boolean;
}

/** How a file on disk compares with what codegen would write. `foreign`: codegen did not write it. */
export type OutputState = 'current' | 'stale' | 'missing' | 'foreign';

/** Compares a file with what should be in it; its own files begin with the same line. Line ends may have been changed by a checkout. */
export function outputState(root: string, { file, text }: OutputFile): OutputState {
  const isRegistry = HEADERS.some((header) => text.startsWith(header));
  const headers = isRegistry ? HEADERS : [text.slice(0, text.indexOf('\n') + 1)];
  return lookInto(root, file, headers, (descriptor, start) => {
    // The first line says which line ends the file has.
    const isCurrent = start.includes('\r')
      ? withLineFeeds(readFileSync(descriptor)) === text
      : isText(descriptor, text);
    return isCurrent ? 'current' : 'stale';
  });
}

const CHUNK = 65_536;

/**
 * Whether a file has this text. Registries are large: a new one differs from the former in its checksum, near its
 * beginning, and no more of the file is read.
 */
function isText(descriptor: number, text: string): boolean {
  let position = 0;
  for (let start = 0; start < text.length; ) {
    const end = endOfChunk(text, start);
    const expected = Buffer.from(text.slice(start, end));
    const result = Buffer.allocUnsafe(expected.length);
    const count = readSync(descriptor, result, 0, result.length, position);
    if (count !== result.length || !result.equals(expected)) return false;
    position += count;
    start = end;
  }
  return fstatSync(descriptor).size === position;
}

/** Both halves of a character are in one chunk. There may be a half without the other before it. */
function endOfChunk(text: string, start: number): number {
  let end = start + CHUNK;
  while ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
  return end;
}

/** Whether the path of an output holds something that codegen did not write. */
export function isForeign(root: string, file: string): boolean {
  return lookInto(root, file, HEADERS, () => 'stale') === 'foreign';
}

/** SW9004, for a path that holds something that codegen did not write. */
export function foreignFile(root: string, file: string, place?: SourceLocation): Diagnostic {
  const stats = statSync(path.join(root, file), { throwIfNoEntry: false });
  return diagnostic('SW9004', place, { file, isFolder: stats?.isDirectory() === true });
}

const HEADERS = [`${REGISTRY_HEADER}\n`, MANIFEST_HEADER];

/** No header is longer. */
const HEADER_BYTES = 200;

/** @param look - looks into a file that codegen has written, which begins with these bytes. */
function lookInto(
  root: string,
  file: string,
  headers: readonly string[],
  look: (descriptor: number, start: Buffer) => OutputState,
): OutputState {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path.join(root, file), 'r');
    const bytes = Buffer.alloc(HEADER_BYTES);
    const start = bytes.subarray(0, readSync(descriptor, bytes, 0, HEADER_BYTES, 0));
    const isOurs = start.length === 0 || headers.some((header) => withLineFeeds(start).startsWith(header));
    return isOurs ? look(descriptor, start) : 'foreign';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'foreign';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
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
export function writeOutput(root: string, { file, text }: OutputFile): Diagnostic | undefined {
  const target = path.join(root, file);
  try {
    mkdirSync(path.dirname(target), { recursive: true });
    replaceFile(target, text);
    return undefined;
  } catch (error) {
    return diagnostic('SW9005', undefined, { file, reason: reasonOf(error, root) });
  }
}

/** @throws Error where the file system refuses. */
function replaceFile(target: string, text: string): void {
  const { temporary, release } = takeTemporaryName(target);
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, target);
  } catch (error) {
    removeIfPermitted(temporary);
    throw error;
  } finally {
    release();
  }
}

export interface WrittenOutputs {
  readonly diagnostics: readonly Diagnostic[];
  /** Files whose bytes have changed. */
  readonly written: readonly string[];
  /** Files that were already up to date. */
  readonly current: readonly string[];
}

/**
 * Compares all outputs before it writes the first one, so that a run that cannot finish changes nothing.
 *
 * @param check - whether an output that is not up to date is reported (SW9001) instead of written.
 */
export function writeOutputs(root: string, outputs: readonly OutputFile[], check: boolean): WrittenOutputs {
  const diagnostics: Diagnostic[] = [];
  const current: string[] = [];
  const outdated: OutputFile[] = [];
  for (const output of outputs) {
    const { file } = output;
    const state = isOther(root, output) ? 'foreign' : outputState(root, output);
    switch (state) {
      case 'current':
        current.push(file);
        break;
      case 'foreign':
        diagnostics.push(foreignFile(root, file));
        break;
      case 'stale':
      case 'missing':
        if (check) diagnostics.push(diagnostic('SW9001', undefined, { file, state }));
        else outdated.push(output);
        break;
      default:
        state satisfies never;
    }
  }
  const written: string[] = [];
  if (diagnostics.length > 0) return { diagnostics, written, current };
  for (const output of outdated) {
    const fault = writeOutput(root, output);
    if (fault === undefined) written.push(output.file);
    else diagnostics.push(fault);
  }
  return { diagnostics, written, current };
}

/** Whether a file of another form has this name. */
function isOther(root: string, { file, isOurs }: OutputFile): boolean {
  if (isOurs === undefined) return false;
  try {
    return !isOurs(readFileSync(path.join(root, file), 'utf8'));
  } catch {
    return false;
  }
}

function removeIfPermitted(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // In a folder of another user nothing was written.
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
  const where = at === undefined ? 'it' : `\`${relativePath(root, at)}\``;
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

/** Writes a file in one step, for a cache: where the file system refuses, the file remains as it is. */
export function writeIfPermitted(target: string, text: string): void {
  try {
    replaceFile(target, text);
  } catch {
    // A run without a cache is slower, and no worse.
  }
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
