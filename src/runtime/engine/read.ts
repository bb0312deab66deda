import type { Json, JsonObject, Value } from '../../graph/json.js';
import type { ScopeInstance } from '../../plan/instances.js';
import type { Outstanding, OwedCommand } from './contract.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import type { SubmissionRow } from './rows.js';
import type { RunState } from './state.js';

/** The record of a node by its key; none where the scope it is in has not begun, or is over. */
export function nodeRecord(state: RunState, key: string): NodeRecord | undefined {
  const node = state.lookup(key);
  return node?.scope.isOpen ? node : undefined;
}

/** What a node gave; nothing where it has not succeeded, gave an absent value, or is forgotten with its scope. */
export function outputOf(state: RunState, key: string): Value {
  return nodeRecord(state, key)?.output;
}

/** The items of a loop that runs, by its key. */
export function itemsOf(state: RunState, key: string): readonly Json[] | undefined {
  return state.items.get(key);
}

/** The input of the workflow that a `workflow` node runs, by its key. */
export function inputOf(state: RunState, key: string): JsonObject | undefined {
  return state.inputs.get(key);
}

/** A field of the run's state that was written; its `value` is missing where it was written as absent. */
export function fieldOf(state: RunState, name: string): { readonly value?: Json } | undefined {
  return state.fields.get(name);
}

/** An accepted answer, by the id of its action. */
export function submissionOf(state: RunState, action: string): SubmissionRow | undefined {
  return state.submissions.get(action);
}

/** A command that wants an answer. */
export function commandOf(state: RunState, id: string): OwedCommand | undefined {
  return state.owed.get(id)?.command;
}

/** All commands that want an answer, in the order in which they were issued. */
export function commandsOf(state: RunState): readonly OwedCommand[] {
  const commands: OwedCommand[] = [];
  for (const { command } of state.owed.values()) if (command !== undefined) commands.push(command);
  return commands;
}

/** A scope of a run, as its nodes see the run: also where it is over, or has not begun. */
export function scopeOf(state: RunState, { container, part }: ScopeInstance): ScopeRecord {
  if (container === undefined) return state.root;
  const { planned, scope } = container;
  return state.part(scopeOf(state, scope).node(planned), part);
}

/**
 * The commands a run still wants answered, in the order they were given. A host that lost its memory carries these out
 * again, with the same ids and idempotency keys.
 */
export function outstanding(state: RunState): Outstanding {
  return { commands: commandsOf(state), more: state.run.owed !== undefined };
}
