import type { Row } from '../../engine/contract.js';
import { dueTimeOf } from '../../engine/snapshot.js';
import type { JournalEntry } from '../journal.js';
import { isOver } from '../journal.js';
import { keyColumn, type LargeText, type TextColumn, TextWriter } from './texts.js';

/** An entry as it is written: later changes of its objects do not reach it. */
export interface EncodedEntry extends Pick<JournalEntry, 'run' | 'seq' | 'expectedSeq' | 'epoch'> {
  /** Of an entry that begins a run. */
  readonly begins?: { readonly graphHash: string; readonly graph: string };
  /** Whether the run goes on; undefined where that did not change. */
  readonly isOpen: boolean | undefined;
  readonly events: TextColumn;
  readonly changes: readonly EncodedChange[];
  readonly hostRows: readonly { readonly table: string; readonly key: string; readonly row: TextColumn }[];
  readonly consumed: readonly { readonly id: string; readonly response: TextColumn }[];
  readonly large: readonly LargeText[];
}

interface EncodedChange {
  readonly table: string;
  readonly key: string;
  /** Undefined for a row that is deleted. */
  readonly put:
    | {
        readonly row: TextColumn;
        readonly refs: string | null;
        readonly command: string | null;
        readonly dueAt: number | null;
      }
    | undefined;
}

export function encodeEntry(entry: JournalEntry): EncodedEntry {
  const { run, seq, expectedSeq, epoch, graph, events, changes, hostRows = [], consumed = [] } = entry;
  const texts = new TextWriter();
  let graphHash: string | undefined;
  let isOpen: boolean | undefined;
  for (const change of changes) {
    if (change.op === 'delete') continue;
    if (change.table === 'start') graphHash = change.row.graphHash;
    if (change.table === 'run') isOpen = !isOver(change.row.status);
  }
  return {
    ...{ run, seq, expectedSeq, epoch, isOpen },
    ...(graph === undefined || graphHash === undefined
      ? {}
      : { begins: { graphHash, graph: JSON.stringify(graph) } }),
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

function putOf(change: Row, texts: TextWriter): EncodedChange['put'] {
  const due = dueTimeOf(change);
  return {
    row: texts.column(JSON.stringify(change.row)),
    refs: change.refs === undefined ? null : JSON.stringify(change.refs),
    command: due === undefined ? null : keyColumn(due.command),
    dueAt: due?.dueAt ?? null,
  };
}
