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

/** So many events are taken in at once: others in the process have their turn between two transitions. */
const BATCH = 100;

/** What has come in for a run and waits for its turn: what its calls and times have led to goes first. */
export class Incoming {
  readonly #events = new Queue<Event>();
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

  /** The oldest events. A cancellation comes alone: what was not made until then has done nothing. */
  takeEvents(): readonly Event[] {
    const taken: Event[] = [];
    while (taken.length < BATCH) {
      if (taken.length > 0 && this.#events.first?.kind === 'cancelled') break;
      const event = this.#events.shift();
      if (event === undefined) break;
      taken.push(event);
      if (event.kind === 'cancelled') break;
    }
    return taken;
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
    return new Set([...this.#events].flatMap((event) => ('command' in event ? [event.command] : [])));
  }

  get deliveries(): Iterable<Delivery> {
    return this.#deliveries ?? [];
  }
}
