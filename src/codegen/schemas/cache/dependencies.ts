import childProcess from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin, syncBuiltinESMExports } from 'node:module';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkedFolder } from '../../../formats/plug-n-play.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import { aliasedPaths, type LoaderSettings } from '../loader/settings.js';

/** The transitive dependencies of files. */
interface Closure {
  /** Absolute paths, those of every `package.json` and lockfile among them. */
  readonly files: ReadonlySet<string>;
  /** Of the paths and bytes of all of it, as hex. */
  readonly hash: string;
  /** False where some of it loads what its text does not name. */
  readonly isComplete: boolean;
}

/** Finds closures; each file is read once. */
export interface Closures {
  /** @param entries - absolute paths. */
  of(entries: readonly string[]): Closure;
}

/**
 * Follows what modules load: relative imports and aliases, in all files that they may lead to; packages by their `package.json`
 * and by the lockfiles of all folders above; packages that are linked by their sources. See {@link filesOf}.
 */
export function openClosures(
  disk: Disk,
  settings: LoaderSettings = { experimentalDecorators: false },
): Closures {
  const modules = new Map<string, { readonly loads: readonly string[]; readonly isComplete: boolean }>();
  const read = (file: string) => {
    const known = modules.get(file);
    if (known !== undefined) return known;
    const { named, isComplete } = specifiersOf(disk.text(file) ?? '');
    const found = {
      loads: named.flatMap((specifier) => [
        ...aliasedFiles(disk, specifier, settings),
        ...filesOf(disk, specifier, file),
      ]),
      isComplete,
    };
    modules.set(file, found);
    return found;
  };
  const known = new Map<string, Closure>();
  const find = (entries: readonly string[]): Closure => {
    const files = new Set<string>(entries);
    let isComplete = true;
    // Iteration includes files added to the set meanwhile.
    for (const file of files) {
      if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
      const found = read(file);
      isComplete &&= found.isComplete;
      for (const each of found.loads) files.add(each);
    }
    const folders = new Set([...files].flatMap((file) => disk.ancestors(dirname(file))));
    for (const folder of folders) for (const manifest of disk.manifests(folder)) files.add(manifest);
    const hash = createHash('sha256');
    for (const file of [...files].sort()) hash.update(`${file}\0${disk.hash(file)}\n`);
    return { files, hash: hash.digest('hex'), isComplete };
  };
  return {
    of(entries) {
      const key = entries.join('\0');
      const closure = known.get(key) ?? find(entries);
      known.set(key, closure);
      return closure;
    },
  };
}

/** What the text of a module says about what it loads. */
export interface Specifiers {
  /** The specifiers of `import`, `export … from` and `require`, and every path in quotes. */
  readonly named: readonly string[];
  /** False where it loads what its text does not name: such a module has to be run each time. */
  readonly isComplete: boolean;
}

/** Statements that are erased; they begin a line, so that no comment can make one of a statement that is kept. */
const ERASED =
  /^[ \t]*(?:import|export)\s+type\s+(?:\{[^{}]*\}|\*\s*as\s+[\w$]+|\*|[\w$]+)\s+from\s*(?:'[^'\n]*'|"[^"\n]*")/gm;

const LOADED =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*)(?:'([^'\n]*)'|"([^"\n]*)"|`([^`\n]*)`)/g;

/** A path between two quotes, whichever they are: the quotes of a comment need not come in pairs. */
const QUOTED_PATH = /(?<=['"`])\.{1,2}\/[^'"`\r\n]*(?=['"`])/g;

/** `import(path)`, `require(path)`, and ways to a `require` of another name. */
const COMPUTED =
  /\b(?:import|require(?:\.resolve)?)\s*\(\s*(?!['"`\s])|\bcreateRequire\b|\bimport\.meta\.(?:resolve|glob)\b/;

/**
 * Reads what a module loads off its text. It is not parsed: too much may be found, in comments and in strings, which
 * costs a needless run; too little may not.
 */
