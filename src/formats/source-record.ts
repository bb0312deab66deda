import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type Json } from '../graph/json.js';
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
  /** The glob patterns of spec files; missing without any. */
  readonly specs?: readonly string[];
}

/** Where codegen keeps what it remembers of a project, relative to its root. */
export const CACHE_FOLDER = 'node_modules/.cache/stepwright';

/** Each configuration of a project has a record of its own. */
export const SOURCE_RECORD = /^sources(?:-[0-9a-f]{8})?\.json$/;

export function sourceRecordName(configFile: string | undefined): string {
  return configFile === undefined ? 'sources.json' : `sources-${sha256(configFile).slice(0, 8)}.json`;
}

/** The records of a project. One that cannot be read is left out. */
export function readSourceRecords(root: string): readonly SourceRecord[] {
  const folder = path.join(root, CACHE_FOLDER);
  try {
    const names = readdirSync(folder).filter((name) => SOURCE_RECORD.test(name));
    return names.flatMap((name) => readSourceRecord(path.join(folder, name)) ?? []);
  } catch {
    return [];
  }
}

/** Undefined for a file that is not there or is damaged. */
export function readSourceRecord(file: string): SourceRecord | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Json;
    return isSourceRecord(value) ? (value as unknown as SourceRecord) : undefined;
  } catch {
    return undefined;
  }
}

function isSourceRecord(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { registries, sources, configFile = '', names, specs = [] } = value;
  const tables = [registries, sources].every((each) => each !== undefined && isJsonObject(each));
  return tables && typeof configFile === 'string' && typeof names === 'string' && Array.isArray(specs);
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
 * Hashes the names of all files below a folder that may be sources.
 *
 * @param without - files that do not count, relative to the root.
 * @param specs - the glob patterns of spec files.
 */
export function sourceNames(
  root: string,
  without: readonly string[] = [],
  specs: readonly string[] = [],
): string {
  const excluded = new Set(without.map((file) => path.join(root, file)));
  const bounds = specs.map((pattern) => boundsOf(root, pattern));
  const maySpecify = (file: string): boolean =>
    isSpec(file) && bounds.some(([start, end]) => file.startsWith(start) && file.endsWith(end));
  const names: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === 'node_modules' || entry.name === '.git') continue;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) visit(file);
      else if ((SOURCE.test(entry.name) || maySpecify(file)) && !excluded.has(file)) names.push(file);
    }
  };
  visit(root);
  return sha256(names.sort().join('\0'));
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
