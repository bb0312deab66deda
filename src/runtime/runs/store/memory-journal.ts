import type { Json } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import type { Change, RunState } from '../../engine/contract.js';
import { dueTimeOf } from '../../engine/rows.js';
import { GroupCommit } from './group-commit.js';
import {
  type DueTimer,
  type HostRow,
  type InboxItem,
  isOver,
  type Journal,
  JournalConflictError,
  type JournalEntry,
  type LoadedRun,
  type OpenRun,
  type Row,
  UnknownRunError,
} from './journal.js';

/** All that was written of a run. */
export interface JournaledRun {
  readonly graph: Graph;
  /** In order, from the start. */
  readonly entries: readonly Omit<JournalEntry, 'graph'>[];
  /** What the entries add up to. */
  readonly state: RunState;
}

/** A run in memory: what could change outside is kept as text. */
interface MemoryRun {
  graphHash: string;
  readonly entries: string[];
  /** By table and key, in the order in which they were first put. */
  readonly rows: Map<string, string>;
  /** Those of the host. */
  hostRows?: Map<string, string>;
  /** When commands are due, by the rows that hold them. */
  readonly dueTimes: Map<string, Omit<DueTimer, 'run'>>;
  readonly inbox: Map<string, string>;
  readonly responses: Map<string, string>;
  readonly watchers: Set<() => void>;
  seq: number;
  epoch: number;
  isOpen: boolean;
}

/** What {@link MemoryJournal.read} needs of the engine, loaded before the first entry: a server starts without it. */
let snapshots: typeof import('../../engine/snapshot.js') | undefined;

async function loadSnapshots(): Promise<void> {
  snapshots = await import('../../engine/snapshot.js');
}

/** A journal in memory: it ends with the process. It keeps text, as one on disk would. */
export class MemoryJournal implements Journal {
  readonly #runs = new Map<string, MemoryRun>();
  /** In the order they ended. */
  readonly #finished = new Set<string>();
  /** Texts of graphs by their hashes, and how many runs each has. */
  readonly #graphs = new Map<string, { readonly text: string; runs: number }>();
  readonly #group = new GroupCommit<JournalEntry>(async (entries) =>
    entries.map((entry) => this.#write(entry)),
  );

