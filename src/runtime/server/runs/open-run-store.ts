import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { processClock } from '../../host/in-process/clock.js';
import type { Toolset } from '../../tools/toolset.js';
import type { ResolvedSettings } from '../options.js';
import { FileRunStore } from './file-store.js';
import { MemoryRunStore, type MemoryStoreOptions } from './memory-store.js';
import { valuePort } from './model-values.js';
import type { RunStore } from './run-store.js';

/** The run store that the settings of a server name. */
export function openRunStore(
  toolset: Toolset,
  settings: ResolvedSettings,
  { schemas, refusal }: { readonly schemas: SchemaCompiler } & Pick<MemoryStoreOptions, 'refusal'>,
): RunStore {
  const { newRunId, runs: limits, isPatient, log, journal, storePath } = settings;
  const { secretInputs, toolSafety, isPrivate } = toolset;
  const options: MemoryStoreOptions = {
    calls: toolset,
    schemas,
    clock: processClock,
    secretInputs,
    toolSafety,
    isPrivate,
    values: valuePort({ ...settings, schemas }),
    log,
    newRunId,
    limits,
    isPatient,
    ...(refusal === undefined ? {} : { refusal }),
  };
  if (storePath !== undefined) return new FileRunStore(storePath, options);
  return new MemoryRunStore({ ...options, ...(journal === undefined ? {} : { journal }) });
}
