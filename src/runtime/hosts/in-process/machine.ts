import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { planOf } from '../../../plan/plan.js';
import { advance } from '../../engine/advance.js';
import type { Advance, Event, Outstanding, RunState, StartIds } from '../../engine/contract.js';
import { fold } from '../../engine/fold.js';
import { outstanding } from '../../engine/outstanding.js';
import { start } from '../../engine/start.js';
import type { Row } from '../journal.js';

/** What a transition of the engine yields. */
export type Transition = Advance;

/** Begins a run; see `start`. */
export function begin(graph: Graph, input: JsonObject, ids: StartIds): Transition {
  return start(planOf(graph), input, ids);
}

/** Takes a run further by a batch of events. */
export function proceed(graph: Graph, state: RunState, events: readonly Event[]): Transition {
  return advance(planOf(graph), state, events);
}

/** A run's state as its rows have it. */
export function restored(rows: readonly Row[]): RunState {
  return fold(rows);
}

/** What a run still wants answered, and whether it owes a continuation. */
export function owed(state: RunState): Outstanding {
  return outstanding(state);
}

export function isOpen({ commands }: RunState, id: string): boolean {
  return Object.hasOwn(commands, id);
}
