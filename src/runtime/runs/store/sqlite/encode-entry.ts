import { defined } from '../../../../graph/defined.js';
import type { Graph } from '../../../../graph/model.js';
import type { Row } from '../../../engine/contract.js';
import type { RunStatus } from '../../../engine/events.js';
import { dueTimeOf, owedKind, type Tables } from '../../../engine/rows.js';
import { type HostRow, type JournalEntry, listingIn, type RunListing } from '../journal.js';
import { keyColumn, type LargeText, type TextColumn, TextWriter } from './texts.js';

/** An entry as it is written: later changes of its objects do not reach it. */
export interface EncodedEntry
  extends Pick<JournalEntry, 'run' | 'seq' | 'expectedSeq' | 'epoch' | 'releases'> {
  /** Of an entry that begins a run. */
  readonly begins?: {
    readonly graphHash: string;
    readonly graph: string;
    readonly workflow: string;
    /** In ms since the epoch. */
    readonly startedAt: number;
    readonly listing: Partial<RunListing>;
  };
  /** The status of the run, where its row is written. */
  readonly becomes: NewStatus | undefined;
  readonly events: TextColumn;
  readonly changes: readonly EncodedChange[];
  readonly hostRows: readonly { readonly table: string; readonly key: string; readonly row: TextColumn }[];
  readonly consumed: readonly { readonly id: string; readonly response: TextColumn }[];
  readonly large: readonly LargeText[];
}

/** A status of a run. */
interface NewStatus {
  readonly status: RunStatus;
  /** The time of the last event that led to it, in ms since the epoch; null for none. */
  readonly at: number | null;
}

interface EncodedChange {
  readonly table: string;
  readonly key: string;
  /** Undefined for a row that is deleted. */
  readonly put:
    | {
        readonly row: TextColumn;
        readonly refs: string | null;
        /** The kind of the command that the row is to have answered, and its id if it has a time. */
        readonly owes: string | null;
        readonly command: string | null;
        readonly dueAt: number | null;
      }
    | undefined;
}

export function encodeEntry(entry: JournalEntry): EncodedEntry {
  const { run, seq, expectedSeq, epoch, graph, events, changes, hostRows = [], consumed = [] } = entry;
  const { releases } = entry;
  const texts = new TextWriter();
  let start: Tables['start'] | undefined;
  let becomes: NewStatus | undefined;
  for (const change of changes) {
    if (change.op === 'delete') continue;
    if (change.table === 'start') start = change.row;
    if (change.table === 'run') becomes = { status: change.row.status, at: events.at(-1)?.at ?? null };
  }
  return {
    ...{ run, seq, expectedSeq, epoch, becomes },
    ...defined({ releases }),
    ...(graph === undefined || start === undefined ? {} : { begins: beginningOf(graph, start, hostRows) }),
    events: texts.column(`[${events.map((event) => texts.event(event)).join(',')}]`),
    changes: changes.map((change) => ({
      table: change.table,
      key: keyColumn(change.key),
      put: change.op === 'put' ? putOf(change, texts) : undefined,
    })),
    hostRows: hostRows.map(({ table, key, row }) => ({
      ...{ table, key: keyColumn(key) },
      row: texts.column(JSON.stringify(row)),
    })),
    consumed: consumed.map(({ id, response }) => ({ id, response: texts.column(JSON.stringify(response)) })),
    large: texts.large,
  };
}

function beginningOf(
  graph: Graph,
  { graphHash, workflow, startedAt }: Tables['start'],
  hostRows: readonly HostRow[],
): NonNullable<EncodedEntry['begins']> {
  const listing = listingIn(hostRows) ?? {};
  return { graphHash, graph: JSON.stringify(graph), workflow, startedAt, listing };
}

function putOf(change: Row, texts: TextWriter): EncodedChange['put'] {
  const due = dueTimeOf(change);
  return {
    row: texts.column(JSON.stringify(change.row)),
    refs: change.refs === undefined ? null : JSON.stringify(change.refs),
    owes: owedKind(change) ?? null,
    command: due === undefined ? null : keyColumn(due.command),
    dueAt: due?.dueAt ?? null,
  };
}
