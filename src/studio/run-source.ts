import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../graph/defined.js';
import type { StoreOperator } from '../runtime/runs/operate/store-operator.js';
import { readStoredRun, type StoredRunReader } from '../runtime/runs/operate/stored-view.js';
import type { ListedRow, ReadRun, StoreReader } from '../runtime/runs/store/reader.js';
import { StoreError, UnreadableRunError } from '../runtime/runs/store/store-error.js';
import { runRef } from '../runtime/tools/port.js';

/** What the pages read of a store. */
export type StoredRuns = Omit<StoreReader, 'countExpired' | 'check' | 'metrics'>;

/** Which runs a page lists. */
export interface RunQuery {
  readonly workflow?: string;
  readonly state?: NonNullable<Parameters<StoredRuns['list']>[0]['state']>;
  /** A part of the name of the owner. */
  readonly owner?: string;
  /** A part of the name of the run, of its workflow, its owner, or of what it waits for. */
  readonly text?: string;
  readonly before?: number;
  readonly limit: number;
}

/** A page of runs, the latest first. */
export interface RunPage {
  readonly rows: readonly ListedRow[];
  /** The number before which the next page begins. */
  readonly next?: number;
  /** Whether older runs were not searched. */
  readonly isCut: boolean;
}

/** A run with what is shown of it. */
export interface OpenRun extends ReadRun {
  readonly shown: StoredRunReader;
  /** The states of its nodes, with their last calls. */
  readonly states: ReturnType<StoredRunReader['states']>;
  /** The latest events, in their order. */
  readonly events: readonly (ReturnType<StoredRunReader['event']> & { readonly entry: number })[];
}

/** So many runs are searched for a text or an owner at most. */
const MOST_SEARCHED = 10_000;
const PAGE = 500;
/** So many entries of a log are read at most, for times and calls. */
const MOST_ENTRIES = 20_000;
/** So many events of a log are shown at most, the latest. */
export const MOST_EVENTS = 200;

/** Reads the runs of a store for pages. */
export class RunSource {
  readonly operator: StoreOperator;
  #reader: Promise<HeldReader> | undefined;

  constructor(operator: StoreOperator) {
    this.operator = operator;
  }

  list({ owner, text, before, limit, ...filter }: RunQuery): Promise<RunPage> {
    const words = text?.toLowerCase();
    const matches = (row: ListedRow): boolean =>
      (owner === undefined || (row.owner ?? '').toLowerCase().includes(owner.toLowerCase())) &&
      (words === undefined || textOf(row).toLowerCase().includes(words));
    const isSearch = owner !== undefined || words !== undefined;
    const size = isSearch ? PAGE : limit + 1;
    return this.read(async (reader) => {
      const rows: ListedRow[] = [];
      let searched = 0;
      for (let from = before; ; ) {
        const page = await reader.list({ ...filter, ...defined({ before: from }), limit: size });
        searched += page.length;
        rows.push(...page.filter(matches));
        from = page.at(-1)?.n;
        const isCut = page.length === size && searched >= MOST_SEARCHED;
        if (rows.length > limit || page.length < size || isCut) {
          const shown = rows.slice(0, limit);
          return {
            rows: shown,
            isCut,
            ...defined({ next: rows.length > limit ? shown.at(-1)?.n : undefined }),
          };
        }
      }
    });
  }

  /** A run by its name. Undefined for a name that is not that of exactly one run. */
  open(name: string): Promise<OpenRun | undefined> {
    return this.read(async (reader) => {
      const [head, ...others] = await reader.find(name);
      const read = head === undefined || others.length > 0 ? undefined : await reader.read(head);
      if (read === undefined) return undefined;
      const shown = readStoredRun(read);
      if (shown instanceof Error) throw new UnreadableRunError(runRef(read.head.id), false, shown);
      const entries = await reader.entries(read.head, 1, MOST_ENTRIES);
      const events: OpenRun['events'][number][] = [];
      for (const { seq, events: all } of entries.slice(-MOST_EVENTS))
        for (const event of all)
          events.push({ entry: seq, ...shown.event(event) } as OpenRun['events'][number]);
      return { ...read, shown, states: shown.states(entries), events: events.slice(-MOST_EVENTS) };
    });
  }

  /** What changes when a run does. */
  versionOf(name: string): Promise<string> {
    return this.read(async (reader) => {
      const heads = await reader.find(name);
      return heads.map(({ seq, graph, holder }) => `${seq} ${graph} ${holder}`).join();
    });
  }

  /**
   * Looks at the store again whenever it may have changed, and yields each change of what a look returns, until the signal
   * is aborted or the store cannot be read.
   *
   * @param last what was seen before.
   */
  async *changes(look: () => Promise<string>, last: string, signal: AbortSignal): AsyncGenerator<string> {
    let isChanged = true;
    let wake = (): void => {};
    const onChange = (): void => {
      isChanged = true;
      wake();
    };
    const stop = await this.read(async (reader) => reader.watch(onChange));
    const watched = this.#reader;
    signal.addEventListener('abort', onChange, { once: true });
    try {
      for (let previous = last; !signal.aborted && this.#reader === watched; ) {
        isChanged = false;
        const start = performance.now();
        const current = await look();
        if (current !== previous) yield current;
        previous = current;
        const rest = Math.min(MOST_REST_MS, REST * (performance.now() - start));
        await delay(rest, undefined, { signal }).catch(() => {});
        if (isChanged) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      stop();
      signal.removeEventListener('abort', onChange);
    }
  }

  /** The store is read through one reader, until it fails. One that does not exist yet has no runs. */
  async read<T>(work: (reader: StoredRuns) => Promise<T>): Promise<T> {
    const opened = this.#reader ?? hold(this.operator);
    this.#reader = opened;
    try {
      return await work((await opened).reader);
    } catch (error) {
      if (this.#reader === opened) this.#reader = undefined;
      await opened.then(
        (held) => held.release(),
        () => {},
      );
      if (error instanceof StoreError && error.problem === 'missing') return work(NO_RUNS);
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = await this.#reader?.catch(() => undefined);
    this.#reader = undefined;
    await opened?.release();
  }
}

/** Reads a store before its first run creates it. */
const NO_RUNS: StoredRuns = {
  list: () => [],
  find: () => [],
  read: () => undefined,
  entries: () => [],
  watch(onChange) {
    const timer = setInterval(onChange, MOST_REST_MS);
    return () => clearInterval(timer);
  },
};

interface HeldReader {
  readonly reader: StoredRuns;
  release(): Promise<void>;
}

function hold(operator: StoreOperator): Promise<HeldReader> {
  return new Promise((resolve, reject) => {
    const closed = operator.read(
      (reader) =>
        new Promise<void>((release) => {
          const end = async (): Promise<void> => {
            release();
            await closed.catch(() => {});
          };
          resolve({ reader, release: end });
        }),
    );
    closed.catch(reject);
  });
}

function textOf({ ref, workflow, owner = '', waits, missing }: ListedRow): string {
  const names = [...waits.map(({ of }) => of), ...missing.map(({ name }) => name)];
  return [ref, workflow, owner, ...names].join(' ');
}

/** Between two looks at a store are so many times what a look takes. */
const REST = 5;
/** The longest time between two looks, in ms. */
const MOST_REST_MS = 2_000;
