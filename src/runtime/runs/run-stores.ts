import type { Graph } from '../../graph/model.js';
import { clip } from '../../graph/printable-text.js';
import { planOf } from '../../plan/compile.js';
import { secretsOf } from '../../plan/secrets.js';
import type { Failure } from '../engine/contract.js';
import { JournalRunStore, type RunStoreOptions } from './journal-run-store.js';
import { FILE_LIMITS, type RunStore } from './run-store.js';
import { hasLeases, type Journal } from './store/journal.js';
import { openJournal, VolatileJournal } from './store/local-journal.js';

/** A store of runs outside of this package's own ones, such as that of `stepwright/temporal`. */
export interface RunStoreSource {
  open(options: RunStoreOptions): RunStore;
}

/** Runs in memory: they end with the process. */
export function memoryStore(options: RunStoreOptions): JournalRunStore {
  return new JournalRunStore(
    { hasRuns: false, open: async (store) => ({ journal: new VolatileJournal(store) }) },
    options,
  );
}

/** Runs of a user's journal, who closes it. One with leases is used by several processes. */
export function journalStore(journal: Journal, options: RunStoreOptions): JournalRunStore {
  const limits = hasLeases(journal) ? { ...FILE_LIMITS, ...options.limits } : (options.limits ?? {});
  return new JournalRunStore(
    { hasRuns: true, open: async (store) => ({ journal: await openJournal(journal, store) }) },
    { ...options, limits },
  );
}

/**
 * Runs in a file: a later process resumes those that are open. SQLite is loaded when it is opened, which throws a
 * `StoreError` for a file that cannot be a store. A workflow with secrets is refused: the file is not encrypted.
 */
export function fileStore(path: string, options: RunStoreOptions): JournalRunStore {
  const limits = { ...FILE_LIMITS, ...options.limits };
  return new JournalRunStore(
    {
      hasRuns: true,
      async open() {
        const { SqliteJournal } = await import('./store/sqlite/sqlite-journal.js');
        const journal = await SqliteJournal.open(path, {
          leaseMs: limits.leaseMs,
          onReplaced: ({ message }) => {
            options.log(message, { event: 'store.replaced' });
            options.telemetry?.storeFault('replaced');
          },
        });
        return { journal, close: () => journal.close() };
      },
    },
    {
      ...options,
      limits,
      holdsUnsafeCalls: true,
      refusal: (graph, owner) => secretsRefusal(graph, options) ?? options.refusal?.(graph, owner),
    },
  );
}

/** Why a store that keeps values unencrypted does not take a run of a workflow. Undefined for one without secrets. */
export function secretsRefusal(
  graph: Graph,
  { secretInputs }: Pick<RunStoreOptions, 'secretInputs'>,
): Failure | undefined {
  if (!secretsOf(planOf(graph), secretInputs).any) return undefined;
  const message = `The run was not started: workflow '${clip(graph.name)}' takes or passes on secrets, and the store keeps values unencrypted. Serve it with the store 'memory'.`;
  return { code: 'E_STORE_SECRETS', message };
}
