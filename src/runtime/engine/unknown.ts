import { references } from '../../graph/expression/references.js';
import type { RefRoot } from '../../graph/expression/tree.js';
import { type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import type { PlannedCompensation } from '../../plan/plan.js';
import type { Command, Failure } from './contract.js';
import { recordEffect } from './effects.js';
import { Evaluation } from './evaluation.js';
import type { NodeRecord } from './records.js';
import type { AbandonedRow } from './rows.js';
import { readerIn, type Transition } from './transition.js';

/** A command that calls a tool. */
export type ToolCall = Extract<Command, { kind: 'callTool' }>;

/** Key of the row of a call of which nothing is known. */
function unknownKey({ node, generation }: Pick<ToolCall, 'node' | 'generation'>): string {
  return `${node}@${generation}`;
}

/** Notes a call that may have taken effect although it failed. */
export function noteUnknown(transition: Transition, call: ToolCall, failure: Failure): void {
  const { state } = transition;
  if (failure.outcomeUnknown !== true || state.safetyOf(call.tool) === 'readOnly') return;
  const key = unknownKey(call);
  const known = state.unknown.get(key);
  const seq = known?.seq ?? transition.nextSeq();
  const attempts = [...(known?.attempts ?? []), call.id];
  state.unknown.put(key, { seq, step: call.node, tool: call.tool, attempts });
}

/**
 * A call succeeded. Its earlier attempts are the same call where the tool sees to it; else one of them may have taken
 * effect besides.
 */
export function resolveUnknown({ state }: Transition, node: NodeRecord, call: ToolCall): void {
  const unknown = state.tables.known('unknown');
  if (unknown === undefined || unknown.size === 0) return;
  const key = unknownKey(call);
  const row = unknown.get(key);
  if (row === undefined) return;
  const safety = state.safetyOf(call.tool);
  if (safety !== 'idempotent' && safety !== 'key') return;
  unknown.delete(key);
  if (node.planned.node.compensate !== undefined) return;
  // Their late successes are this one, and nothing undoes it.
  for (const id of row.attempts) state.abandoned.delete(id);
}

/** Remembers a call that was abandoned, so that its success is recorded when it comes. */
export function abandon(transition: Transition, call: ToolCall): void {
  const { state } = transition;
  if (state.safetyOf(call.tool) === 'readOnly') return;
  const node = state.find(call.node);
  const { id, generation } = call;
  const row = { node: node.key, generation };
  const [planned] = node.planned.compensations;
  const known = planned === undefined ? {} : knownTo(transition, node, planned);
  state.abandoned.put(id, { ...row, ...known });
}

/** What the compensation of a call refers to besides the call's own output. */
function knownTo(
  transition: Transition,
  { planned, scope }: NodeRecord,
  { compensation, refersTo }: PlannedCompensation,
): Pick<AbandonedRow, 'known' | 'succeeded'> {
  const known: Record<string, JsonObject> = {};
  const reader = readerIn(transition, scope);
  for (const { ref } of references(compensation.input)) {
    const [name] = ref.path;
    if (name === undefined) continue;
    if (ref.root === 'steps' && name === planned.node.id) continue;
    const value = reader.lookup(ref.root, name);
    if (value !== undefined) known[ref.root] = { ...known[ref.root], [String(name)]: value };
  }
  const succeeded = refersTo.flatMap((each) => (each === undefined ? [] : [each.node.id]));
  return { known, succeeded: succeeded.filter((id) => reader.hasSucceeded(id)) };
}

/** A call that was abandoned succeeded: its effect is recorded, and nothing else changes. */
export function lateSuccess(transition: Transition, command: string, value: Value): boolean {
  const row = forgetAbandoned(transition, command);
  if (row === undefined) return false;
  const node = transition.state.find(row.node);
  const reader = new LateReader(transition, node, row, value);
  recordEffect(transition, node, row.generation, reader);
  return true;
}

/** A call that was abandoned had not been made. */
export function lateRefusal(transition: Transition, command: string): boolean {
  return forgetAbandoned(transition, command) !== undefined;
}

function forgetAbandoned({ state }: Transition, command: string): AbandonedRow | undefined {
  const { abandoned, unknown } = state;
  const call = abandoned.get(command);
  if (call === undefined) return undefined;
  abandoned.delete(command);
  const key = unknownKey(call);
  const row = unknown.get(key);
  const attempts = row?.attempts.filter((id) => id !== command) ?? [];
  if (row === undefined) return call;
  if (attempts.length === 0) unknown.delete(key);
  else unknown.put(key, { ...row, attempts });
  return call;
}

/** Reads what a compensation refers to as it was when its call was abandoned. */
class LateReader extends Evaluation {
  readonly #id: string;
  readonly #row: AbandonedRow;
  readonly #value: Value;

  constructor({ state, budget }: Transition, node: NodeRecord, row: AbandonedRow, value: Value) {
    super(state, budget, node.scope);
    this.#id = node.planned.node.id;
    this.#row = row;
    this.#value = value;
  }

  override lookup(root: RefRoot, name: string | number): Value {
    if (root === 'steps' && name === this.#id) return this.#value;
    const values = this.#row.known?.[root];
    return values === undefined ? undefined : ownProperty(values, String(name));
  }

  override hasSucceeded(id: string): boolean {
    return this.#row.succeeded?.includes(id) === true;
  }
}
