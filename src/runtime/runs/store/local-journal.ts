import type { Json } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { RunIndex } from './journal.js';
import {
  type DueTimer,
  hasLeases,
  type InboxItem,
  isOver,
  type Journal,
  type JournalEntry,
  type Leases,
  type LoadedRun,
  listingIn,
  type OpenRun,
  type Retention,
  type RunHead,
  type RunJournal,
  type RunListing,
} from './journal.js';

// Journals that one process uses alone: it keeps their index, and holds each of their runs until it ends.

/** What a store knows of its runs that an index in memory does not. */
interface LocalRuns {
  /** How many questions a run asks. */
  questionsOf(run: string): number;
  /** A finished run does not stay. */
  expired(run: string): void;
}

interface Quota {
  /** In the order in which they began. */
  readonly runs: Set<string>;
  /** Those of them that are not over. */
  readonly open: Set<string>;
}

/** Finds the runs of a journal that this process alone uses. */
class LocalIndex {
  readonly #store: LocalRuns;
  readonly #runs = new Map<string, RunListing>();
  readonly #quotas = new Map<string, Quota>();
  readonly #aliases = new Map<string, string>();
  /** When runs ended, in that order. */
  readonly #ends = new Map<string, number>();

  constructor(store: LocalRuns) {
    this.#store = store;
  }

  add(run: string, hostRows: JournalEntry['hostRows']): void {
    const listing = this.#runs.has(run) ? undefined : listingIn(hostRows);
    if (listing === undefined) return;
    const { quota, alias } = listing;
    this.#runs.set(run, listing);
    if (alias !== undefined) this.#aliases.set(alias, run);
    const group = this.#quotas.get(quota) ?? { runs: new Set(), open: new Set() };
    this.#quotas.set(quota, group);
    group.runs.add(run);
    group.open.add(run);
  }

