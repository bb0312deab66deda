import childProcess from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, { readdirSync, readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What modules have looked at while they were imported, beside what they load. */
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

/** Larger files stand with their size and time. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

// Kept apart from the module's exports, which the child replaces to see them called.
const own = { readdirSync, readFileSync, statSync };

/** What is at a path: a file by its bytes, a folder by the names in it. */
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

/** The values of the variables that were looked at, without telling them. */
export function environmentHash({ variables, allVariables }: Reads, env: NodeJS.ProcessEnv): string {
  const names = allVariables ? Object.keys(env).sort() : variables;
  return hash(JSON.stringify(names.map((name) => [name, env[name] ?? null])));
}

function hash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** What modules look at before they have been imported is what their classes may depend on. */
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

/** So many paths say that a module searches, not reads. */
const MAX_PATHS = 500;

/**
 * Watches this process from now on: which environment variables, files and folders are looked at. What packages read
 * of their own folders is left out, since their versions stand for it.
 *
 * @returns a function that gives what was looked at since it was called last.
 */
export function observeReads(): () => Reads {
  const variables = new Set<string>();
  const paths = new Map<string, string>();
  let allVariables = false;
  let beyond = false;

  const sawPath = (path: unknown): void => {
    const file = pathOf(path);
    if (file === undefined || paths.has(file) || file.split(sep).includes('node_modules')) return;
    if (paths.size < MAX_PATHS) paths.set(file, stateOf(file));
    else beyond = true;
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
