import type { Json } from '../../../graph/json.js';
import type { Event, RunState } from '../../engine/contract.js';
import { Queue } from './queue.js';

/** Something sent to a run from outside, which the run takes in when its turn comes. */
export interface Delivery {
  /** Id of its item in the journal's inbox, where it came from there. */
  readonly item?: string;
  /**
   * Looks at the run, of which everything is safe, and says what it is to take in: nothing where the answer is known
   * already. Called again where nothing of it could be written.
   */
  open(state: RunState): Event | undefined;
  /** What the sender is told. @param isTaken whether the run took the event in. */
  respond(isTaken: boolean): Json;
  /** Everything is safe; observers are told next. */
  done(response: Json): void;
  /** The run is lost to this process. */
  failed(fault: unknown): void;
}

/** What has come in for a run and waits for its turn: what its calls and times have led to goes first. */
export class Incoming {
  #events: Event[] = [];
  #deliveries: Queue<Delivery> | undefined;

  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  /** How much waits. */
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

  /** All events that came in. A cancellation comes alone: what was not made until then has done nothing. */
  takeEvents(): readonly Event[] {
    const events = this.#events;
    const end = events.findIndex(({ kind }) => kind === 'cancelled');
    if (end >= 0) return events.splice(0, Math.max(end, 1));
    this.#events = [];
    return events;
  }

  takeDelivery(): Delivery | undefined {
    return this.#deliveries?.shift();
  }

  /** Puts back what was taken and not taken in. */
  putBack(events: readonly Event[], delivery?: Delivery): void {
    if (events.length > 0) this.#events.unshift(...events);
    if (delivery === undefined) return;
    this.#deliveries ??= new Queue();
    this.#deliveries.unshift(delivery);
  }

  /** The commands that the events answer. */
  get answered(): ReadonlySet<string> {
    return new Set(this.#events.flatMap((event) => ('command' in event ? [event.command] : [])));
  }

  get deliveries(): Iterable<Delivery> {
    return this.#deliveries ?? [];
  }
}