  append(entry: JournalEntry): Promise<void> {
    return snapshots === undefined
      ? loadSnapshots().then(() => this.#group.add(entry))
      : this.#group.add(entry);
  }

  async load(run: string): Promise<LoadedRun | undefined> {
    const stored = this.#runs.get(run);
    if (stored === undefined) return undefined;
    const { seq, epoch, graphHash } = stored;
    const rows = [...stored.rows.values()].map((text) => JSON.parse(text) as Row);
    const hostRows = [...(stored.hostRows?.values() ?? [])].map((text) => JSON.parse(text) as HostRow);
    return { run, seq, epoch, graphHash, rows, hostRows };
  }

  async graph(hash: string): Promise<Graph | undefined> {
    const stored = this.#graphs.get(hash);
    return stored === undefined ? undefined : (JSON.parse(stored.text) as Graph);
  }

  async openRuns(): Promise<readonly OpenRun[]> {
    return [...this.#runs].flatMap(([run, { isOpen, graphHash }]) => (isOpen ? [{ run, graphHash }] : []));
  }

  async finishedRuns(): Promise<readonly string[]> {
    return [...this.#finished];
  }

  async dueTimers(until: number): Promise<readonly DueTimer[]> {
    const due: DueTimer[] = [];
    for (const [run, { isOpen, dueTimes }] of this.#runs) {
      if (!isOpen) continue;
      for (const time of dueTimes.values()) if (time.dueAt <= until) due.push({ run, ...time });
    }
    return due.sort((one, other) => one.dueAt - other.dueAt);
  }

  async send(item: InboxItem): Promise<void> {
    const stored = this.#runs.get(item.run);
    if (stored === undefined) throw new UnknownRunError(item.run);
    if (!stored.isOpen) return;
    if (stored.inbox.has(item.id) || stored.responses.has(item.id)) return;
    stored.inbox.set(item.id, JSON.stringify(item));
    notify(stored);
  }

  async inbox(run: string): Promise<readonly InboxItem[]> {
    const items = this.#runs.get(run)?.inbox.values() ?? [];
    return [...items].map((text) => JSON.parse(text) as InboxItem);
  }

  async response(run: string, item: string): Promise<Json | undefined> {
    const text = this.#runs.get(run)?.responses.get(item);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  }

  watch(run: string, onChange: () => void): () => void {
    const watchers = this.#runs.get(run)?.watchers;
    watchers?.add(onChange);
    return () => watchers?.delete(onChange);
  }

  async forget(run: string): Promise<void> {
    const forgotten = this.#runs.get(run);
    if (forgotten === undefined) return;
    this.#runs.delete(run);
    this.#finished.delete(run);
    this.#release(forgotten.graphHash);
  }

  /** The ids of its runs, in the order in which they began. */
  get runs(): readonly string[] {
    return [...this.#runs.keys()];
  }

  /** All that was written of a run; nothing for one it does not have. */
  read(run: string): JournaledRun | undefined {
    const stored = this.#runs.get(run);
    if (stored === undefined) return undefined;
    const entries = stored.entries.map((text) => JSON.parse(text) as Omit<JournalEntry, 'graph'>);
    const graph = JSON.parse(this.#graphs.get(stored.graphHash)?.text ?? '') as Graph;
    if (snapshots === undefined) throw new Error('a journal has a run before its first entry');
    const rows = snapshots.foldRows(entries.flatMap(({ changes }) => changes));
    return { graph, entries, state: snapshots.restore(planOf(graph), rows) };
  }

  #write({ graph, ...entry }: JournalEntry): Error | undefined {
    const { run, seq, epoch, changes, hostRows = [], consumed = [] } = entry;
    const previous = this.#runs.get(run);
    const refusal = refusalOf(entry, previous);
    if (refusal !== undefined) return new JournalConflictError(entry, refusal);
    const stored = previous ?? this.#begin(entry, graph);
    if (previous !== undefined && graph !== undefined) this.#move(previous, changes, graph);
    if (stored === undefined)
      return new JournalConflictError(entry, 'a run begins with its graph and its row');
    for (const change of changes) keep(stored, change);
    if (stored.isOpen) this.#finished.delete(run);
    else this.#finished.add(run);
    for (const row of hostRows) {
      stored.hostRows ??= new Map();
      stored.hostRows.set(JSON.stringify([row.table, row.key]), JSON.stringify(row));
    }
    for (const { id, response } of consumed) {
      stored.inbox.delete(id);
      stored.responses.set(id, JSON.stringify(response));
    }
    if (!stored.isOpen) stored.inbox.clear();
    stored.entries.push(JSON.stringify(entry));
    stored.seq = seq;
    stored.epoch = epoch;
    if (consumed.length > 0) notify(stored);
    return undefined;
  }

  /** The run goes on with another graph. */
  #move(stored: MemoryRun, changes: readonly Change[], graph: Graph): void {
    const hash = this.#share(changes, graph);
    if (hash === undefined) return;
    this.#release(stored.graphHash);
    stored.graphHash = hash;
  }

  /** Keeps a graph once more, and returns the hash that the run begins or goes on with. */
  #share(changes: readonly Change[], graph: Graph): string | undefined {
    const first = changes.find((change) => change.op === 'put' && change.table === 'start');
    if (first?.op !== 'put' || first.table !== 'start') return undefined;
    const { graphHash } = first.row;
    const shared = this.#graphs.get(graphHash) ?? { text: JSON.stringify(graph), runs: 0 };
    shared.runs += 1;
    this.#graphs.set(graphHash, shared);
    return graphHash;
  }

  #release(hash: string): void {
    const graph = this.#graphs.get(hash);
    if (graph !== undefined) graph.runs -= 1;
    if (graph?.runs === 0) this.#graphs.delete(hash);
  }

  #begin({ run, epoch, changes }: JournalEntry, graph: Graph | undefined): MemoryRun | undefined {
    const graphHash = graph === undefined ? undefined : this.#share(changes, graph);
    if (graphHash === undefined) return undefined;
    const stored: MemoryRun = {
      graphHash,
      entries: [],
      rows: new Map(),
      dueTimes: new Map(),
      inbox: new Map(),
      responses: new Map(),
      watchers: new Set(),
      seq: 0,
      epoch,
      isOpen: true,
    };
    this.#runs.set(run, stored);
    return stored;
  }
}

/** Why an entry does not follow what is there. */
function refusalOf(
  { seq, expectedSeq, epoch, consumed = [] }: Omit<JournalEntry, 'graph'>,
  previous: MemoryRun | undefined,
): string | undefined {
  const last = previous?.seq ?? 0;
  if (expectedSeq !== last) return `it follows entry ${expectedSeq}, and the last one is ${last}`;
  if (seq !== expectedSeq + 1) return `the next one is ${last + 1}`;
  if (previous !== undefined && epoch < previous.epoch)
    return `the run has a later holder, of epoch ${previous.epoch}`;
  // Its items have left the inbox.
  if (previous?.isOpen === false) return undefined;
  const missing = consumed.find(({ id }) => !previous?.inbox.has(id));
  return missing === undefined ? undefined : `the inbox has no item '${missing.id}'`;
}

function keep(stored: MemoryRun, change: Change): void {
  const key = JSON.stringify([change.table, change.key]);
  if (change.op === 'delete') {
    stored.rows.delete(key);
    stored.dueTimes.delete(key);
    return;
  }
  stored.rows.set(key, JSON.stringify(change));
  if (change.table === 'run') stored.isOpen = !isOver(change.row.status);
  const due = dueTimeOf(change);
  if (due === undefined) stored.dueTimes.delete(key);
  else stored.dueTimes.set(key, due);
}

function notify({ watchers }: MemoryRun): void {
  for (const watcher of [...watchers]) queueMicrotask(watcher);
}
