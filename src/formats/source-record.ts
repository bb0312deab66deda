import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type JsonObject, jsonOf } from '../graph/json.js';
import { formatOf } from './text/read-text.js';

/**
 * The sources that a project's registries were made from. Codegen writes it beside its cache, and a server compares it
 * with the disk when it starts. The registries do not have it: each edit of a source would be a change of theirs.
 */
export interface SourceRecord {
  /** The checksums that each registry had, the latest first, by its file relative to the root. */
  readonly registries: Readonly<Record<string, readonly string[]>>;
  /** The configuration that codegen was given; missing for the usual one. */
  readonly configFile?: string;
  /** {@link textHash} of each file, by its path relative to the root. */
  readonly sources: Readonly<Record<string, string>>;
  /** {@link sourceNames} of the root, without the registries. */
  readonly names: string;
  /** The glob patterns of sources and of spec files. */
  readonly patterns: SourcePatterns;
}

/** Glob patterns, relative to the root. */
export interface SourcePatterns {
  readonly sources: readonly string[];
  /** Of spec files. */
  readonly specs: readonly string[];
}

/**
 * The folder where codegen keeps what it remembers of a project. One that a link has outside of the project is shared
 * with others: there each project has a folder of its own.
 *
 * @param root - absolute path of the project.
 */
export function cacheFolderOf(root: string): string {
  const folder = path.join(root, 'node_modules/.cache/stepwright');
  const realRoot = realPath(root);
  return realPath(folder).startsWith(realRoot + path.sep)
    ? folder
    : path.join(folder, sha256(realRoot).slice(0, 16));
}

/** The path of a file from a folder, with `/`. */
export function relativePath(folder: string, file: string): string {
  return path.relative(folder, file).split(path.sep).join('/');
}

/** The text of a file; undefined for one that cannot be read. */
export function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The object in a JSON file; nothing for any other file. */
export function objectIn(file: string): JsonObject | undefined {
  const value = jsonOf(textIn(file)?.replace(/^\uFEFF/, '') ?? '');
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

/** A folder and all above it, the nearest first. */
export function foldersAbove(folder: string): readonly string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

/** A path without links; a part that does not exist stays as it is. */
export function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const above = path.dirname(file);
    return above === file ? file : path.join(realPath(above), path.basename(file));
  }
}

/** Each configuration of a project has a record of its own. */
export const SOURCE_RECORD = /^sources(?:-[0-9a-f]{8})?\.json$/;

export function sourceRecordName(configFile: string | undefined): string {
  return configFile === undefined ? 'sources.json' : `sources-${sha256(configFile).slice(0, 8)}.json`;
}

/** The records of a project. One that cannot be read is left out. */
export function readSourceRecords(root: string): readonly SourceRecord[] {
  const folder = cacheFolderOf(root);
  try {
    const names = readdirSync(folder).filter((name) => SOURCE_RECORD.test(name));
    return names.flatMap((name) => readSourceRecord(path.join(folder, name)) ?? []);
  } catch {
    return [];
  }
}

/** Undefined for a file that is not there or is damaged. */
export function readSourceRecord(file: string): SourceRecord | undefined {
  const value = objectIn(file);
  return value !== undefined && isSourceRecord(value) ? (value as unknown as SourceRecord) : undefined;
}

function isSourceRecord(value: JsonObject): boolean {
  const { registries, sources, configFile = '', names, patterns } = value;
  const tables = [registries, sources, patterns].every((each) => each !== undefined && isJsonObject(each));
  return tables && typeof configFile === 'string' && typeof names === 'string';
}

/** Hashes a file as text: a checkout may have changed its line ends. Empty for a file that cannot be read. */
export function textHash(file: string): string {
  try {
    const bytes = readFileSync(file);
    return sha256(bytes.includes(CARRIAGE_RETURN) ? bytes.toString('utf8').replaceAll('\r\n', '\n') : bytes);
  } catch {
    return '';
  }
}

const CARRIAGE_RETURN = 0x0d;

/** A file that may be a source. */
export const SOURCE = /(?<!\.d)\.[cm]?tsx?$/;

/**
 * Hashes the names of all files below a folder that may be sources. Links are followed in the folders of the patterns:
 * those elsewhere may lead to anything.
 *
 * @param without - files that do not count, relative to the root.
 */
export function sourceNames(
  root: string,
  without: readonly string[] = [],
  { sources, specs }: SourcePatterns = { sources: [], specs: [] },
): string {
  const excluded = new Set(without.map((file) => path.join(root, file)));
  const specBounds = specs.map((pattern) => boundsOf(root, pattern));
  const starts = [...sources.map((pattern) => boundsOf(root, pattern)), ...specBounds].map(
    ([start]) => start,
  );
  const maySpecify = (file: string): boolean =>
    isSpec(file) && specBounds.some(([start, end]) => file.startsWith(start) && file.endsWith(end));
  const isFollowed = (link: string): boolean =>
    starts.some((start) => link.startsWith(start) || start.startsWith(link + path.sep));
  const names: string[] = [];
  // Links may lead back.
  const followed = new Set<string>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === 'node_modules' || entry.name === '.git') continue;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() || (entry.isSymbolicLink() && isFollowed(file) && isNewFolder(file, followed)))
        visit(file);
      else if ((SOURCE.test(entry.name) || maySpecify(file)) && !excluded.has(file)) names.push(file);
    }
  };
  visit(root);
  return sha256(names.sort().join('\0'));
}

/** Whether a link leads to a folder that no link before it leads to. */
function isNewFolder(link: string, followed: Set<string>): boolean {
  const target = realPath(link);
  if (followed.has(target) || statSync(target, { throwIfNoEntry: false })?.isDirectory() !== true)
    return false;
  followed.add(target);
  return true;
}

/** Whether a file may be a spec file, and is not written by codegen. */
function isSpec(file: string): boolean {
  return formatOf(file) !== undefined && !file.endsWith('.specs.schema.json');
}

const WILDCARD = /[*?[\]{}()!+@|\\]/;

/** What the paths of all files that match a pattern begin and end with; nothing that can match is left out. */
function boundsOf(root: string, pattern: string): readonly [start: string, end: string] {
  const parts = path.posix.normalize(pattern).split('/');
  const wild = parts.findIndex((part) => WILDCARD.test(part));
  const fixed = wild === -1 ? parts : parts.slice(0, wild);
  const start = path.join(root, ...fixed);
  const [extension = ''] = /\.[a-z]+$/i.exec(pattern) ?? [];
  return [wild === -1 ? start : start + path.sep, extension];
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
