import { references } from '../../graph/expression/references.js';
import type { RefRoot } from '../../graph/expression/tree.js';
import { type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import type { Compensation } from '../../graph/model.js';
import type { AbandonedRow, Command, Failure } from './contract.js';
import { recordEffect, safetyOf, stepsNamedBy } from './effects.js';
import { Evaluation } from './evaluation.js';
import { type NodeInstance, visibleKey } from './instances.js';
import { readerIn, type Turn } from './turn.js';

/** A command that calls a tool. */
export type ToolCall = Extract<Command, { kind: 'callTool' }>;

/** Key of the row of a call of which nothing is known. */
function unknownKey({ node, generation }: Pick<ToolCall, 'node' | 'generation'>): string {
  return `${node}@${generation}`;
}

/** Notes a call that may have taken effect although it failed. */
export function noteUnknown(turn: Turn, call: ToolCall, failure: Failure): void {
  if (failure.outcomeUnknown !== true || safetyOf(turn, call.tool) === 'readOnly') return;
  const { unknown } = turn.recorder.tables;
  const key = unknownKey(call);
  const attempts = unknown.get(key)?.attempts ?? [];
  unknown.put(key, { step: call.node, tool: call.tool, attempts: [...attempts, call.id] });
}

/**
 * A call succeeded. Its earlier attempts are the same call where the tool sees to it; else one of them may have taken
 * effect besides.
 */
export function resolveUnknown(turn: Turn, call: ToolCall): void {
  const { unknown } = turn.recorder.tables;
  if (unknown.isEmpty) return;
  const key = unknownKey(call);
  const row = unknown.get(key);
  if (row === undefined) return;
  const safety = safetyOf(turn, call.tool);
  if (safety !== 'idempotent' && safety !== 'key') return;
  unknown.delete(key);
  if (turn.instances.find(call.node).planned.node.compensate !== undefined) return;
  // Their late successes are this one, and nothing undoes it.
  for (const id of row.attempts) turn.recorder.tables.abandoned.delete(id);
}

/** Remembers a call that was given up, so that its success is recorded when it comes. */
export function abandon(turn: Turn, call: ToolCall): void {
  if (safetyOf(turn, call.tool) === 'readOnly') return;
  const node = turn.instances.find(call.node);
  const { id, generation } = call;
  const row = { node: node.key, generation };
  const { compensate } = node.planned.node;
  const { abandoned } = turn.recorder.tables;
  abandoned.put(id, compensate === undefined ? row : { ...row, ...knownTo(turn, node, compensate) });
}

/** What the compensation of a call refers to besides the call's own output. */
function knownTo(
  turn: Turn,
  { key, scope }: NodeInstance,
  compensation: Compensation,
): Pick<AbandonedRow, 'known' | 'succeeded'> {
  const known: Record<string, JsonObject> = {};
  const reader = readerIn(turn, scope);
  for (const { ref } of references(compensation.input)) {
    const [name] = ref.path;
    if (name === undefined) continue;
    if (ref.root === 'steps' && visibleKey(scope, String(name)) === key) continue;
    const value = reader.lookup(ref.root, name);
    if (value !== undefined) known[ref.root] = { ...known[ref.root], [String(name)]: value };
  }
  const succeeded = stepsNamedBy(compensation, scope).flatMap((step) =>
    step !== undefined && reader.hasSucceeded(step) ? [step] : [],
  );
  return { known, succeeded };
}

/** A call that was given up succeeded: its effect is recorded, and nothing else changes. */
export function lateSuccess(turn: Turn, command: string, value: Value): boolean {
  const { abandoned } = turn.recorder.tables;
  const row = abandoned.get(command);
  if (row === undefined) return false;
  abandoned.delete(command);
  forgetAttempt(turn, command, row);
  const node = turn.instances.find(row.node);
  const reader = new LateReader(turn, node, row, value);
  recordEffect(turn, node, { generation: row.generation, reader, isLate: true });
  return true;
}

/** A call that was given up had not been made. */
export function lateRefusal(turn: Turn, command: string): boolean {
  const { abandoned } = turn.recorder.tables;
  const row = abandoned.get(command);
  if (row === undefined) return false;
  abandoned.delete(command);
  forgetAttempt(turn, command, row);
  return true;
}

function forgetAttempt(
  { recorder }: Turn,
  command: string,
  call: Pick<ToolCall, 'node' | 'generation'>,
): void {
  const { unknown } = recorder.tables;
  const key = unknownKey(call);
  const row = unknown.get(key);
  if (row === undefined) return;
  const attempts = row.attempts.filter((id) => id !== command);
  if (attempts.length === 0) unknown.delete(key);
  else unknown.put(key, { ...row, attempts });
}

/** Reads what a compensation refers to as it was when its call was given up. */
class LateReader extends Evaluation {
  readonly #node: NodeInstance;
  readonly #row: AbandonedRow;
  readonly #value: Value;

  constructor({ recorder, budget }: Turn, node: NodeInstance, row: AbandonedRow, value: Value) {
    super(recorder.state, budget, node.scope);
    this.#node = node;
    this.#row = row;
    this.#value = value;
  }

  override lookup(root: RefRoot, name: string | number): Value {
    if (root === 'steps' && visibleKey(this.#node.scope, String(name)) === this.#node.key) return this.#value;
    const values = this.#row.known?.[root];
    return values === undefined ? undefined : ownProperty(values, String(name));
  }

  override hasSucceeded(key: string): boolean {
    return this.#row.succeeded?.includes(key) === true;
  }
}
