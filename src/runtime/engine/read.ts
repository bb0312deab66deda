import { type Json, type JsonObject, ownProperty } from '../../graph/json.js';
import type { FieldRow, NodeRow, OwedCommand, RunState } from './contract.js';

/** The record of a node by its key; none where it has not begun, or is forgotten with its scope. */
export function nodeRow(state: RunState, key: string): NodeRow | undefined {
  return ownProperty(state.nodes, key);
}

/** What a node gave; nothing where it has not succeeded, gave an absent value, or is forgotten with its scope. */
export function outputOf(state: RunState, key: string): Json | undefined {
  return ownProperty(state.outputs, key);
}

/** What the workflow is given that a `workflow` node runs; nothing where it has not begun. */
export function inputOf(state: RunState, key: string): JsonObject | undefined {
  return ownProperty(state.inputs, key);
}

/** The items of a loop; nothing where it has not begun, or is over. */
export function itemsOf(state: RunState, key: string): readonly Json[] | undefined {
  return ownProperty(state.items, key);
}

/** A field of the run's state that was written: `value` is missing where that was absent. */
export function fieldOf(state: RunState, name: string): FieldRow | undefined {
  return ownProperty(state.fields, name);
}

/** A command that wants an answer. */
export function commandOf(state: RunState, id: string): OwedCommand | undefined {
  return ownProperty(state.commands, id);
}

/** All commands that want an answer, in the order in which they were issued. */
export function commandsOf(state: RunState): readonly OwedCommand[] {
  return Object.values(state.commands).sort((one, other) => one.seq - other.seq);
}
