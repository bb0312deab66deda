import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { advance } from '../../engine/advance.js';
import type { Advance, Change, Command, Event, Fact, RunState, StartIds } from '../../engine/contract.js';
import { fold } from '../../engine/fold.js';
import { outstanding } from '../../engine/outstanding.js';
import { start } from '../../engine/start.js';
import type { Row } from '../journal.js';

/** What a transition of the engine yields. */
export interface Transition extends Advance {
  /** It stopped half-way: it goes on without an event. */
  readonly more: boolean;
  /** How many of the events it has read. */
  readonly consumed: number;
}

/** Begins a run; see `start`. */
export function begin(graph: Graph, input: JsonObject, ids: StartIds): Transition {
  return { ...start(graph, input, ids), more: false, consumed: 0 };
}

/** Takes a run further by a batch of events. */
export function proceed(graph: Graph, state: RunState, events: readonly Event[]): Transition {
  const changes: Change[] = [];
  const commands: Command[] = [];
  const facts: Fact[] = [];
  for (const event of events) {
    const step = advance(graph, state, event);
    changes.push(...step.changes);
    commands.push(...step.commands);
    facts.push(...step.facts);
  }
  return { state, changes, commands, facts, more: false, consumed: events.length };
}

/** A run's state as its rows have it. */
export function restored(rows: readonly Row[]): RunState {
  return fold(rows);
}

/** What a run still wants answered, and whether it owes a continuation. */
export function owed(state: RunState): { readonly commands: readonly Command[]; readonly more: boolean } {
  return { commands: outstanding(state), more: false };
}

export function isOpen({ commands }: RunState, id: string): boolean {
  return Object.hasOwn(commands, id);
}