  ended(run: string, at: number): void {
    const quota = this.#quotaOf(run);
    if (quota === undefined || this.#ends.has(run)) return;
    this.#ends.set(run, at);
    quota.open.delete(run);
  }

  remove(run: string): void {
    const listing = this.#runs.get(run);
    const group = this.#quotaOf(run);
    if (listing === undefined || group === undefined) return;
    this.#runs.delete(run);
    if (listing.alias !== undefined) this.#aliases.delete(listing.alias);
    this.#ends.delete(run);
    group.open.delete(run);
    group.runs.delete(run);
    if (group.runs.size === 0) this.#quotas.delete(listing.quota);
  }

  accessTo(run: string): string | undefined {
    return this.#runs.get(run)?.access;
  }

  listed(quota: string, { before, isOpen, limit }: Parameters<RunIndex['listed']>[1]): readonly string[] {
    const runs = [...(this.#quotas.get(quota)?.runs ?? [])].reverse();
    const first = before === undefined ? 0 : runs.indexOf(before) + 1;
    const matches = runs.slice(first).filter((run) => isOpen === undefined || isOpen !== this.#ends.has(run));
    return matches.slice(0, limit);
  }

  open(quota: string): { readonly runs: number; readonly questions: number } {
    const open = this.#quotas.get(quota)?.open ?? new Set();
    let questions = 0;
    for (const run of open) questions += this.#store.questionsOf(run);
    return { runs: open.size, questions };
  }

  openOf(prefix: string): number {
    let count = 0;
    for (const [quota, { open }] of this.#quotas) if (quota.startsWith(prefix)) count += open.size;
    return count;
  }

  byAlias(alias: string): string | undefined {
    return this.#aliases.get(alias);
  }

  openWithAlias(): readonly string[] {
    return [...this.#aliases.values()].filter((run) => !this.#ends.has(run));
  }

  /** The process that holds a run has a timer of its own. */
  nextDue(): undefined {
    return undefined;
  }

  expire({ endedBefore = Number.NEGATIVE_INFINITY, keep = Number.POSITIVE_INFINITY }: Retention): void {
    for (const [run, at] of this.#ends) {
      if (this.#ends.size <= keep && at > endedBefore) return;
      this.remove(run);
      this.#store.expired(run);
    }
  }

  #quotaOf(run: string): Quota | undefined {
    return this.#quotas.get(this.#runs.get(run)?.quota ?? '');
  }
}

const NO_STORE: LocalRuns = { questionsOf: () => 0, expired() {} };

/** Of a journal whose runs are in memory: this process holds them. */
const VOLATILE_LEASES: Leases = {
  claim: async () => undefined,
  release: async () => {},
  abandon: async () => {},
  head: async () => undefined,
  follow: () => () => {},
  orphans: async () => [],
  intervalMs: Number.POSITIVE_INFINITY,
};

/** "In memory": what is appended is safe at once, and an index is all that is kept of it. */
export class VolatileJournal implements RunJournal {
  readonly isVolatile = true;
  readonly leases: Leases = VOLATILE_LEASES;
  readonly index: LocalIndex;

  constructor(store = NO_STORE) {
    this.index = new LocalIndex(store);
  }

  append({ run, expectedSeq, hostRows }: JournalEntry): void {
    if (expectedSeq === 0) this.index.add(run, hostRows);
  }

  async forget(run: string): Promise<void> {
    this.index.remove(run);
  }

  async load(): Promise<LoadedRun | undefined> {
    return undefined;
  }
  async graph(): Promise<Graph | undefined> {
    return undefined;
  }
  async openRuns(): Promise<readonly OpenRun[]> {
    return [];
  }
  async finishedRuns(): Promise<readonly string[]> {
    return [];
  }
  async dueTimers(): Promise<readonly DueTimer[]> {
    return [];
  }
  async send(): Promise<void> {}
  async inbox(): Promise<readonly InboxItem[]> {
    return [];
  }
  async response(): Promise<undefined> {}
  watch(): () => void {
    return () => {};
  }
}

/** Of runs that are not kept beyond one call. */
export const UNRECORDED = new VolatileJournal();

/** A journal without leases and an index gets those of one process. */
class LocalJournal implements RunJournal {
  readonly leases: Leases;
  readonly index: LocalIndex;
  readonly #journal: Journal;
  /** Open runs that this process has begun or claimed. */
  readonly #ownRuns = new Set<string>();

  constructor(journal: Journal, store: LocalRuns) {
    this.#journal = journal;
    this.index = new LocalIndex(store);
    this.leases = {
      ...VOLATILE_LEASES,
      claim: (run) => this.#claim(run),
      head: (run) => this.#head(run),
      orphans: async (_now, isMoved = () => true) =>
        (await journal.openRuns()).filter(({ run }) => !this.#ownRuns.has(run) || !isMoved(run)),
    };
  }

  append(entry: JournalEntry): Promise<void> {
    const appended = this.#journal.append(entry);
    return entry.expectedSeq > 0 ? appended : appended.then(() => this.#begin(entry));
  }

  #begin({ run, hostRows }: JournalEntry): void {
    this.#ownRuns.add(run);
    this.index.add(run, hostRows);
  }

  async load(run: string): Promise<LoadedRun | undefined> {
    const loaded = await this.#journal.load(run);
    if (loaded !== undefined) this.index.add(run, loaded.hostRows);
    return loaded;
  }

  async forget(run: string): Promise<void> {
    this.index.remove(run);
    this.#ownRuns.delete(run);
    await this.#journal.forget(run);
  }

  graph(hash: string): Promise<Graph | undefined> {
    return this.#journal.graph(hash);
  }
  openRuns(): Promise<readonly OpenRun[]> {
    return this.#journal.openRuns();
  }
  finishedRuns(): Promise<readonly string[]> {
    return this.#journal.finishedRuns();
  }
  dueTimers(until: number): Promise<readonly DueTimer[]> {
    return this.#journal.dueTimers(until);
  }
  send(item: InboxItem): Promise<void> {
    return this.#journal.send(item);
  }
  inbox(run: string): Promise<readonly InboxItem[]> {
    return this.#journal.inbox(run);
  }
  response(run: string, item: string): Promise<Json | undefined> {
    return this.#journal.response(run, item);
  }
  watch(run: string, onChange: () => void): () => void {
    return this.#journal.watch(run, onChange);
  }

  async #claim(run: string): Promise<LoadedRun | undefined> {
    const loaded = await this.load(run);
    if (loaded === undefined || loaded.rows.some((row) => row.table === 'run' && isOver(row.row.status)))
      return undefined;
    this.#ownRuns.add(run);
    return { ...loaded, epoch: loaded.epoch + 1, holder: 'this' };
  }

  async #head(run: string): Promise<RunHead | undefined> {
    const loaded = await this.#journal.load(run);
    return loaded && { seq: loaded.seq, epoch: loaded.epoch };
  }

  /** Enters the runs of earlier processes. One that cannot be read is reported when it is resumed. */
  async enterAll(): Promise<void> {
    for (const run of await this.#journal.finishedRuns()) {
      const loaded = await this.load(run).catch(() => undefined);
      const end = loaded?.hostRows.find(({ table, key }) => table === 'run' && key === 'endAt');
      this.index.ended(run, Number(end?.row ?? 0));
    }
    for (const { run } of await this.#journal.openRuns()) await this.load(run).catch(() => undefined);
  }
}

/** A user's journal with leases and an index: those of the journal, or those of one process. */
export function withLeases(journal: Journal | RunJournal): RunJournal {
  return hasLeases(journal) ? journal : new LocalJournal(journal, NO_STORE);
}

/** The same for the runs of a store. Those of earlier processes are in the index. */
export async function openJournal(journal: Journal, store: LocalRuns): Promise<RunJournal> {
  if (hasLeases(journal)) return journal;
  const local = new LocalJournal(journal, store);
  await local.enterAll();
  return local;
}
