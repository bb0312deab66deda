import { lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import type { FSWatcher } from 'chokidar';
import { formatOf } from '../../../formats/text/read-text.js';

/** Editors write a file in several steps: its changes within this time are one, in ms. */
const DEBOUNCE_MS = 100;

export interface SpecChanges {
  /** Absolute. */
  readonly files: ReadonlySet<string>;
  /** Whether the contents of files have changed alone, and the same files are there. */
  readonly isContent: boolean;
}

/** Looks at spec files for changes. */
export interface SpecWatcher {
  close(): Promise<void>;
}

/**
 * Watches the folders of files and globs. Those below the root may be removed and made again; a symbolic link among them
 * may get another target, as in the volumes of Kubernetes.
 *
 * @param onChange called once for changes that come together; without them if anything may have changed.
 * @param onError called where the file system cannot be watched.
 */
export async function watchSpecFiles(
  patterns: readonly string[],
  root: string,
  onChange: (changes?: SpecChanges) => void,
  onError: (error: Error) => void,
): Promise<SpecWatcher> {
  const { watch } = await import('chokidar');
  const { isDynamicPattern } = await import('tinyglobby');
  const bases = patterns.map((pattern) => baseOf(pattern, root, isDynamicPattern));
  let timer: NodeJS.Timeout | undefined;
  let files = new Set<string>();
  let isContent = true;
  let isAnything = false;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const changes = isAnything ? undefined : { files, isContent };
      files = new Set();
      isContent = true;
      isAnything = false;
      onChange(changes);
    }, DEBOUNCE_MS);
  };
  const begin = async (): Promise<FSWatcher> => {
    const watcher = watch(watchedFolders(bases, root), {
      ignored: (file, stats) => !bases.some((base) => isWatched(file, stats, base)),
      ignoreInitial: true,
      // The server decides how long its process lives.
      persistent: false,
    });
    watcher.on('all', (event, file) => {
      files.add(path.resolve(root, file));
      isContent &&= event === 'change';
      later();
    });
    watcher.on('error', (error) => onError(error instanceof Error ? error : new Error(String(error))));
    watcher.on('raw', (_event, name, details) => {
      const { watchedPath = '' } = details as { readonly watchedPath?: string };
      const file = path.resolve(watchedPath, name ?? '');
      if (isLink(file) && bases.some((base) => isOnTheWay(file, base) || isInside(file, base))) restart();
    });
    await new Promise<void>((resolve) => watcher.once('ready', () => resolve()));
    return watcher;
  };
  let isClosed = false;
  let isRestarting = false;
  let watching = begin();
  // The folders behind a link are watched by their own names: those behind its next target are others.
  const restart = (): void => {
    // A restart that has not begun sees all changes before it.
    if (isRestarting) return;
    isRestarting = true;
    watching = watching.then(async (before) => {
      isRestarting = false;
      if (isClosed) return before;
      const next = await begin();
      await before.close();
      isAnything = true;
      later();
      return next;
    });
    watching.catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))));
  };
  await watching;
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await (await watching).close();
      clearTimeout(timer);
    },
  };
}

/** The root, from which folders are seen to come and go, and folders that are not in it. */
function watchedFolders(bases: readonly Base[], root: string): string[] {
  const all = bases.map(({ folder }) => (isBelow(folder, path.resolve(root)) ? path.resolve(root) : folder));
  return [...new Set(all)];
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    // It is gone.
    return false;
  }
}

function isBelow(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

interface Base {
  readonly folder: string;
  /** Whether files of folders in it match. */
  readonly isDeep: boolean;
}

/** The folder in which all files of a pattern are. */
function baseOf(pattern: string, root: string, isDynamic: (part: string) => boolean): Base {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => isDynamic(part));
  const fixed = parts.slice(0, first === -1 ? -1 : first).join('/');
  const folder = path.resolve(root, pattern.startsWith('/') ? `/${fixed}` : fixed);
  return {
    folder,
    isDeep: first !== -1 && (first < parts.length - 1 || parts[first]?.includes('**') === true),
  };
}

/** Whether a path leads to the folder of a pattern, or is the folder. */
function isOnTheWay(file: string, { folder }: Base): boolean {
  return isBelow(folder, file);
}

/** Whether a path is in a folder in which files of a pattern are. */
function isInside(file: string, { folder, isDeep }: Base): boolean {
  if (!isBelow(file, folder)) return false;
  const parts = path.relative(folder, file).split(path.sep);
  if (parts.some((part) => part === 'node_modules' || part === '.git')) return false;
  return isDeep || parts.length === 1;
}

/** Whether a path has to be looked at. Without its kind a file looks like a folder. */
function isWatched(file: string, stats: Stats | undefined, base: Base): boolean {
  if (isOnTheWay(file, base)) return stats?.isFile() !== true;
  if (!isInside(file, base)) return false;
  if (formatOf(file) !== undefined) return true;
  return base.isDeep && stats?.isFile() !== true;
}