export function specifiersOf(text: string): Specifiers {
  const kept = text.replace(ERASED, '');
  const loaded = [...kept.matchAll(LOADED)].map(
    ([, single, double, template]) => single ?? double ?? template ?? '',
  );
  // What is escaped or put together is not what is loaded.
  const isPlain = loaded.every((specifier) => !/\\|\$\{/.test(specifier));
  const paths = kept.match(QUOTED_PATH) ?? [];
  return {
    named: [...new Set([...loaded, ...paths])],
    isComplete: isPlain && !COMPUTED.test(kept),
  };
}

/**
 * Every file that a specifier may lead to, whichever conditions and extensions count: one that is not loaded costs a
 * needless run when it changes. For an installed package it is only the `package.json`, whose version identifies its
 * contents; a linked package (a workspace, a checkout) is followed like the project itself.
 *
 * @param from - absolute path of the module.
 */
function filesOf(disk: Disk, specifier: string, from: string): readonly string[] {
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

/** The files that a specifier may lead to by an alias of the project. */
function aliasedFiles(disk: Disk, specifier: string, settings: LoaderSettings): readonly string[] {
  return aliasedPaths(specifier, settings).flatMap((path) => candidates(disk, path));
}

function installedFiles(disk: Disk, name: string, inside: string, from: string): readonly string[] {
  const found = disk
    .ancestors(dirname(from))
    .map((folder) => linkedFolder(folder, name) ?? join(folder, 'node_modules', name))
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

/** The file system as it was when it was first asked. A later look takes a new one. */
export interface Disk {
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
  /** Nothing for a file that cannot be read. */
  text(path: string): string | undefined;
  /** Of the bytes, as hex; empty for a file that cannot be read. */
  hash(path: string): string;
  /** The folder and all above it. */
  ancestors(folder: string): readonly string[];
  /** What decides in a folder which packages there are. */
  manifests(folder: string): readonly string[];
}

/** The description of a package, what a lockfile asks for, and what a package manager has noted about its work. */
const MANIFESTS = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  '.pnp.cjs',
  'node_modules/.package-lock.json',
  'node_modules/.yarn-integrity',
  'node_modules/.yarn-state.yml',
  'node_modules/.modules.yaml',
];

export function openDisk(): Disk {
  const kinds = new Map<string, 'file' | 'folder' | 'nothing'>();
  const contents = new Map<string, Buffer | undefined>();
  const hashes = new Map<string, string>();
  const manifests = new Map<string, readonly string[]>();
  const kindOf = (path: string) => remembered(kinds, path, () => look(path));
  const bytes = (path: string) => remembered(contents, path, () => read(path));
  const disk: Disk = {
    isFile: (path) => kindOf(path) === 'file',
    isFolder: (path) => kindOf(path) === 'folder',
    text: (path) => bytes(path)?.toString('utf8'),
    hash: (path) => remembered(hashes, path, () => hashOf(bytes(path))),
    ancestors,
    manifests: (folder) =>
      remembered(manifests, folder, () =>
        MANIFESTS.map((name) => join(folder, name)).filter((path) => disk.isFile(path)),
      ),
  };
  return disk;
}

function remembered<T>(known: Map<string, T>, key: string, find: () => T): T {
  if (!known.has(key)) known.set(key, find());
  return known.get(key) as T;
}

function look(path: string): 'file' | 'folder' | 'nothing' {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) return 'file';
    return stats?.isDirectory() ? 'folder' : 'nothing';
  } catch {
    return 'nothing';
  }
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function hashOf(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : createHash('sha256').update(bytes).digest('hex');
}

function ancestors(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}

/** What modules read while they were imported, beside the modules they load: environment variables, files, folders. */
export interface Reads {
  /** Names of environment variables. */
  readonly variables: readonly string[];
  /** Whether all of the environment was listed. */
  readonly allVariables: boolean;
  /** Absolute paths of files and folders, with their {@link stateOf} when they were first looked at. */
  readonly paths: Readonly<Record<string, string>>;
  /** Whether they have done what cannot be looked at again: started a process, or read more than can be kept. */
  readonly beyond: boolean;
}

export const NO_READS: Reads = { variables: [], allVariables: false, paths: {}, beyond: false };

/** Larger files are compared by size and modification time. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

// References to the originals: the child replaces the module's exports to observe calls.
const own = { readdirSync, readFileSync, statSync };

/** Describes what is at a path: a file by its bytes, a folder by the names in it. */
export function stateOf(path: string): string {
  try {
    const stats = own.statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'nothing';
    if (stats.isDirectory()) return `folder ${hash(JSON.stringify(own.readdirSync(path).sort()))}`;
    if (!stats.isFile()) return 'other';
    return stats.size > MAX_HASHED_BYTES
      ? `large ${stats.size} ${stats.mtimeMs}`
      : `file ${hash(own.readFileSync(path))}`;
  } catch (error) {
    return `fault ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The union; a path that was in two states is in none that could come again. */
export function mergeReads(all: readonly Reads[]): Reads {
  const paths: Record<string, string> = {};
  for (const reads of all) {
    for (const [path, state] of Object.entries(reads.paths)) {
      paths[path] = (paths[path] ?? state) === state ? state : 'changed';
    }
  }
  return {
    variables: [...new Set(all.flatMap(({ variables }) => variables))].sort(),
    allVariables: all.some(({ allVariables }) => allVariables),
    paths,
    beyond: all.some(({ beyond }) => beyond),
  };
}

/** True where all paths are as they were. */
export function areCurrent({ paths }: Reads): boolean {
  return Object.entries(paths).every(([path, state]) => stateOf(path) === state);
}

/** Hashes the values of the variables that were read, so that the cache holds no secret. */
export function environmentHash({ variables, allVariables }: Reads, env: NodeJS.ProcessEnv): string {
  const names = allVariables ? Object.keys(env).sort() : variables;
  return hash(JSON.stringify(names.map((name) => [name, env[name] ?? null])));
}

function hash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The classes of a module may depend on what it reads while it is imported. */
const READERS = [
  'access',
  'accessSync',
  'createReadStream',
  'exists',
  'existsSync',
  'glob',
  'globSync',
  'lstat',
  'lstatSync',
  'open',
  'openAsBlob',
  'openSync',
  'opendir',
  'opendirSync',
  'readFile',
  'readFileSync',
  'readdir',
  'readdirSync',
  'stat',
  'statSync',
] as const;

const STARTERS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;

/** A module that reads more paths than this searches the file system, and is not cached. */
const MAX_PATHS = 500;

/**
 * Watches this process from now on: which environment variables, files and folders are looked at. What packages read
 * of their own folders is left out, since their versions identify it.
 *
 * @returns a function that gives what was looked at since it was called last.
 */
export function observeReads(): () => Reads {
  const variables = new Set<string>();
  const paths = new Map<string, string>();
  let allVariables = false;
  let beyond = false;
  let isLooking = false;

  const sawPath = (path: unknown): void => {
    // What is called to describe a path calls others that are watched: `readFileSync` calls `openSync`.
    if (isLooking) return;
    const file = pathOf(path);
    if (file === undefined || paths.has(file) || file.split(sep).includes('node_modules')) return;
    isLooking = true;
    if (paths.size < MAX_PATHS) paths.set(file, stateOf(file));
    else beyond = true;
    isLooking = false;
  };
  const sawVariable = (name: string | symbol): void => {
    if (typeof name === 'string') variables.add(name);
  };

  process.env = new Proxy(process.env, {
    get: (env, name) => {
      sawVariable(name);
      return Reflect.get(env, name) as unknown;
    },
    has: (env, name) => {
      sawVariable(name);
      return Reflect.has(env, name);
    },
    getOwnPropertyDescriptor: (env, name) => {
      sawVariable(name);
      return Reflect.getOwnPropertyDescriptor(env, name);
    },
    ownKeys: (env) => {
      allVariables = true;
      return Reflect.ownKeys(env);
    },
    // Defining a property, as a proxy would do by itself, is refused by the environment.
    set: (env, name, value) => Reflect.set(env, name, value),
  });
  for (const name of READERS) {
    const see: Called = (path, mode) => {
      const isWriting = name.startsWith('open') && typeof mode === 'string' && /^[wa][^+]*$/.test(mode);
      if (name.startsWith('glob')) beyond = true;
      else if (!isWriting) sawPath(path);
    };
    before(fs, name, see);
    before(fs.promises, name, see);
  }
  for (const name of STARTERS) {
    before(childProcess, name, () => {
      beyond = true;
    });
  }
  syncBuiltinESMExports();

  return () => {
    const reads = { variables: [...variables], allVariables, paths: Object.fromEntries(paths), beyond };
    variables.clear();
    paths.clear();
    allVariables = false;
    beyond = false;
    return reads;
  };
}

type Called = (...args: unknown[]) => unknown;

/** Calls `see` with the arguments of a function before each call of it. A function that is not there stays away. */
function before(owner: object, name: string, see: Called): void {
  const original = Reflect.get(owner, name) as Called | undefined;
  if (typeof original !== 'function') return;
  const watched = function (this: unknown, ...args: unknown[]): unknown {
    see(...args);
    return original.apply(this, args);
  };
  // Some have functions of their own: `promisify.custom`, `native`.
  Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
  Reflect.set(owner, name, watched);
}

/** Nothing for a file descriptor. */
function pathOf(path: unknown): string | undefined {
  try {
    if (path instanceof URL) return fileURLToPath(path);
    if (Buffer.isBuffer(path)) return resolve(path.toString());
    return typeof path === 'string' ? resolve(path) : undefined;
  } catch {
    return undefined;
  }
}
