import { canonicalJson } from '../../graph/canonical.js';
import { references } from '../../graph/expression/references.js';
import type { RefRoot } from '../../graph/expression/tree.js';
import { type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import { rollsBack } from '../../plan/compensations.js';
import { visibleKey } from '../../plan/instances.js';
import type { PlannedCompensation, PlannedNode } from '../../plan/plan.js';
import { type Evaluated, Evaluation } from './evaluation.js';
import type { Command, Failure } from './events.js';
import { failures } from './failures.js';
import { countReissue, isPerhapsUndone } from './identity.js';
import { type Effect, effectKey } from './indexed-tables.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import { isInRollback, rollbacksAround } from './records.js';
import type { AbandonedRow, EffectRow } from './rows.js';
import { readerIn, type Transition } from './transition.js';

/**
 * Writes the undo record of a call that succeeded, where it has a compensation, or is in a `parallel` that rolls
 * back and changes something. The compensation's input is evaluated here.
 *
 * @param late reads what the compensation of an abandoned call refers to: what the call did is to be named, unless another
 *   success says so.
 */
export function recordEffect(
  transition: Transition,
  node: NodeRecord,
  generation: number,
  late?: Evaluation,
): void {
  const model = node.planned.node;
  if (model.kind !== 'call') return;
  const { effects } = transition.state;
  const safety = transition.state.safetyOf(model.tool);
  const [compensation] = node.planned.compensations;
  const isLate = late !== undefined;
  const isRepeatable = safety === 'idempotent' || safety === 'key';
  if (compensation === undefined) {
    if (safety === 'readOnly') return;
    if (!isLate && !isInRollback(node)) {
      // Here the success says so: its late record is the same one.
      if (isRepeatable && effects.size > 0) effects.delete(effectKey(node.key, generation, 0));
      return;
    }
  }
  const reader = late ?? readerIn(transition, node.scope);
  const record = compensation === undefined ? {} : compensationRecord(node, compensation, reader);
  const order = transition.nextSeq();
  const wanted = isLate ? { wanted: true as const, late: true as const } : {};
  const row: EffectRow = { call: node.key, generation, status: 'active', order, ...record, ...wanted };
  for (let index = 0; ; index += 1) {
    const key = effectKey(node.key, generation, index);
    const known = effects.get(key);
    if (known === undefined) {
      effects.put(key, row);
      cover(transition, node, key);
      return;
    }
    const isSame =
      compensation === undefined
        ? isRepeatable
        : canonicalJson(known.input ?? null) === canonicalJson(row.input ?? null);
    if (!isSame) continue;
    // It may be gone: the call was sent before that was so.
    const mayBeGone = known.status === 'undone' || isPerhapsUndone(known);
    effects.put(key, mayBeGone || isLate ? { ...known, order } : row);
    coverAgain(transition, key);
    return;
  }
}

function compensationRecord(
  { scope, planned }: NodeRecord,
  { compensation, refersTo }: PlannedCompensation,
  reader: Evaluation,
): Pick<EffectRow, 'tool'> & Partial<EffectRow> {
  const { tool } = compensation;
  const missing = refersTo.filter((each) => each !== planned && !hasSucceeded(reader, each));
  const input: Evaluated<JsonObject> =
    missing.length > 0
      ? { ok: false, failure: failures.compensationInput(missing.map((each) => keyIn(scope, each))) }
      : reader.object(compensation.input, 'input');
  return input.ok ? { tool, input: input.value } : { tool, status: 'failed', failure: input.failure };
}

function hasSucceeded(reader: Evaluation, step: PlannedNode | undefined): boolean {
  return step !== undefined && reader.hasSucceeded(step.node.id);
}

function keyIn(scope: ScopeRecord, step: PlannedNode | undefined): string | undefined {
  return step && visibleKey(scope, step.node.id);
}

/** A record that is written while something that covers it undoes is undone as well, before the others. */
function cover({ state }: Transition, node: NodeRecord, key: string): void {
  const { effects } = state;
  const undoing = state.tables.known('undoing');
  if (undoing === undefined || undoing.size === 0) return;
  for (const owner of ['', ...rollbacksAround(node).map((each) => each.key)]) {
    const row = undoing.get(owner);
    if (row === undefined || (owner === '' && effects.need(key).tool === undefined)) continue;
    undoing.put(owner, { ...row, late: [key, ...(row.late ?? [])] });
    effects.put(key, { ...effects.need(key), wanted: true });
  }
}

/** A record that is renewed is the newest one now: what has not looked at it yet undoes it before the others. */
function coverAgain({ state }: Transition, key: string): void {
  const { undoing, items, effects } = state;
  for (const [owner, row] of [...undoing.rows()]) {
    const covered = items.get(owner) ?? [];
    const { late = [], next } = row;
    const isListed = covered.indexOf(key, next) >= 0;
    if (!isListed && !late.includes(key)) continue;
    if (isListed)
      items.put(
        owner,
        covered.filter((each) => each !== key),
      );
    undoing.put(owner, { ...row, late: [key, ...late.filter((each) => each !== key)] });
    effects.put(key, { ...effects.need(key), wanted: true });
  }
}

/** What is to be undone from now on is named where it is not. Gives the keys. */
export function want({ state: { effects } }: Transition, wanted: readonly Effect[]): string[] {
  for (const { key, wanted: isWanted } of wanted) {
    if (!isWanted) effects.put(key, { ...effects.need(key), wanted: true });
  }
  return wanted.map(({ key }) => key);
}

/** An effect could not be undone, or not for sure. */
export function markNotUndone({ state }: Transition, key: string, failure: Failure): void {
  const { command: _command, ...row } = state.effects.need(key);
  const isUnknown = failure.outcomeUnknown === true;
  state.effects.put(key, { ...row, status: isUnknown ? 'unknown' : 'failed', failure });
  // The record is not that of a call: the generation in which the call is sent does not follow from it.
  if (isUnknown && row.own !== undefined) nextIsOther(state, row.call);
}

/** The next call of a node is another one than those before. A node that is no call has none. */
function nextIsOther(state: Transition['state'], key: string): boolean {
  if (state.find(key).planned.node.kind !== 'call') return false;
  countReissue(state, key);
  return true;
}

/** An effect was undone: the next call is another one. */
export function markUndone({ state }: Transition, key: string): void {
  const { effects } = state;
  const { command: _command, failure: _failure, ...row } = effects.need(key);
  effects.put(key, { ...row, status: 'undone' });
  if (!nextIsOther(state, row.call) || row.own === undefined) return;
  // What a step undoes by itself may be a call that nothing else says how to undo. A late success is not what it read.
  const kept = effects.keptOf(row.call);
  if (kept !== undefined) effects.put(kept.key, { ...effects.need(kept.key), status: 'undone' });
}

/** Key of the record of a `compensate` node's step. */
export function ownKey(node: string, generation: number, step: number): string {
  return `${node}@${generation}:${step}`;
}

/** Writes the record of a step of a `compensate` node that undoes no recorded call. */
export function recordOwn(
  transition: Transition,
  { node, step, generation }: { readonly node: string; readonly step: number; readonly generation: number },
  row: Omit<EffectRow, 'generation' | 'order' | 'own' | 'wanted'>,
): string {
  const key = ownKey(node, generation, step);
  const order = transition.nextSeq();
  transition.state.effects.put(key, { ...row, generation, order, wanted: true, own: { node, step } });
  return key;
}

/**
 * A `parallel` that rolls back has undone what it could. What has no compensation cannot be undone any more.
 *
 * @returns whether an effect is left that another attempt could bring about a second time.
 */
export function closeRollback({ state }: Transition, node: NodeRecord): boolean {
  const { effects } = state;
  let isUnsafe = false;
  for (const effect of effects.open(node)) {
    if (effect.tool === undefined && effect.status === 'active') markNotUndoable(state, effect.key);
    const model = state.find(effect.call).planned.node;
    if (effects.need(effect.key).wanted !== true || model.kind !== 'call') continue;
    const safety = state.safetyOf(model.tool);
    // With another key, a tool that honours keys does it a second time.
    if (safety === 'none' || (safety === 'key' && isPerhapsUndone(effect))) isUnsafe = true;
  }
  return isUnsafe;
}

/** An effect has no compensation. */
export function markNotUndoable(state: Transition['state'], key: string): void {
  const row = state.effects.need(key);
  const { node } = state.find(row.call).planned;
  const tool = node.kind === 'call' ? node.tool : '';
  state.effects.put(key, { ...row, status: 'failed', failure: failures.notUndoable(tool) });
}

/**
 * A `parallel` has settled without rolling back: what has no compensation is nothing to name, unless the `parallel` may
 * run again, and roll back then.
 */
export function forgetKept({ state }: Transition, node: NodeRecord): void {
  const { isRepeatable, mayStartOver } = node.planned;
  if (!rollsBack(node.planned.node) || isRepeatable || mayStartOver || isInRollback(node)) return;
  for (const { key, tool, wanted } of state.effects.open(node)) {
    if (tool === undefined && !wanted) state.effects.delete(key);
  }
}

/** Whether every step that a compensation plainly refers to has succeeded. [E11] */
export function hasSomethingToUndo(reader: Evaluation, { refersTo }: PlannedCompensation): boolean {
  return refersTo.every((each) => hasSucceeded(reader, each));
}

/** Key of the one node that a compensation names, where it names one. */
export function namedBy({ refersTo }: PlannedCompensation, scope: ScopeRecord): string | undefined {
  const [named, ...others] = refersTo;
  return others.length > 0 ? undefined : keyIn(scope, named);
}

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
