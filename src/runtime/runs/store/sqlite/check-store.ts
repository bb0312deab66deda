import type { Head, StoreCheck } from '../reader.js';
import { StoreError } from '../store-error.js';
import type { StoreTables } from './store-tables.js';

type Damage = StoreCheck['damages'][number];

/** So many rows are read at once. */
const PAGE = 1_000;

/** Reads all pages and all runs of a store. A part that is damaged does not keep the others from being read. */
export function checkStore(tables: StoreTables): StoreCheck {
  const damages: Damage[] = [];
  const reading = (work: () => void, about: Pick<Damage, 'run'> = {}): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem !== 'damaged') throw error;
      damages.push({ ...about, why: error.detail });
    }
  };
  reading(() => {
    for (const { integrity_check: text } of tables.all('PRAGMA integrity_check'))
      if (text !== 'ok') damages.push({ why: text as string });
  });
  const refs = new Set<string>();
  // Each lists all runs of an intact file.
  for (const [source, place] of [
    ['INDEXED BY refs', 'ref'],
    ['NOT INDEXED', 'n'],
  ] as const)
    reading(() => addRefs(tables, source, place, refs));
  // Servers write in the meantime: what a run has is read as of one moment.
  for (const run of refs) reading(() => tables.reading(() => checkRuns(tables, run)), { run });
  return { runs: refs.size, damages };
}

function addRefs(tables: StoreTables, source: string, place: 'ref' | 'n', refs: Set<string>): void {
  for (let last: string | number = place === 'n' ? -1 : ''; ; ) {
    const rows = tables.all(
      `SELECT ${place} AS place, ref FROM main.runs ${source} WHERE ${place} > ? ORDER BY ${place} LIMIT ?`,
      ...[last, PAGE],
    );
    for (const { ref } of rows) refs.add(ref as string);
    if (rows.length < PAGE) return;
    last = rows.at(-1)?.place as string | number;
  }
}

/** Reads all that the store has of the runs of a name. @throws StoreError `damaged`. */
function checkRuns(tables: StoreTables, ref: string): void {
  const heads = tables.headsOf(ref);
  if (heads.length === 0) throw tables.damaged('its row is missing');
  for (const head of heads) checkRun(tables, head);
}

function checkRun(tables: StoreTables, head: Head): void {
  const { id, n, seq, status } = head;
  if (tables.head(id) === undefined) throw tables.damaged('the index of the ids of runs has gaps');
  const { rows } = tables.load(head);
  const run = rows.find(({ table }) => table === 'run');
  if (run?.table !== 'run' || run.row.status !== status) throw tables.damaged('its status was changed');
  if (tables.graph(head.graph) === undefined) throw tables.damaged('its workflow is missing');
  for (let from = 1; from <= seq; from += PAGE) {
    const { length } = tables.entries(n, from, Math.min(PAGE, seq - from + 1));
    if (length < Math.min(PAGE, seq - from + 1)) throw tables.damaged(`entry ${from + length} is missing`);
  }
  tables.inbox(n);
  tables.responses(n);
}
