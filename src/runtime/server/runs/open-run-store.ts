import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { defined } from '../../../graph/defined.js';
import { processClock } from '../../host/in-process/clock.js';
import { isShared } from '../../host/journal.js';
import type { Toolset } from '../../tools/toolset.js';
import { missingToolsOf } from '../definitions.js';
import type { ResolvedSettings } from '../options.js';
import { FileRunStore } from './file-store.js';
import { MemoryRunStore } from './memory-store.js';
import { valuePort } from './model-values.js';
import type { RunStore } from './run-store.js';
import type { RunStoreOptions } from './run-store-options.js';
import { SharedRunStore } from './shared-store.js';

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
    clock: processClock,
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
  if (storePath !== undefined) return new FileRunStore(storePath, options);
  if (journal === undefined) return new MemoryRunStore(options);
  return isShared(journal)
    ? new SharedRunStore({ ...options, journal })
    : new MemoryRunStore({ ...options, journal });
}
