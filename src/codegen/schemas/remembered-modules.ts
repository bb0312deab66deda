import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import {
  CONDITIONS_READ,
  type Inputs,
  manifestsAbove,
  marksIn,
  type States,
  statsOf,
  variableRead,
} from '../incremental/inputs.js';
import type { Memo } from '../incremental/memo.js';
import {
  type ClassReading,
  type ImportOptions,
  importModules,
  type ModuleOutcome,
  type ModuleRequest,
} from './import-modules.js';
import { mergeReads, NO_READS, type Reads } from './loader/reads.js';

/** What modules are recalled from. */
export interface ModuleMemory {
  readonly memo: Memo;
  readonly states: States;
  /** Takes the reads of all modules. */
  readonly inputs: Inputs;
}

/**
 * {@link importModules} for those modules that have changed, or anything that they depend on; without any, no process
 * is started.
 *
 * A module reads, beside the options of the loader and the classes that are asked for: the bytes of all modules that it
 * loads, as the loader's hooks have seen them, those of linked packages (workspaces) among them; the `package.json` of
 * each installed package, whose version identifies its content; files that the loader has looked for first; every
 * `package.json`, lockfile and record of a package manager in the folders above; and the environment variables, files
 * and folders that any module of the run has looked at.
 *
 * Faults are not kept, and neither is a run that has started a process, or in which a file has changed. Values from the
 * clock, from random numbers or from the network are not seen.
 */
export async function importRemembered(
  modules: readonly ModuleRequest[],
  options: ImportOptions,
  memory: ModuleMemory | undefined,
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  if (memory === undefined || modules.length === 0) return importModules(modules, options);
  const { memo, inputs, states } = memory;
  const { root, loader } = options;
  const outcomes = new Map<string, ModuleOutcome>();
  const markOf = marksIn(root, states);
  const keyOf = ({ classes }: ModuleRequest): string =>
    JSON.stringify([loader, classes.map(({ kind, exportName }) => [kind, exportName])]);
  for (const module of modules) {
    const { file } = module;
    const entry = memo.entry<readonly ClassReading[]>('module', file, keyOf(module), markOf);
    if (entry === undefined) continue;
    inputs.add(entry.reads);
    outcomes.set(file, { kind: 'imported', file, classes: entry.output, reads: NO_READS, loads: [] });
  }
  const start = Date.now();
  const imported = await importModules(
    modules.filter(({ file }) => !outcomes.has(file)),
    options,
  );
  // Which module reads first what several of them need is chance: the reads of each count for all.
  const shared = mergeReads(
    [...imported.values()].map((each) => ('reads' in each && each.reads) || NO_READS),
  );
  for (const module of modules) {
    const outcome = imported.get(module.file);
    if (outcome === undefined) continue;
    outcomes.set(module.file, outcome);
    if (outcome.kind !== 'imported') continue;
    const paths = [...outcome.loads, ...manifestsOf(outcome.loads)];
    const reads = new Map<string, string>([
      [CONDITIONS_READ, markOf(CONDITIONS_READ)],
      ...paths.map((path) => [path, changedSince(start, path) ? 'changed' : markOf(path)] as const),
      ...variablesIn(shared).map((reading) => [reading, markOf(reading)] as const),
      ...Object.entries(shared.paths),
    ]);
    inputs.add(reads);
    const isCurrent = [...reads].every(([read, mark]) => markOf(read) === mark);
    if (!shared.isOpen && isCurrent && outcome.classes.every(isSound))
      memo.keep('module', module.file, keyOf(module), outcome.classes, reads);
    else inputs.isOpen = true;
  }
  return outcomes;
}

function variablesIn({ variables }: Reads): readonly string[] {
  return variables.map(variableRead);
}

/** What decides which packages the modules find. */
function manifestsOf(files: readonly string[]): readonly string[] {
  const folders = new Set(files.filter((file) => !file.split(sep).includes('node_modules')).map(dirname));
  const manifests = [...folders].flatMap(manifestsAbove);
  const missing = manifests
    .map((file) => join(dirname(file), 'node_modules'))
    .filter((each) => !existsSync(each));
  return [...new Set([...manifests, ...missing])];
}

/** Whether a file may have changed after a process has loaded it that was started at this time. */
function changedSince(start: number, path: string): boolean {
  const { mtimeMs, ctimeMs } = statsOf(path) ?? { mtimeMs: 0, ctimeMs: 0 };
  return Math.max(mtimeMs, ctimeMs) > start;
}

/** A fault may be gone in the next run. */
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
