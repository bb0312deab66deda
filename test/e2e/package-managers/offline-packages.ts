import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { builtPackage } from '../../built-package.js';

const repository = path.resolve(import.meta.dirname, '../../..');

/** The packages of an author's project, as far as they are installed in this repository. */
export interface OfflinePackages {
  /** The folder of each package by its name; dependencies of dependencies are among them. */
  readonly folders: ReadonlyMap<string, string>;
  /** What is optional and not installed, such as programs for other platforms. */
  readonly absent: readonly string[];
}

/**
 * Finds what a project needs that depends on `stepwright` and some of its peers, so that a package manager can install it
 * without a network.
 *
 * @param names - beside `stepwright`.
 */
export function offlinePackages(names: readonly string[]): OfflinePackages {
  const folders = new Map([['stepwright', builtPackage()]]);
  const absent = new Set<string>();
  const open = [...dependenciesOf(builtPackage()), ...names].map((name) => ({ name, from: repository }));
  // Iteration includes what is added meanwhile.
  for (const { name, from } of open) {
    if (folders.has(name)) continue;
    const folder = installedIn(from, name);
    if (folder === undefined) {
      absent.add(name);
      continue;
    }
    folders.set(name, folder);
    open.push(...dependenciesOf(folder).map((each) => ({ name: each, from: folder })));
  }
  return { folders, absent: [...absent] };
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function dependenciesOf(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
}

function installedIn(from: string, name: string): string | undefined {
  const folder = path.join(from, 'node_modules', name);
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const above = path.dirname(from);
  return above === from ? undefined : installedIn(above, name);
}
