import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';

/** Thrown when another program kept a lock for too long. The message names the file. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout';
  readonly code = 'E_LOCK_TIMEOUT';
}

export interface LockOptions {
  /** Aborted while the lock is waited for, the work does not start. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the lock, in ms. Default: 10 000. */
  readonly limitMs?: number;
}

/**
 * Does some work while no other program, and no other caller of this one, does work under the same lock file. The file
 * is created for the work and removed after it.
 *
 * The lock is the operating system's lock on the open file, not the presence of the file: it ends with the process,
 * by whatever cause, and a file that a killed process left is taken over by the next caller. No clock and no process
 * id decide whether a lock is stale.
 *
 * @param path Of the lock file; its folder exists.
 * @throws {LockTimeout}
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  { signal, limitMs = 10_000 }: LockOptions = {},
): Promise<T> {
  const lock = await acquire(path, limitMs, signal);
  try {
    return await work();
  } finally {
    // Removed while it is locked: a program that has opened it meanwhile sees that the path leads elsewhere.
    await rm(path, { force: true });
    await lock.close();
  }
}

async function acquire(path: string, limitMs: number, signal: AbortSignal | undefined): Promise<FileHandle> {
  const limit = performance.now() + limitMs;
  for (;;) {
    signal?.throwIfAborted();
    const lock = await open(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0));
    const isLocked = tryLock(lock.fd);
    if (isLocked && (await isAt(path, lock))) return lock;
    await lock.close();
    if (performance.now() > limit)
      throw new LockTimeout(`'${path}' was locked by another program for ${limitMs} ms; nothing was written`);
    // Not `waitForLock`: a thread that waits in the kernel can neither be aborted nor used for the files of others.
    if (!isLocked) await delay(1 + Math.random() * 9, undefined, { signal });
  }
}

/** False when the former holder has removed the file between its opening and its locking. */
async function isAt(path: string, lock: FileHandle): Promise<boolean> {
  const there = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return there !== undefined && isSame(there, await lock.stat({ bigint: true }));
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
