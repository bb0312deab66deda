import { getOrInsert } from '../../graph/maps.js';
import { States } from './inputs.js';
import { Memo, type MemoFile } from './memo.js';

/** What the runs of a session share: one memo for each configuration, and when it is saved. */
export class SessionMemory {
  readonly states = new States();
  readonly #isLasting: boolean;
  readonly #deferred = new DeferredWork();
  readonly #memos = new Map<string, Memo>();
  #hasSaved = false;

  /** @param isLasting - whether more runs than one follow. */
  constructor(isLasting: boolean) {
    this.#isLasting = isLasting;
  }

  /** A run begins: work that an earlier one has deferred would delay it. */
  begin(): void {
    this.#deferred.pause();
  }

  /** A run is over. Deferred work that it has not replaced is resumed. */
  end(): void {
    this.#deferred.resume();
  }

  /** Saves for other processes: the first time at once, later while the session is idle. */
  save(work: () => void): void {
    if (this.#isLasting && this.#hasSaved) this.#deferred.put(work);
    else work();
    this.#hasSaved = true;
  }

  /** Does the deferred work at once. */
  finish(): void {
    this.#deferred.finish();
  }

  /**
   * @param file - missing for runs without a cache.
   * @param isShared - whether several registries of the run read the same modules.
   */
  memoOf(file: MemoFile | undefined, isShared: boolean): Memo {
    const id = JSON.stringify([file?.folder, file?.name, file?.key]);
    const memo = getOrInsert(this.#memos, id, () => new Memo(file, this.#isLasting || isShared));
    return memo;
  }
}

/** A session that users hold says nothing of what is in here. */
const memories = new WeakMap<CodegenSession, SessionMemory>();

/** @param session - default: one that ends with the run. */
export function memoryOf(session?: CodegenSession): SessionMemory {
  if (session === undefined) return new SessionMemory(false);
  const memory = getOrInsert(memories, session, () => new SessionMemory(true));
  return memory;
}

/** How long a session is idle before it does what no answer depends on: what a watcher does after a run comes first. */
const IDLE_MS = 1_000;

/**
 * Work that no answer of a session depends on, and that later work replaces: it is done while the session is idle, and
 * at the latest when the process ends. A process that is killed leaves it undone.
 */
export class DeferredWork {
  #work: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Takes the place of what is not done yet. */
  put(work: () => void): void {
    this.#drop();
    this.#work = work;
    if (unfinished.size === 0) process.once('exit', finishAll);
    unfinished.add(this);
    this.resume();
  }

  /** Waits with what is not done yet: the session is busy. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** The session is idle again. */
  resume(): void {
    this.pause();
    if (this.#work === undefined) return;
    this.#timer = setTimeout(() => this.finish(), IDLE_MS);
    this.#timer.unref();
  }

  /** Does at once what is not done yet. What fails stays undone: no caller waits for it. */
  finish(): void {
    const work = this.#work;
    this.#drop();
    try {
      work?.();
    } catch {
      // The folder of the project may be gone, or may no longer be read.
    }
  }

  #drop(): void {
    this.pause();
    this.#work = undefined;
    unfinished.delete(this);
    if (unfinished.size === 0) process.off('exit', finishAll);
  }
}

const unfinished = new Set<DeferredWork>();

function finishAll(): void {
  for (const each of unfinished) each.finish();
}

/**
 * Joins the runs of one process on one project: those of a watcher, or of an editor. A run reads again only what has
 * changed since the last one, and comes to the same result as a run without it. Pass it to one run at a time.
 */
export class CodegenSession {
  readonly kind = 'codegen session';
}
