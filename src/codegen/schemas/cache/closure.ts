import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Disk } from './disk.js';
import { filesOf } from './packages.js';
import { specifiersOf } from './specifiers.js';

/** Everything that files load, and what that depends on. */
interface Closure {
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
 * Follows what modules load: relative imports, in all files that they may lead to; packages by their `package.json`
 * and by the lockfiles of all folders above; packages that are linked by their sources. See {@link filesOf}.
 */
export function openClosures(disk: Disk): Closures {
  const modules = new Map<string, { readonly loads: readonly string[]; readonly isComplete: boolean }>();
  const read = (file: string) => {
    const known = modules.get(file);
    if (known !== undefined) return known;
    const { named, isComplete } = specifiersOf(disk.text(file) ?? '');
    const found = { loads: named.flatMap((specifier) => filesOf(disk, specifier, file)), isComplete };
    modules.set(file, found);
    return found;
  };
  const known = new Map<string, Closure>();
  const find = (entries: readonly string[]): Closure => {
    const files = new Set<string>(entries);
    let isComplete = true;
    // A set goes on with what is added while it is walked.
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
    return { hash: hash.digest('hex'), isComplete };
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
