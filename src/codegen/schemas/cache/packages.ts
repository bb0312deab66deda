import { realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json } from '../../../graph/json.js';
import type { Disk } from './disk.js';

/**
 * Every file that a specifier may lead to, whichever conditions and extensions count: one that is not loaded costs a
 * needless run when it changes. Of a package that is installed it is the `package.json` alone, whose version stands
 * for what is in it; a package that is linked (a workspace, a checkout) is followed like the project itself.
 *
 * @param from - absolute path of the module.
 */
export function filesOf(disk: Disk, specifier: string, from: string): readonly string[] {
  if (specifier.startsWith('file:'))
    return candidates(disk, fileURLToPath(new URL(specifier.replace(/[?#].*$/, ''))));
  if (/^\.{0,2}\//.test(specifier) || specifier === '.' || specifier === '..') {
    const path = resolve(dirname(from), specifier);
    return [...candidates(disk, path), ...candidates(disk, path.replace(/[?#].*$/, ''))];
  }
  if (/^\w{2,}:/.test(specifier) || isBuiltin(specifier)) return [];
  const own = disk.ancestors(dirname(from)).find((folder) => disk.isFile(join(folder, 'package.json')));
  const manifest = own === undefined ? {} : manifestOf(disk, own);
  if (specifier.startsWith('#')) {
    return own === undefined ? [] : targetFiles(disk, own, leaves(manifest.imports, specifier), from);
  }
  const [, name, rest] = /^(@[^/]+\/[^/]+|[^/]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === undefined) return [];
  const inside = `.${rest ?? ''}`;
  const ownFiles = own !== undefined && manifest.name === name ? packageFiles(disk, own, inside) : [];
  return [...ownFiles, ...installedFiles(disk, name, inside, from)];
}

function installedFiles(disk: Disk, name: string, inside: string, from: string): readonly string[] {
  const found = disk
    .ancestors(dirname(from))
    .map((folder) => join(folder, 'node_modules', name))
    .find((folder) => disk.isFolder(folder));
  if (found === undefined) return [];
  const real = realpathSync(found);
  if (real.split(sep).includes('node_modules')) return [join(real, 'package.json')];
  return packageFiles(disk, real, inside);
}

/** The files of a package that `name` (`.`) or `name/inside` (`./inside`) may lead to. */
function packageFiles(disk: Disk, folder: string, inside: string): readonly string[] {
  const manifest = manifestOf(disk, folder);
  const own = join(folder, 'package.json');
  if (manifest.exports !== undefined) {
    return [own, ...targetFiles(disk, folder, leaves(manifest.exports, inside), own)];
  }
  const entries = [manifest.main, manifest.module].filter((entry) => typeof entry === 'string');
  const paths = inside === '.' ? ['.', ...entries] : [inside];
  return [own, ...paths.flatMap((path) => candidates(disk, join(folder, path)))];
}

function targetFiles(
  disk: Disk,
  folder: string,
  targets: readonly string[],
  from: string,
): readonly string[] {
  return targets.flatMap((target) =>
    target.startsWith('.') ? candidates(disk, join(folder, target)) : filesOf(disk, target, from),
  );
}

/** What an `exports` or `imports` map has for a key, under all conditions. */
function leaves(map: unknown, key: string): readonly string[] {
  const isTable = isJsonObject(map as Json) && Object.keys(map as object).some((each) => /^[.#]/.test(each));
  if (!isTable) return key === '.' ? textsIn(map) : [];
  return Object.entries(map as object).flatMap(([pattern, target]) => {
    if (pattern === key) return textsIn(target);
    const [head = '', tail] = pattern.split('*');
    const isMatch = tail !== undefined && key.startsWith(head) && key.endsWith(tail);
    if (!isMatch || key.length < head.length + tail.length) return [];
    const matched = key.slice(head.length, key.length - tail.length);
    return textsIn(target).map((text) => text.replaceAll('*', matched));
  });
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

type Manifest = Readonly<Record<string, unknown>>;

function manifestOf(disk: Disk, folder: string): Manifest {
  try {
    const value = JSON.parse(disk.text(join(folder, 'package.json')) ?? '') as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** `./x.js` is written for `./x.ts`. */
const WRITTEN_FOR: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx'],
  '.jsx': ['.tsx', '.ts'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

/** CommonJS leaves extensions and `index` out. */
const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.node'];

/** All files that a path may mean, as they are: which of them are there is part of what is remembered. */
function candidates(disk: Disk, path: string): readonly string[] {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const names = [path, ...(WRITTEN_FOR[extension] ?? []).map((each) => stem + each)];
  if (!/^\.[cm]?[jt]sx?$/.test(extension)) {
    for (const each of EXTENSIONS) names.push(path + each, join(path, `index${each}`));
  }
  return names.filter((name) => disk.isFile(name));
}
