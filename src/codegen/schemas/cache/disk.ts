import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The file system as it was when it was first asked. A later look takes a new one. */
export interface Disk {
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
  /** Nothing for a file that cannot be read. */
  text(path: string): string | undefined;
  /** Of the bytes, as hex; empty for a file that cannot be read. */
  hash(path: string): string;
  /** The folder and all above it. */
  ancestors(folder: string): readonly string[];
  /** What decides in a folder which packages there are. */
  manifests(folder: string): readonly string[];
}

/** The description of a package, what a lockfile asks for, and what a package manager has noted about its work. */
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

export function openDisk(): Disk {
  const kinds = new Map<string, 'file' | 'folder' | 'nothing'>();
  const contents = new Map<string, Buffer | undefined>();
  const hashes = new Map<string, string>();
  const manifests = new Map<string, readonly string[]>();
  const kindOf = (path: string) => remembered(kinds, path, () => look(path));
  const bytes = (path: string) => remembered(contents, path, () => read(path));
  const disk: Disk = {
    isFile: (path) => kindOf(path) === 'file',
    isFolder: (path) => kindOf(path) === 'folder',
    text: (path) => bytes(path)?.toString('utf8'),
    hash: (path) => remembered(hashes, path, () => hashOf(bytes(path))),
    ancestors,
    manifests: (folder) =>
      remembered(manifests, folder, () =>
        MANIFESTS.map((name) => join(folder, name)).filter((path) => disk.isFile(path)),
      ),
  };
  return disk;
}

function remembered<T>(known: Map<string, T>, key: string, find: () => T): T {
  if (!known.has(key)) known.set(key, find());
  return known.get(key) as T;
}

function look(path: string): 'file' | 'folder' | 'nothing' {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) return 'file';
    return stats?.isDirectory() ? 'folder' : 'nothing';
  } catch {
    return 'nothing';
  }
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function hashOf(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : createHash('sha256').update(bytes).digest('hex');
}

function ancestors(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}
