import path from 'node:path';
import type { FSWatcher } from 'chokidar';
import { formatOf } from '../../../formats/text/read-text.js';

/** Editors write a file in several steps: its changes within this time are one, in ms. */
const DEBOUNCE_MS = 100;

/** Looks at spec files for changes. */
export interface SpecWatcher {
  close(): Promise<void>;
}

/**
 * Watches the folders of files and globs.
 *
 * @param onChange called once for changes that come together.
 * @param onError called where the file system cannot be watched.
 */
export async function watchSpecFiles(
  patterns: readonly string[],
  root: string,
  onChange: () => void,
  onError: (error: Error) => void,
): Promise<SpecWatcher> {
  const { watch } = await import('chokidar');
  const { isDynamicPattern } = await import('tinyglobby');
  const bases = patterns.map((pattern) => baseOf(pattern, root, isDynamicPattern));
  let timer: NodeJS.Timeout | undefined;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onChange, DEBOUNCE_MS);
  };
  const watcher: FSWatcher = watch([...new Set(bases.map(({ folder }) => folder))], {
    ignored: (file, stats) =>
      stats?.isFile() === true ? formatOf(file) === undefined : !bases.some((base) => isWatched(file, base)),
    ignoreInitial: true,
    // The server decides how long its process lives.
    persistent: false,
  });
  watcher.on('all', later);
  watcher.on('error', (error) => onError(error instanceof Error ? error : new Error(String(error))));
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()));
  return {
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
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

/** Whether a path that may be a folder has to be looked at. */
function isWatched(file: string, { folder, isDeep }: Base): boolean {
  const relative = path.relative(folder, file);
  if (relative === '') return true;
  const parts = relative.split(path.sep);
  if (parts[0] === '..' || parts.some((part) => part === 'node_modules' || part === '.git')) return false;
  // Without its kind a file looks like a folder.
  return isDeep || (parts.length === 1 && formatOf(file) !== undefined);
}
