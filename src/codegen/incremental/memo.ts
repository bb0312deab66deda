/**
 * The memory of codegen between runs, and between processes.
 *
 * A phase of codegen is a pure function of what it reads. The memo has the last output of each phase for each subject (a
 * file, a class, a run), with its key (a hash of the input that was known before) and its reads: what the phase looked
 * at while it worked, each with the mark (a hash, a state) of its content at that time.
 *
 * There is one rule: an output is used again if its key is the same and each of its reads has the same mark now. An
 * output of another key or of other marks is computed again and replaced. A file of other software (another version of
 * this package, of Node.js) is not read at all.
 *
 * One file of the project's cache has all of it. An output that a run without errors has not used is dropped.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolderOf, SOURCE_RECORD } from '../../formats/source-record.js';
import { removeStaleFiles, writeIfPermitted } from '../writer.js';

/** What a phase looked at, each with its mark. */
export type Reads = Iterable<readonly [read: string, mark: string]>;

export type MarkOf = (reading: string) => string;

interface Entry {
  readonly key: string;
  readonly reads: readonly (readonly [string, string])[];
  readonly output: unknown;
  /** The line of the file; made when it is first saved. */
  line?: string;
  /** An output of this process that has no JSON form. */
  readonly isObject?: boolean;
}

export interface MemoFile {
  /** Of the project's cache. */
  readonly folder: string;
  readonly name: string;
  /** Of the software. */
  readonly key: string;
}

export class Memo {
  readonly #file: MemoFile | undefined;
  readonly #keepsObjects: boolean;
  readonly #entries = new Map<string, Entry>();
  /** Lines of the file whose entries were not asked for yet. */
  readonly #lines: Map<string, string>;
  readonly #used = new Set<string>();
  #isChanged = false;

  /**
   * @param file - default: it is not saved.
   * @param keepsObjects - whether outputs without a JSON form are kept for later phases of this process. Default false.
   */
  constructor(file?: MemoFile, keepsObjects = false) {
    this.#file = file;
    this.#keepsObjects = keepsObjects;
    this.#lines = file === undefined ? new Map() : readLines(file);
  }

  /** @param markOf - the marks of reads now. Not needed for a phase without reads. */
  recall<T>(phase: string, subject: string, key: string, markOf?: MarkOf): T | undefined {
    return this.entry<T>(phase, subject, key, markOf)?.output;
  }

  /** The output that was kept last, of any key and any reads. */
  last<T>(phase: string, subject: string): T | undefined {
    return this.#find(idOf(phase, subject))?.output as T | undefined;
  }

  /** Whether there is an output of this key, whatever its reads are now. */
  has(phase: string, subject: string, key: string): boolean {
    return this.#find(idOf(phase, subject))?.key === key;
  }

  /** As {@link recall}, with the reads. */
  entry<T>(
    phase: string,
    subject: string,
    key: string,
    markOf: MarkOf = () => '',
  ): { readonly output: T; readonly reads: Entry['reads'] } | undefined {
    const id = idOf(phase, subject);
    const entry = this.#find(id);
    if (entry?.key !== key || !entry.reads.every(([read, mark]) => markOf(read) === mark)) return undefined;
    this.#used.add(id);
    return entry as Entry & { readonly output: T };
  }

  keep(phase: string, subject: string, key: string, output: unknown, reads: Reads = []): void {
    const id = idOf(phase, subject);
    const entry = { key, reads: [...reads], output };
    const last = this.#find(id);
    if (last?.key === key && bodyOf(last) === bodyOf(entry)) this.#used.add(id);
    else this.#put(id, entry);
  }

  /** Keeps an output that has no JSON form, for later phases of this process. */
  keepObject(phase: string, subject: string, key: string, output: object): void {
    if (this.#keepsObjects) this.#put(idOf(phase, subject), { key, reads: [], output, isObject: true });
  }

  /**
   * Writes the file, if an entry was added or replaced.
   *
   * @param isWhole - whether every phase has worked since the last time: then other entries are dropped.
   */
  save(isWhole: boolean): void {
    const ids = isWhole ? this.#used : new Set([...this.#lines.keys(), ...this.#entries.keys()]);
    const used = [...ids];
    this.#used.clear();
    if (this.#file === undefined || !this.#isChanged) return;
    const { folder, name, key } = this.#file;
    const text = used.flatMap((id) => this.#lineOf(id) ?? []).join('\n');
    writeIfPermitted(pathOf(folder, name), `${headOf(key, text.length)}\n${text}`);
    this.#isChanged = false;
  }

  #put(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    this.#used.add(id);
    if (entry.isObject !== true) this.#isChanged = true;
  }

  #find(id: string): Entry | undefined {
    const cached = this.#entries.get(id);
    if (cached !== undefined) return cached;
    const line = this.#lines.get(id);
    const entry = line === undefined ? undefined : parseLine(line);
    this.#lines.delete(id);
    if (entry !== undefined) this.#entries.set(id, entry);
    return entry;
  }

  #lineOf(id: string): string | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return this.#lines.get(id);
    if (entry.isObject) return undefined;
    entry.line ??= printLine(id, entry);
    return entry.line;
  }
}

/** JSON has no tabs and no line breaks. */
const idOf = (phase: string, subject: string): string => JSON.stringify([phase, subject]);

/** @param length - of the text behind it, which may be truncated. */
const headOf = (key: string, length: number): string => `stepwright memo ${key} ${length}`;

function readLines({ folder, name, key }: MemoFile): Map<string, string> {
  try {
    const text = readFileSync(pathOf(folder, name), 'utf8');
    const end = text.indexOf('\n') + 1;
    const lines = text.slice(end).split('\n');
    if (text.slice(0, end) !== `${headOf(key, text.length - end)}\n`) return new Map();
    return new Map(lines.map((line) => [line.slice(0, line.indexOf('\t')), line]));
  } catch {
    return new Map();
  }
}

function printLine(id: string, { key, reads, output }: Entry): string {
  const body = bodyOf({ key, reads, output });
  return `${id}\t${sha256(id + body)}\t${body}`;
}

const bodyOf = ({ key, reads, output }: Entry): string => JSON.stringify([key, reads, output]);

/** Nothing for a line that is truncated or modified. */
function parseLine(line: string): Entry | undefined {
  const [id = '', hash, body = ''] = line.split('\t');
  if (hash !== sha256(id + body)) return undefined;
  const [key, reads, output] = JSON.parse(body) as [string, Entry['reads'], unknown];
  return { key, reads, output, line };
}

/** One file for each name: the cache does not grow with every change. */
function pathOf(folder: string, name: string): string {
  return join(folder, `${sha256(name).slice(0, 32)}.json`);
}

const CACHE_FILE = /^[0-9a-f]{32}\.json$/;

/**
 * The folder of a project's cache, created if needed, without remains of processes that were killed. Undefined without
 * a `package.json`, and without the permission to write.
 */
export function cacheFolder(root: string): string | undefined {
  try {
    readFileSync(join(root, 'package.json'));
    const folder = cacheFolderOf(root);
    mkdirSync(folder, { recursive: true });
    removeStaleFiles(folder, (name) => CACHE_FILE.test(name) || SOURCE_RECORD.test(name));
    return folder;
  } catch {
    return undefined;
  }
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
