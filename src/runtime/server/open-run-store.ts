import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { valuePort } from '../runs/actions/model-values.js';
import type { RunStoreOptions } from '../runs/journal-run-store.js';
import type { RunStore } from '../runs/run-store.js';
import { fileStore, journalStore, memoryStore } from '../runs/run-stores.js';
import type { Toolset } from '../tools/toolset.js';
import { missingToolsOf } from './definitions.js';
import type { ResolvedSettings } from './options.js';

/** The run store that the settings of a server name. */
export function openRunStore(
  toolset: Toolset,
  settings: ResolvedSettings,
  { schemas, refusal }: { readonly schemas: SchemaCompiler } & Pick<RunStoreOptions, 'refusal'>,
): RunStore {
  const { newRunId, runs: limits, log, journal, storePath, telemetry } = settings;
  const { secretInputs, toolSafety, isPrivate } = toolset;
  const options: RunStoreOptions = {
    calls: toolset,
    schemas,
    secretInputs,
    toolSafety,
    isPrivate,
    missingTools: missingToolsOf(toolset.registry),
    resultFailure: toolset.resultFailure,
    values: valuePort({ ...settings, schemas }),
    log,
    newRunId,
    limits,
    ...defined({ refusal, telemetry }),
  };
  if (storePath !== undefined) return fileStore(storePath, options);
  return journal === undefined ? memoryStore(options) : journalStore(journal, options);
}
