import { type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { textHash } from '../formats/source-record.js';
import { stateOf } from './schemas/cache/dependencies.js';
import type { ModuleRequest } from './schemas/import-modules.js';

/** What a run of codegen has looked at, so that a later one can tell whether anything is different. */
export class Inputs {
  /** Absolute paths of files and folders, those that do not exist among them, with their states when they were first seen. */
  readonly paths = new Map<string, string>();
  /** The modules whose classes were read. */
  readonly modules: ModuleRequest[] = [];
  readonly #root: string;
  readonly #states: States;

  /**
   * @param root - that relative paths start from.
   * @param states - what is known of the states of files. Default: nothing.
   */
  constructor(root: string, states = new States()) {
    this.#root = root;
    this.#states = states;
  }

  /** Notes a path before it is read, or before it is looked for. */
  see(file: string): void {
    const absolute = path.resolve(this.#root, file);
    if (!this.paths.has(absolute)) this.paths.set(absolute, this.stateOf(absolute));
  }

  /** The state of a path now. */
  stateOf(absolute: string): string {
    return this.#states.of(absolute);
  }

  /**
   * Whether all that was looked at is as it was.
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
    const known = this.#known.get(absolute);
    if (signature !== undefined && known?.signature === signature) return known.state;
    const state = stateOf(absolute);
    // A file that was changed while it was read, or has just been, may change again without a new signature.
    const isSettled = signature !== undefined && signature === signatureOf(absolute) && isOld(absolute);
    if (isSettled) this.#known.set(absolute, { signature, state });
    else this.#known.delete(absolute);
    return state;
  }

  /** The hash of a file's text, if the file has a state; with `isCurrent` it is known to have it. */
  textHashOf(absolute: string, state: string | undefined, isCurrent: boolean): string | undefined {
    const known = state === undefined ? undefined : this.#textHashes.get(state);
    if (isCurrent && known !== undefined) return known;
    const hash = known ?? textHash(absolute);
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

function signatureOf(absolute: string): string | undefined {
  const stats = statsOf(absolute);
  if (stats === undefined) return undefined;
  const { mtimeMs, ctimeMs, size, ino } = stats;
  return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** Nothing as well where the file system refuses: a link may lead to itself, and a folder may be a file now. */
function statsOf(absolute: string): Stats | undefined {
  try {
    return statSync(absolute, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
