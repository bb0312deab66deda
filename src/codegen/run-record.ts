import { realpathSync } from 'node:fs';
import path from 'node:path';
import { sourceNames } from '../formats/source-record.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Inputs } from './inputs.js';
import { cacheFolder, readEntry, sha256, writeEntry } from './schemas/cache/cache-file.js';
import { areCurrent, NO_READS, openClosures, openDisk } from './schemas/cache/dependencies.js';
import { OWN_FILES, openSchemaCache } from './schemas/cache/schema-cache.js';
import { childConditions, type ModuleRequest } from './schemas/import-modules.js';
import type { LoaderSettings } from './schemas/loader/settings.js';

/** Which run it is. */
export interface RunName {
  /** Absolute path of the project, links resolved. */
  readonly root: string;
  /** As it was given; missing for the usual one. */
  readonly configFile?: string | undefined;
}

/** What a run came to that found no error: its registries are written. */
export interface CleanRun {
  /** Warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** Its registries, relative to the root. */
  readonly files: readonly string[];
  /** How modules are imported. */
  readonly loader: LoaderSettings;
  /** The glob patterns of spec files. */
  readonly specs: readonly string[];
}

/** What a run has looked at. */
export interface RunReads {
  readonly inputs: Inputs;
  /** `sourceNames` without the registries, as they were when it began. */
  readonly names: string;
  /** {@link ownKey}. */
  readonly key: string;
  /** Whether all of it but the registries is now as it was then. */
  readonly isCurrent: boolean;
}

/** What is kept of a run. */
interface RunEntry {
  /** What it was made with. */
  readonly key: string;
  /** Of the names of all files that may be sources. */
  readonly names: string;
  /** Files and folders that were looked at, with their states; its registries are among them. */
  readonly paths: Readonly<Record<string, string>>;
  readonly modules: readonly ModuleRequest[];
  readonly run: CleanRun;
}

/**
 * What the run would come to, if nothing that the last one of this name has looked at is different since. It loads neither
 * TypeScript nor a module of the author.
 *
 * Compared are, by their bytes, all sources, declarations and configurations that were read, those of packages among
 * them; what was looked for and was not there; the names of all files that may be sources; what the classes of tools and
 * resources depend on (see `openSchemaCache`); and the registries.
 */
export function recallRun(name: RunName): CleanRun | undefined {
  const root = realpathSync(name.root);
  const folder = cacheFolder(root);
  const entry = folder === undefined ? undefined : readEntry<RunEntry>(folder, entryName(name));
  if (
    entry === undefined ||
    entry.key !== ownKey(root) ||
    entry.names !== sourceNames(root, [], entry.run.specs)
  )
    return undefined;
  if (!areCurrent({ ...NO_READS, paths: entry.paths })) return undefined;
  const cache = openSchemaCache({ root, loader: entry.run.loader, ...childConditions(root) });
  const isKnown = entry.modules.every((module) => cache?.recall(module) !== undefined);
  return isKnown ? entry.run : undefined;
}

/** Keeps what a run came to. */
export function keepRun(
  { root, configFile }: RunName,
  { inputs, names, key, isCurrent }: RunReads,
  run: CleanRun,
): void {
  const folder = cacheFolder(root);
  const files = run.files.map((file) => path.join(root, file));
  const paths: Record<string, string> = Object.fromEntries(inputs.paths);
  // They were written meanwhile.
  for (const file of files) paths[file] = inputs.stateOf(file);
  if (folder === undefined || !isCurrent || names !== sourceNames(root, run.files, run.specs)) return;
  const entry: RunEntry = {
    ...{ key, names: sourceNames(root, [], run.specs), paths, run },
    modules: inputs.modules,
  };
  writeEntry(folder, entryName({ root, configFile }), entry);
}

const entryName = ({ configFile }: RunName): string => `run ${configFile ?? ''}`;

/** Of this package, of Node.js, and of what is installed. */
export function ownKey(root: string): string {
  const { hash } = openClosures(openDisk()).of([...OWN_FILES, path.join(root, 'package.json')]);
  return sha256(JSON.stringify([hash, process.versions.node]));
}
