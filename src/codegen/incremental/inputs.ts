import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { isFromSource } from '../../formats/own-files.js';
import { pnpFlags } from '../../formats/plug-n-play.js';
import { type SourcePatterns, sourceNames, textHash } from '../../formats/source-record.js';
import { type MarkOf, sha256 } from './memo.js';

/** Larger files are compared by size and modification time. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

// References to the originals: a process that imports modules replaces the exports to observe calls.
const own = { readdirSync, readFileSync, statSync };

/** Describes what is at a path: a file by its bytes, a folder by the names in it. */
export function stateOf(path: string): string {
  try {
    const stats = own.statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return NOTHING;
    if (stats.isDirectory()) return `folder ${sha256(JSON.stringify(own.readdirSync(path).sort()))}`;
    if (!stats.isFile()) return 'other';
    return stats.size > MAX_HASHED_BYTES
      ? `large ${stats.size} ${stats.mtimeMs}`
      : `file ${sha256(own.readFileSync(path))}`;
  } catch (error) {
    return `fault ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The state of a path that does not exist. */
export const NOTHING = 'nothing';

/** The read of an environment variable; `*` for the whole environment. */
export const variableRead = (name: string): string => `env ${name}`;

/** The read of how Node.js finds modules. */
export const CONDITIONS_READ = 'conditions ';

export const namesRead = (without: readonly string[], patterns: SourcePatterns): string =>
  `names ${JSON.stringify([without, patterns])}`;

/**
 * The marks of what a run reads of its surroundings: variables, names, and all others are absolute paths.
 *
 * @param root - of the project, absolute.
 */
export function marksIn(root: string, states = new States()): MarkOf {
  const { flags, env } = childConditions(root);
  return (reading) => {
    const [, kind, rest = ''] = /^(env|names|conditions) (.*)$/s.exec(reading) ?? [];
    if (kind === 'env') return variableMark(rest, env);
    if (kind === 'conditions') return sha256(JSON.stringify([flags, env.NODE_OPTIONS ?? '']));
    if (kind === 'names') return sourceNames(root, ...(JSON.parse(rest) as [string[], SourcePatterns]));
    return states.of(reading);
  };
}

/** What a process that imports modules runs under, beside its files. */
interface ChildConditions {
  /** Node's arguments that decide which modules are found. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The conditions of a process that is started now to import modules.
 *
 * @param root - absolute path of the project.
 */
export function childConditions(root: string): ChildConditions {
  const flags = [...pnpFlags(root, process.env.NODE_OPTIONS), ...nodeFlags(process.execArgv)];
  return { flags, env: { ...process.env, STEPWRIGHT_CODEGEN: '1' } };
}

/** The conditions by which this process resolves packages, so that a child loads the same modules. */
export function nodeFlags(execArgv: readonly string[]): string[] {
  // From source, the package's own name resolves to source too.
  const flags: string[] = isFromSource ? ['--conditions=@stepwright/source'] : [];
  execArgv.forEach((argument, i) => {
    if (argument.startsWith('--conditions=')) flags.push(argument);
    const next = execArgv[i + 1];
    if ((argument === '-C' || argument === '--conditions') && next !== undefined)
      flags.push(`--conditions=${next}`);
  });
  return [...new Set(flags)];
}

/** A hash, so that the cache has no secret. */
function variableMark(name: string, env: NodeJS.ProcessEnv): string {
  const value = name === '*' ? Object.entries(env).sort() : [env[name] ?? null];
  return sha256(JSON.stringify(value));
}

/** The description of a package, what a lockfile asks for, and what a package manager has recorded about its work. */
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

/** The files in a folder that decide which packages there are. */
export function manifestsIn(folder: string): readonly string[] {
  return MANIFESTS.map((name) => path.join(folder, name));
}

/** What a run of codegen has looked at, so that a later one can tell whether anything is different. */
export class Inputs {
  /** Absolute paths of files and folders, those that do not exist among them, with their states when they were first seen. */
  readonly paths = new Map<string, string>();
  /** Whether a phase has read what no mark describes: then the run cannot be recalled. */
  isOpen = false;
  /** Reads that are no paths, with their marks. */
  readonly others = new Map<string, string>();
  readonly #root: string;
  readonly #states: States;

  /**
   * @param root - that relative paths start from.
   * @param states - of files that this process has read. Default: none.
   */
  constructor(root: string, states = new States()) {
    this.#root = root;
    this.#states = states;
  }

  /** Records a path before it is read, or before it is looked for. */
  see(file: string): void {
    const absolute = path.resolve(this.#root, file);
    if (!this.paths.has(absolute)) this.paths.set(absolute, this.stateOf(absolute));
  }

  /** Records what a phase has read, in this run or in an earlier one. The first state of a path counts. */
  add(reads: Iterable<readonly [read: string, mark: string]>): void {
    for (const [read, mark] of reads) {
      const all = path.isAbsolute(read) ? this.paths : this.others;
      if (!all.has(read)) all.set(read, mark);
    }
  }

  /** The state of a path now. */
  stateOf(absolute: string): string {
    return this.#states.of(absolute);
  }

  /**
   * Whether all paths have the states that were seen.
   *
   * @param but - absolute paths of files that may have changed.
   */
  areCurrent(but: readonly string[]): boolean {
    return [...this.paths].every(([file, state]) => but.includes(file) || this.stateOf(file) === state);
  }

  /**
   * The hash of a file's text, if the file is still what it was when it was first seen.
   *
   * @param isCurrent - whether that is known already.
   */
  textHashOf(absolute: string, isCurrent: boolean): string | undefined {
    return this.#states.textHashOf(absolute, this.paths.get(absolute), isCurrent);
  }
}

/** The states of files and folders for a process that asks for them often: one that was not touched is not read again. */
export class States {
  readonly #known = new Map<string, { readonly signature: string; readonly state: string }>();
  /** By the states of files. */
  readonly #textHashes = new Map<string, string>();

  of(absolute: string): string {
    const signature = signatureOf(absolute);
    const cached = this.#known.get(absolute);
    if (signature !== undefined && cached?.signature === signature) return cached.state;
    const state = stateOf(absolute);
    // A file that was changed while it was read, or has just been, may change again without a new signature.
    const isSettled = signature !== undefined && signature === signatureOf(absolute) && isOld(absolute);
    if (isSettled) this.#known.set(absolute, { signature, state });
    else this.#known.delete(absolute);
    return state;
  }

  /** The hash of a file's text, if the file has a state; with `isCurrent` it is known to have it. */
  textHashOf(absolute: string, state: string | undefined, isCurrent: boolean): string | undefined {
    const cached = state === undefined ? undefined : this.#textHashes.get(state);
    if (isCurrent && cached !== undefined) return cached;
    const hash = cached ?? textHash(absolute);
    if (state === undefined || this.of(absolute) !== state) return undefined;
    this.#textHashes.set(state, hash);
    return hash;
  }
}

/** Below the clock of a file system, two changes may have one time. */
const CLOCK_MS = 50;

function isOld(absolute: string): boolean {
  const { mtimeMs, ctimeMs } = statsOf(absolute) ?? { mtimeMs: 0, ctimeMs: 0 };
  return Math.abs(Date.now() - Math.max(mtimeMs, ctimeMs)) > CLOCK_MS;
}

/** Differs after each change of a file that its clock shows; nothing where there is none. */
export function signatureOf(absolute: string): string | undefined {
  const stats = statsOf(absolute);
  if (stats === undefined) return undefined;
  const { mtimeMs, ctimeMs, size, ino } = stats;
  return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** Nothing as well where the file system refuses: a link may lead to itself, and a folder may be a file now. */
export function statsOf(absolute: string): Stats | undefined {
  try {
    return statSync(absolute, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
