import type { Json } from '../../../graph/json.js';
import type { Advance } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import type { HostRow } from '../store/journal.js';
import type { Delivery } from './inbox.js';
import type { startOf } from './run-host.js';

/*
 * What the driver of a run does at a moment, apart from the engine's state of the run:
 *
 * | state     | meaning                                                | may become                                 |
 * |-----------|--------------------------------------------------------|--------------------------------------------|
 * | starting  | its first transition is computed and not taken         | working, over                              |
 * | following | it shows a loaded run, and executes none of it         | working, waiting, over                     |
 * | working   | transitions are taken, one after the other             | yielding, waiting, writing, over           |
 * | yielding  | there is work, which continues in a later turn         | working, over                              |
 * | gathering | calls returned; more may return in the same microtask  | working, over                              |
 * | waiting   | there is no work until something arrives               | working, gathering, over                   |
 * | writing   | a transition is computed, and not safe                 | working, lost, over                        |
 * | lost      | another process has written to the run                 |                                            |
 * | over      | no part of the run executes in this process any more   |                                            |
 *
 * What arrives while the driver is starting, working or writing is queued. A call that returns, or a time that comes, is
 * queued while it yields as well.
 *
 * A failed write has no state of its own: the run is read back before the write ends, and what was read is adopted in the
 * same step. Where the start itself was not written, it is computed and taken again in that step.
 */

interface Starting {
  readonly kind: 'starting';
  readonly start: ReturnType<typeof startOf>;
  readonly first: Advance;
}

/** A transition that takes effect when it is safe: facts for observers, commands, a response. */
interface Writing {
  readonly kind: 'writing';
  /** Of the first transition of a run. */
  readonly start: ReturnType<typeof startOf> | undefined;
  readonly transition: Advance;
  readonly events: readonly Event[];
  readonly delivery: Delivery | undefined;
  /** The response to the delivery. */
  readonly response: Json;
  /** Rows of the host that are written with it. */
  readonly hostRows: readonly HostRow[];
}

/** A state without fields. */
interface Plain<Kind extends string> {
  readonly kind: Kind;
}

export type LiveState =
  | Starting
  | Writing
  | Plain<'following'>
  | Plain<'working'>
  | Plain<'yielding'>
  | Plain<'gathering'>
  | Plain<'waiting'>
  | Plain<'lost'>
  | Plain<'over'>;

type Kind = LiveState['kind'];

const SUCCESSORS: Readonly<Record<Kind, readonly Kind[]>> = {
  starting: ['working', 'over'],
  following: ['working', 'waiting', 'over'],
  working: ['yielding', 'waiting', 'writing', 'over'],
  yielding: ['working', 'over'],
  gathering: ['working', 'over'],
  waiting: ['working', 'gathering', 'over'],
  writing: ['working', 'lost', 'over'],
  lost: [],
  over: [],
};

/**
 * Returns the next state.
 * @throws Error for one that may not follow: a fault of the driver.
 */
export function follow(from: LiveState, to: LiveState): LiveState {
  if (!SUCCESSORS[from.kind].includes(to.kind)) {
    throw new Error(`a run that is ${from.kind} cannot become ${to.kind}`);
  }
  return to;
}

/** Whether no part of the run executes in this process any more. */
export function isEnded({ kind }: LiveState): boolean {
  return kind === 'over' || kind === 'lost';
}

/** Whether all that a run shows is written. */
export function isSafe({ kind }: LiveState): boolean {
  return kind !== 'writing' && kind !== 'lost';
}
