import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Files are written under such a name first: `.registry.ts.1a2b3c4d-4711-5e6f7a8b.tmp` names machine and process. */
const NAME = /^\.(.+)\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.tmp$/;

/** The age in milliseconds at which a file of an unknown process is removed. A write takes far less. */
const MAX_AGE_MS = 3_600_000;

const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

/** The temporary names that this process is using. */
const open = new Set<string>();

/** A name in the folder of the target, since a rename does not cross file systems. It is taken until it is released. */
export function takeTemporaryName(target: string): { readonly temporary: string; release(): void } {
  const unique = `${machine}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const temporary = join(dirname(target), `.${basename(target)}.${unique}.tmp`);
  open.add(temporary);
  return { temporary, release: () => void open.delete(temporary) };
}

/** Writes a file in one step, for a cache: where the file system refuses, the file remains as it is. */
export function writeIfPermitted(target: string, text: string): void {
  const { temporary, release } = takeTemporaryName(target);
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, target);
  } catch {
    try {
      rmSync(temporary, { force: true, recursive: true });
    } catch {
      // In a folder of another user nothing was written.
    }
  } finally {
    release();
  }
}

/**
 * Removes temporary files that killed processes left in a folder. Other files, and those of processes that may still
 * write, remain.
 *
 * @param isOurs - whether codegen writes a file of this name there.
 */
export function removeStaleFiles(folder: string, isOurs: (name: string) => boolean): void {
  for (const entry of entriesOf(folder)) {
    const [, name, host, pid] = NAME.exec(entry) ?? [];
    const path = join(folder, entry);
    if (name === undefined || !isOurs(name) || open.has(path)) continue;
    const isDead = host === machine && !isAlive(Number(pid));
    try {
      if (isDead || Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path, { force: true });
    } catch {
      // Another run has removed it, or removal is not permitted: the file does no harm.
    }
  }
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** False for this process too, whose temporary files are known. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
