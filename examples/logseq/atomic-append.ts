import { lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** How often a write starts over because another program, Logseq itself for example, changed the file. */
const ATTEMPTS = 5;

/** Holds the new content of a file until it takes the file's place. Logseq ignores names that start with a dot. */
const TEMPORARY = '.stepwright.tmp';

/** Thrown for a link, a folder or a device where a plain file of the graph was expected. */
export class NotAPlainFile extends Error {
  override readonly name = 'NotAPlainFile';
  readonly code = 'E_NOT_A_PLAIN_FILE';
}

/**
 * Adds text to the end of a file in one step: readers see the old file or the new one, and when the promise resolves
 * the new one is on disk. What was there stays byte for byte. A missing file is created.
 *
 * `compose` receives what the file holds and returns what to add; it runs again when another program changed the file
 * meanwhile. Nothing is written where it returns an empty text. The caller holds a lock: two writes at once to files
 * of one folder would use the same temporary file.
 *
 * @throws {NotAPlainFile} when `path` is a symbolic link or no file at all.
 */
export async function appendAtomically(path: string, compose: (before: string) => string): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const seen = await identify(path);
    const before = seen === undefined ? Buffer.alloc(0) : await readFile(path);
    const addition = compose(before.toString('utf8'));
    if (addition === '') return;
    if (await replace(path, Buffer.concat([before, Buffer.from(addition)]), seen)) return;
  }
  throw new Error(`'${basename(path)}' kept changing while it was written; nothing was added to it`);
}

/** Removes what a process that was killed during a write left in a folder. The caller holds the lock. */
export async function removeLeftover(folder: string): Promise<void> {
  await rm(join(folder, TEMPORARY), { force: true });
}

interface Identity {
  readonly stamp: string;
  readonly mode: number;
}

/** What tells one state of a file from the next. `undefined` for a file that is not there. */
async function identify(path: string): Promise<Identity | undefined> {
  const stats = await lstat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new NotAPlainFile(`'${basename(path)}' is not a plain file`);
  return { stamp: `${stats.ino}:${stats.size}:${stats.mtimeNs}`, mode: Number(stats.mode) & 0o777 };
}

/** False when the file is no longer the one that was seen; then nothing has changed. */
async function replace(path: string, content: Buffer, seen: Identity | undefined): Promise<boolean> {
  const folder = dirname(path);
  const temporary = join(folder, TEMPORARY);
  try {
    const file = await open(temporary, 'wx', seen?.mode ?? 0o666);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await identify(path))?.stamp !== seen?.stamp) return false;
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(folder);
  return true;
}

/** Puts the rename itself on disk. Windows cannot open folders, and needs no such step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
