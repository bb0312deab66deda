import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateOf } from '../../incremental/inputs.js';

/** What modules read while they were imported, beside the modules that they load. */
export interface Reads {
  /** Names of environment variables; `*` if all of the environment was listed. */
  readonly variables: readonly string[];
  /** Absolute paths of files and folders, with their states when they were first looked at. */
  readonly paths: Readonly<Record<string, string>>;
  /** Whether a process was started, or more was read than can be kept: then the result cannot be used again. */
  readonly isOpen: boolean;
}

export const NO_READS: Reads = { variables: [], paths: {}, isOpen: false };

const READER =
  /^(?:access|createReadStream|exists|glob|l?stat|open|openAsBlob|opendir|readFile|readdir)(?:Sync)?$/;

const STARTER = /^(?:exec|execFile|fork|spawn)(?:Sync)?$/;

/** A module that reads more paths than this searches the file system. */
const MAX_PATHS = 500;

/**
 * Records from now on which environment variables, files and folders this process looks at. Reads of installed packages
 * are left out: their versions identify them.
 *
 * @returns a function that returns the reads since its last call.
 */
export function recordReads(): () => Reads {
  const variables = new Set<string>();
  const paths = new Map<string, string>();
  let isOpen = false;
  let isLooking = false;
  const onPath = (path: unknown): void => {
    // `readFileSync`, which describes a path, calls `openSync`.
    const file = isLooking ? undefined : pathOf(path);
    if (file === undefined || paths.has(file) || file.split(sep).includes('node_modules')) return;
    isLooking = true;
    if (paths.size < MAX_PATHS) paths.set(file, stateOf(file));
    else isOpen = true;
    isLooking = false;
  };
  for (const owner of [fs, fs.promises])
    for (const name of Object.keys(owner).filter((each) => READER.test(each)))
      callBefore(owner, name, (path, mode) => {
        const isWriting = name.startsWith('open') && typeof mode === 'string' && /^[wa][^+]*$/.test(mode);
        if (name.startsWith('glob')) isOpen = true;
        else if (!isWriting) onPath(path);
      });
  for (const name of Object.keys(childProcess).filter((each) => STARTER.test(each)))
    callBefore(childProcess, name, () => {
      isOpen = true;
    });
  syncBuiltinESMExports();
  recordVariables(variables);
  return () => {
    const reads = { variables: [...variables], paths: Object.fromEntries(paths), isOpen };
    variables.clear();
    paths.clear();
    isOpen = false;
    return reads;
  };
}

function recordVariables(variables: Set<string>): void {
  const recording =
    <Result>(look: (env: NodeJS.ProcessEnv, name: string | symbol) => Result) =>
    (env: NodeJS.ProcessEnv, name: string | symbol): Result => {
      if (typeof name === 'string') variables.add(name);
      return look(env, name);
    };
  process.env = new Proxy(process.env, {
    get: recording((env, name): unknown => Reflect.get(env, name)),
    has: recording(Reflect.has),
    getOwnPropertyDescriptor: recording(Reflect.getOwnPropertyDescriptor),
    ownKeys: (env) => {
      variables.add('*');
      return Reflect.ownKeys(env);
    },
    // A proxy would define a property, which the environment refuses.
    set: (env, name, value) => Reflect.set(env, name, value),
  });
}

/** All of several reads. A path with two states is in none that it can have again. */
export function mergeReads(all: readonly Reads[]): Reads {
  const paths: Record<string, string> = {};
  for (const reads of all)
    for (const [path, state] of Object.entries(reads.paths))
      paths[path] = (paths[path] ?? state) === state ? state : 'changed';
  return {
    variables: [...new Set(all.flatMap(({ variables }) => variables))].sort(),
    paths,
    isOpen: all.some(({ isOpen }) => isOpen),
  };
}

type Call = (...args: unknown[]) => unknown;

function callBefore(owner: object, name: string, see: Call): void {
  const original = Reflect.get(owner, name) as unknown;
  if (typeof original !== 'function') return;
  const recorded = function (this: unknown, ...args: unknown[]): unknown {
    see(...args);
    return Reflect.apply(original, this, args);
  };
  // Some have functions of their own: `promisify.custom`, `native`.
  Object.defineProperties(recorded, Object.getOwnPropertyDescriptors(original));
  Reflect.set(owner, name, recorded);
}

/** Undefined for a file descriptor. */
function pathOf(path: unknown): string | undefined {
  try {
    if (path instanceof URL) return fileURLToPath(path);
    if (Buffer.isBuffer(path)) return resolve(path.toString());
    return typeof path === 'string' ? resolve(path) : undefined;
  } catch {
    return undefined;
  }
}
