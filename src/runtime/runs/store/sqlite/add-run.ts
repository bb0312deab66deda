import { defined } from '../../../../graph/defined.js';
import type { Graph } from '../../../../graph/model.js';
import type { HostRow, Row } from '../journal.js';
import type { SqliteDriver } from './driver.js';
import { SqliteJournal } from './sqlite-journal.js';
import { checkFile } from './store-file.js';

/** A run that another process is to go on with. */
export interface AddedRun {
  readonly run: string;
  readonly graph: Graph;
  readonly rows: readonly Row[];
  readonly hostRows: readonly HostRow[];
}

/**
 * Adds a run to a store. A server that uses the file goes on with it, or the next one that does.
 *
 * @throws StoreError for a file that cannot be used.
 */
export async function addRun(
  path: string,
  { run, graph, rows, hostRows }: AddedRun,
  driver?: SqliteDriver,
): Promise<void> {
  checkFile(path);
  const journal = await SqliteJournal.open(path, defined({ driver }));
  try {
    const entry = { run, seq: 1, expectedSeq: 0, epoch: 0, graph, events: [], changes: rows, hostRows };
    await journal.append(entry);
  } finally {
    // It no longer holds the run then.
    await journal.close();
  }
}
