import type { Graph } from '../../graph/model.js';
import type { Journal } from './store/journal.js';

/** The graphs of the open runs of a journal, each once. One that this version cannot read is left out. */
export async function openGraphsOf(journal: Pick<Journal, 'openRuns' | 'graph'>): Promise<readonly Graph[]> {
  const hashes = new Set((await journal.openRuns()).map(({ graphHash }) => graphHash));
  const graphs = await Promise.all([...hashes].map((hash) => journal.graph(hash).catch(() => undefined)));
  return graphs.filter((graph) => graph !== undefined);
}
