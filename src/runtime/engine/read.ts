import { type Json, ownProperty } from '../../graph/json.js';
import type { NodeRow, OwedCommand, RunState } from './contract.js';

/** The record of a node by its key; none where it has not begun, or is forgotten with its scope. */
export function nodeRow(state: RunState, key: string): NodeRow | undefined {
  return ownProperty(state.nodes, key);
}

/** What a node gave; nothing where it has not succeeded, gave an absent value, or is forgotten with its scope. */
export function outputOf(state: RunState, key: string): Json | undefined {
  return ownProperty(state.outputs, key);
}

/** A command that wants an answer. */
export function commandOf(state: RunState, id: string): OwedCommand | undefined {
  return ownProperty(state.commands, id);
}

/** All commands that want an answer, in the order in which they were issued. */
export function commandsOf(state: RunState): readonly OwedCommand[] {
  return Object.values(state.commands).sort((one, other) => one.seq - other.seq);
}
