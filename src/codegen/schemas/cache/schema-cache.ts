import { join, sep } from 'node:path';
import { packageFile } from '../../../formats/own-files.js';
import {
  type ClassReading,
  childConditions,
  type ImportOptions,
  importModules,
  type ModuleOutcome,
  type ModuleRequest,
  ownEntries,
} from '../import-modules.js';
import type { LoaderSettings } from '../loader/settings.js';
import { cacheFolder, readEntry, sha256, writeEntry } from './cache-file.js';
import {
  areCurrent,
  type Closures,
  environmentHash,
  mergeReads,
  NO_READS,
  openClosures,
  openDisk,
  type Reads,
} from './dependencies.js';

/** What the result of an import depends on, beside the files. */
export interface CacheConditions {
  /** Absolute path of the project, links resolved. */
  readonly root: string;
  readonly loader: LoaderSettings;
  /** The arguments that the child's Node is started with. */
  readonly flags: readonly string[];
  /** The environment of the child. */
  readonly env: NodeJS.ProcessEnv;
}

/** The readings of modules from earlier runs. */
export interface SchemaCache {
  /** What the classes of a module were, if nothing they depend on has changed since. */
  recall(module: ModuleRequest): readonly ClassReading[] | undefined;
  /** Keeps what has just been read, if it is sure to be read again. */
  keep(module: ModuleRequest, classes: readonly ClassReading[], reads: Reads): void;
}

/**
 * Opens the cache of a project: one file for each module in `node_modules/.cache/stepwright/`.
 *
 * A module is imported again as soon as any of these differs: the version of Node; the sources and the version of
 * stepwright; the decorator flag and the aliases of the project; Node's conditions and `NODE_OPTIONS`; the classes asked for; the bytes of the module
 * and of everything it imports by a relative path or an alias, directly or not; every `package.json`, lockfile and note of a
 * package manager in the folders above them; the `package.json` of each package that is imported; the sources of
 * packages that are linked, as workspaces are; the environment variables, files and folders that were looked at while
 * the modules were imported. The version of an installed package identifies its contents: what was edited by hand in
 * `node_modules` is seen with `--no-cache`.
 *
 * Never kept: what could not be imported or read; a module that loads what its text does not name (`import(path)`);
 * whatever was read in a run that started a process, or while a file changed. What a module takes from the clock, from
 * chance or from the network is not seen.
 *
 * @returns nothing where the project has no place for a cache.
 */
export function openSchemaCache(conditions: CacheConditions): SchemaCache | undefined {
  const folder = cacheFolder(conditions.root);
  if (folder === undefined) return undefined;
  // The modules are as they were when the cache was opened; what is kept has to be so still.
  const opened = openClosures(openDisk(), conditions.loader);
  let latest: Closures | undefined;
  return {
    recall(module) {
      const key = keyOf(module, opened, conditions);
      const entry = key === undefined ? undefined : readEntry<CacheEntry>(folder, module.file);
      if (entry === undefined || entry.key !== key) return undefined;
      const isCurrent = entry.environment === environmentHash(entry.reads, conditions.env);
      return isCurrent && areCurrent(entry.reads) ? entry.classes : undefined;
    },
    keep(module, classes, reads) {
      latest ??= openClosures(openDisk(), conditions.loader);
      const key = keyOf(module, opened, conditions);
      if (key === undefined || key !== keyOf(module, latest, conditions)) return;
      if (reads.beyond || !classes.every(isSound) || !areCurrent(reads)) return;
      const environment = environmentHash(reads, conditions.env);
      writeEntry(folder, module.file, { key, reads, environment, classes });
    },
  };
}

/** When this package is installed, its version identifies its sources. From a checkout, the sources count. */
export const OWN_FILES = ownEntries().map((file) =>
  file.split(sep).includes('node_modules') ? packageFile('package.json') : file,
);

/** Nothing for a module that loads what its text does not name. */
function keyOf(
  { file, classes }: ModuleRequest,
  closures: Closures,
  { root, loader, flags, env }: CacheConditions,
): string | undefined {
  const own = closures.of(OWN_FILES).hash;
  const { hash, isComplete } = closures.of([join(root, file)]);
  if (!isComplete) return undefined;
  const { node, v8 } = process.versions;
  const options = env.NODE_OPTIONS ?? '';
  const wanted = classes.map(({ kind, exportName }) => [kind, exportName]);
  return sha256(JSON.stringify([own, node, v8, loader, flags, options, file, wanted, hash]));
}

/** A fault may have passed by the next run. */
function isSound(reading: ClassReading): boolean {
  switch (reading.kind) {
    case 'tool':
      return [reading.input, reading.output].every((side) => side === undefined || side.kind === 'schema');
    case 'resource':
      return true;
    case 'missing':
      return false;
    default:
      return reading satisfies never;
  }
}

/** {@link importModules} for those modules that the cache knows nothing of; without any, no process is started. */
export async function importCached(
  modules: readonly ModuleRequest[],
  options: ImportOptions & { readonly cache: boolean },
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  const cache =
    options.cache && modules.length > 0
      ? openSchemaCache({ ...options, ...childConditions(options.root) })
      : undefined;
  if (cache === undefined) return importModules(modules, options);
  const outcomes = new Map<string, ModuleOutcome>();
  for (const module of modules) {
    const classes = cache.recall(module);
    if (classes === undefined) continue;
    outcomes.set(module.file, { kind: 'imported', file: module.file, classes, reads: NO_READS });
  }
  const unknown = modules.filter(({ file }) => !outcomes.has(file));
  const imported = await importModules(unknown, options);
  // Which module a shared one was first read for is chance: what one has looked at counts for all.
  const reads = mergeReads(
    [...imported.values()].map((outcome) => ('reads' in outcome && outcome.reads) || NO_READS),
  );
  for (const module of unknown) {
    const outcome = imported.get(module.file);
    if (outcome === undefined) continue;
    outcomes.set(module.file, outcome);
    if (outcome.kind === 'imported') cache.keep(module, outcome.classes, reads);
  }
  return outcomes;
}

/** What is kept of one module. */
interface CacheEntry {
  /** What the readings were made from. */
  readonly key: string;
  readonly reads: Reads;
  /** Of the variables among the reads. */
  readonly environment: string;
  readonly classes: readonly ClassReading[];
}
