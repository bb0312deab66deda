import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { CACHE_FOLDER, SOURCE_RECORD } from '../../../formats/source-record.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import { removeStaleFiles, writeIfPermitted } from '../../temporary-files.js';

const ENTRY = /^[0-9a-f]{32}\.json$/;

/**
 * The folder of a project's cache, created if needed, without leftovers of killed runs. Undefined without a
 * `package.json`, without the permission to write, or where `node_modules` is a link into another project.
 */
export function cacheFolder(root: string): string | undefined {
  const folder = join(root, CACHE_FOLDER);
  try {
    readFileSync(join(root, 'package.json'));
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    for (const made of [dirname(dirname(folder)), dirname(folder), folder]) {
      mkdirSync(made, { recursive: true });
      if (!realpathSync(made).startsWith(realpathSync(root) + sep)) return undefined;
    }
    removeStaleFiles(folder, (name) => ENTRY.test(name) || SOURCE_RECORD.test(name));
    return folder;
  } catch {
    return undefined;
  }
}

/** Reads an entry; undefined if it is missing, truncated or modified, or no object. */
export function readEntry<T>(folder: string, name: string): T | undefined {
  const text = readText(folder, name);
  if (text === undefined) return undefined;
  try {
    const entry = JSON.parse(text) as Json;
    return isJsonObject(entry) ? (entry as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes an entry in one step. Where the file system refuses, there is none. */
export function writeEntry(folder: string, name: string, entry: object): void {
  writeText(folder, name, JSON.stringify(entry));
}

/** The text of an entry; undefined if it is missing, truncated or modified. */
export function readText(folder: string, name: string): string | undefined {
  try {
    const text = readFileSync(entryPath(folder, name), 'utf8');
    const end = text.indexOf('\n');
    const body = text.slice(end + 1);
    return text.slice(0, end) === sha256(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** See {@link writeEntry}. */
export function writeText(folder: string, name: string, body: string): void {
  writeIfPermitted(entryPath(folder, name), `${sha256(body)}\n${body}`);
}

/** One file for each name, whatever becomes of it: the cache does not grow with every change. */
function entryPath(folder: string, name: string): string {
  return join(folder, `${sha256(name).slice(0, 32)}.json`);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
