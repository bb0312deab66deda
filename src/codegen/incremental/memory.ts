import { getOrInsert } from '../../graph/maps.js';
import { States } from './inputs.js';
import { Memo, type MemoFile } from './memo.js';

/** What the runs of a session share: the states of files, and one memo for each configuration. */
export class SessionMemory {
  readonly states = new States();
  readonly #isLasting: boolean;
  readonly #memos = new Map<string, Memo>();

  /** @param isLasting - whether more runs than one follow. */
  constructor(isLasting: boolean) {
    this.#isLasting = isLasting;
  }

  /**
   * @param file - missing for runs without a cache.
   * @param isShared - whether several registries of the run read the same modules.
   */
  memoOf(file: MemoFile | undefined, isShared: boolean): Memo {
    const id = JSON.stringify([file?.folder, file?.name, file?.key]);
    return getOrInsert(this.#memos, id, () => new Memo(file, this.#isLasting || isShared));
  }
}

/** A session that users hold says nothing of what is in here. */
const memories = new WeakMap<CodegenSession, SessionMemory>();

/** @param session - default: one that ends with the run. */
export function memoryOf(session?: CodegenSession): SessionMemory {
  if (session === undefined) return new SessionMemory(false);
  return getOrInsert(memories, session, () => new SessionMemory(true));
}

/**
 * Joins the runs of one process on one project: those of a watcher, or of an editor. A run reads again only what has
 * changed since the last one, and comes to the same result as a run without it. Pass it to one run at a time.
 */
export class CodegenSession {
  readonly kind = 'codegen session';
}
