import { type ImportOptions, importModules, type ModuleOutcome } from '../import-modules.js';
import { childConditions } from '../launch.js';
import type { ModuleRequest } from '../protocol.js';
import { mergeReads, NO_READS } from './reads.js';
import { openSchemaCache } from './schema-cache.js';

/** {@link importModules} for those modules that the cache knows nothing of; without any, no process is started. */
export async function importCached(
  modules: readonly ModuleRequest[],
  options: ImportOptions & { readonly cache: boolean },
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  const cache =
    options.cache && modules.length > 0
      ? openSchemaCache({ ...options, ...childConditions(options) })
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
