import type { Json } from '../../../graph/json.js';
import type { RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { type InboxItem, JournalFailedError, type RunJournal } from '../store/journal.js';

/** An item sent to a run from outside, which the run applies when it works next. */
export interface Delivery {
  /** Id of its item, which the inbox of the journal has. */
  readonly item?: string;
  /** The item did not go through the inbox: no entry consumes it, and its sender delivers it again if the run is lost. */
  isDirect?: boolean;
  /**
   * Decides with the state of the run, all of which is safe. Returns the event for the run, or nothing for a repeated
   * delivery. Called again after a write that failed.
   */
  open(state: RunState): Event | undefined;
  /** The response to the sender. @param isAccepted whether the run accepted the event. */
  respond(isAccepted: boolean): Json;
  /** The transition is safe; observers are notified next. */
  done(response: Json): void;
  /** The run is lost to this process. */
  failed(fault: unknown): void;
}

/** So many events are applied at once: other work of the process has its turn between two transitions. */
const BATCH = 100;

/** The queue of a run: events of calls and times, and then deliveries. */
export class Incoming {
  readonly #events = new Queue<Event>();
  #deliveries: Queue<Delivery> | undefined;

  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  /** How many events and deliveries wait. */
  get size(): number {
    return this.#events.length + (this.#deliveries?.length ?? 0);
  }

  add(event: Event): void {
    this.#events.push(event);
  }

  deliver(delivery: Delivery): void {
    this.#deliveries ??= new Queue();
    this.#deliveries.push(delivery);
  }

  /** The oldest events. A cancellation comes alone: calls that were not made before it have no effect. */
  takeEvents(): readonly Event[] {
    const batch: Event[] = [];
    while (batch.length < BATCH) {
      if (batch.length > 0 && this.#events.first?.kind === 'cancelled') break;
      const event = this.#events.shift();
      if (event === undefined) break;
      batch.push(event);
      if (event.kind === 'cancelled') break;
    }
    return batch;
  }

  takeDelivery(): Delivery | undefined {
    return this.#deliveries?.shift();
  }

  /** Puts back what was taken and not applied. */
  putBack(events: readonly Event[], delivery?: Delivery): void {
    if (events.length > 0) this.#events.unshift(...events);
    if (delivery === undefined) return;
    this.#deliveries ??= new Queue();
    this.#deliveries.unshift(delivery);
  }

  /** The commands that the events answer. */
  get answered(): ReadonlySet<string> {
    return new Set([...this.#events].flatMap((event) => ('command' in event ? [event.command] : [])));
  }

  get events(): Iterable<Event> {
    return this.#events;
  }

  get deliveries(): Iterable<Delivery> {
    return this.#deliveries ?? [];
  }
}

/** The run is abandoned after this many failed reads in a row. */
const MAX_FAILED_READS = 3;

/** Reads what is sent to a run's inbox in its journal. */
export class InboxReader {
  readonly #journal: RunJournal;
  readonly #run: string;
  readonly #onItems: (items: readonly InboxItem[], added: readonly InboxItem[]) => void;
  readonly #onFault: (fault: unknown) => void;
  readonly #unwatch: () => void;
  /** Items that were reported as added and are not consumed yet. */
  readonly #received = new Set<string>();
  #consumed = 0;
  #isReading = false;
  /** An item was sent while the inbox was read. */
  #isStale = false;
  #isStopped = false;

  /** @param onItems gets the items of the inbox whenever it was read, and those of them that it did not get before. */
  constructor(
    journal: RunJournal,
    run: string,
    onItems: (items: readonly InboxItem[], added: readonly InboxItem[]) => void,
    onFault: (fault: unknown) => void,
  ) {
    this.#journal = journal;
    this.#run = run;
    this.#onItems = onItems;
    this.#onFault = onFault;
    this.#unwatch = journal.watch(run, () => void this.#read());
    void this.#read();
  }

  /** An item was consumed: its entry is safe. */
  forget(item: string): void {
    this.#received.delete(item);
    this.#consumed += 1;
  }

  stop(): void {
    this.#isStopped = true;
    this.#unwatch();
  }

  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    for (let failures = 0; this.#isStale && !this.#isStopped; ) {
      this.#isStale = false;
      const consumed = this.#consumed;
      let items: readonly InboxItem[];
      try {
        items = await this.#journal.inbox(this.#run);
        failures = 0;
      } catch (fault) {
        failures += 1;
        this.#isStale = true;
        if (failures < MAX_FAILED_READS) continue;
        this.#onFault(new JournalFailedError('the journal failed to read what was sent to the run', fault));
        break;
      }
      // What was read may have been consumed since.
      if (consumed !== this.#consumed) this.#isStale = true;
      else if (!this.#isStopped) this.#report(items);
    }
    this.#isReading = false;
  }

  #report(items: readonly InboxItem[]): void {
    const added = items.filter(({ id }) => !this.#received.has(id));
    for (const { id } of added) this.#received.add(id);
    this.#onItems(items, added);
  }
}

/** So many empty places stay at the front before the list is cut. */
const MAX_EMPTY = 1_024;

/** A first-in, first-out list whose `shift` costs the same however long it is. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** The item that comes next. */
  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) this.clear();
    else if (this.#head > MAX_EMPTY && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Puts items back in front. */
  unshift(...items: T[]): void {
    this.#items = [...items, ...this];
    this.#head = 0;
  }

  clear(): void {
    if (this.#items.length > 0) this.#items = [];
    this.#head = 0;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = this.#head; index < this.#items.length; index += 1) yield this.#items[index] as T;
  }
}
