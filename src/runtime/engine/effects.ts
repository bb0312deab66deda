import { canonicalJson } from '../../graph/canonical.js';
import { references } from '../../graph/expression/traversal.js';
import type { RefRoot } from '../../graph/expression/tree.js';
import { type Json, type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import { visibleKey } from '../../plan/instances.js';
import type { PlannedCompensation, PlannedNode } from '../../plan/plan.js';
import { type Evaluated, Evaluation, readerIn } from './evaluation.js';
import type { Failure, ToolCall } from './events.js';
import { failures } from './failures.js';
import { countReissue, generationOf, mayBeUndone } from './identity.js';
import { type Effect, effectKey } from './indexed-tables.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import { isInRollback, rollbacksAround } from './records.js';
import type { AbandonedRow, EffectRow } from './rows.js';
import type { Transition } from './transition.js';

/**
 * Writes the undo record of a call that succeeded, if it has a compensation, or is a side effect in a `parallel` that rolls
 * back. Evaluates the input of the compensation.
 *
 * @param abandoned evaluates the compensation of an abandoned call. Its effect is reported as not undone, unless a later success
 *   of the same call replaces the record.
 */
export function recordEffect(
  transition: Transition,
  node: NodeRecord,
  generation: number,
  abandoned?: Evaluation,
): void {
  const model = node.planned.node;
  if (model.kind !== 'call') return;
  const { effects } = transition.state;
  const safety = transition.state.safetyOf(model.tool);
  const [compensation] = node.planned.compensations;
  const isLate = abandoned !== undefined;
  const isRepeatable = safety === 'idempotent' || safety === 'key';
  if (compensation === undefined) {
    if (safety === 'readOnly') return;
    if (!isLate && !isInRollback(node)) {
      // A late success of an earlier attempt was this same effect.
      if (isRepeatable && effects.size > 0) effects.delete(effectKey(node.key, generation, 0));
      return;
    }
  }
  const reader = abandoned ?? readerIn(transition, node.scope);
  const record = compensation === undefined ? {} : compensationRecord(node, compensation, reader);
  const order = transition.nextSeq();
  const toUndo = isLate ? { needsUndo: true as const, isLate: true as const } : {};
  const row: EffectRow = { call: node.key, generation, status: 'active', order, ...record, ...toUndo };
  for (let index = 0; ; index += 1) {
    const key = effectKey(node.key, generation, index);
    const previous = effects.get(key);
    if (previous === undefined) {
      effects.put(key, row);
      addToRollbacks(transition, node, key);
      return;
    }
    const isSame =
      compensation === undefined
        ? isRepeatable
        : canonicalJson(previous.input ?? null) === canonicalJson(row.input ?? null);
    if (!isSame) continue;
    // The call was sent before the effect was undone: the effect may not exist any more.
    const mayBeGone = previous.status === 'undone' || mayBeUndone(previous);
    effects.put(key, mayBeGone || isLate ? { ...previous, order } : row);
    moveToFront(transition, key);
    return;
  }
}

/**
 * Records the effect of a call of a task that was made outside. It is another call than those of the step, before and after
 * it; with an idempotent tool it is the same effect as that of earlier attempts.
 */
export function recordOutside(transition: Transition, node: NodeRecord, value: Json): void {
  const { state } = transition;
  const { node: model } = node.planned;
  if (model.kind !== 'call' || model.executor === 'client') return;
  const { key } = node;
  const { tool } = model;
  if (state.safetyOf(tool) === 'idempotent')
    resolveUnknown(transition, node, { node: key, generation: generationOf(state, node), tool });
  else countReissue(state, key);
  node.output = value;
  recordEffect(transition, node, generationOf(state, node));
  countReissue(state, key);
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

/** Adds a new record to the rollbacks around it that have begun. They undo it first. */
function addToRollbacks({ state }: Transition, node: NodeRecord, key: string): void {
  const { effects } = state;
  const undoing = state.tables.existing('undoing');
  if (undoing === undefined || undoing.size === 0) return;
  for (const owner of ['', ...rollbacksAround(node).map((each) => each.key)]) {
    const row = undoing.get(owner);
    if (row === undefined || (owner === '' && effects.need(key).tool === undefined)) continue;
    undoing.put(owner, { ...row, added: [key, ...(row.added ?? [])] });
    effects.put(key, { ...effects.need(key), needsUndo: true });
  }
}

/** Moves a renewed record, which is the newest one now, to the front of the rollbacks that have not reached it. */
function moveToFront({ state }: Transition, key: string): void {
  const { undoing, items, effects } = state;
  for (const [owner, row] of [...undoing.rows()]) {
    const covered = items.get(owner) ?? [];
    const { added = [], next } = row;
    const isListed = covered.indexOf(key, next) >= 0;
    if (!isListed && !added.includes(key)) continue;
    if (isListed)
      items.put(
        owner,
        covered.filter((each) => each !== key),
      );
    undoing.put(owner, { ...row, added: [key, ...added.filter((each) => each !== key)] });
    effects.put(key, { ...effects.need(key), needsUndo: true });
  }
}

/** Marks records to be undone: they are reported if they are not. Returns their keys. */
export function markForUndo({ state: { effects } }: Transition, recorded: readonly Effect[]): string[] {
  for (const { key, needsUndo } of recorded) {
    if (!needsUndo) effects.put(key, { ...effects.need(key), needsUndo: true });
  }
  return recorded.map(({ key }) => key);
}

/** Records that a compensation failed, or that its outcome is unknown. */
export function markNotUndone({ state }: Transition, key: string, failure: Failure): void {
  const { command: _command, ...row } = state.effects.need(key);
  const isUnknown = failure.outcomeUnknown === true;
  state.effects.put(key, { ...row, status: isUnknown ? 'unknown' : 'failed', failure });
  // A step's own record does not raise the generation of the call it undoes.
  if (isUnknown && row.compensateStep !== undefined) reissueCall(state, row.call);
}

/** Raises the generation of a call, so that its next attempt is a new call. False for a node of another kind. */
function reissueCall(state: Transition['state'], key: string): boolean {
  if (state.find(key).planned.node.kind !== 'call') return false;
  countReissue(state, key);
  return true;
}

/** Records that an effect was undone. */
export function markUndone(transition: Transition, key: string): void {
  const { state } = transition;
  const { effects } = state;
  const { command: _command, failure: _failure, ...row } = effects.need(key);
  effects.put(key, { ...row, status: 'undone', undoneOrder: transition.nextSeq() });
  if (!reissueCall(state, row.call) || row.compensateStep === undefined) return;
  // The step may have undone a call without a compensation. It cannot have read a late success.
  const newest = effects.uncompensatedOf(row.call);
  if (newest !== undefined) effects.put(newest.key, { ...effects.need(newest.key), status: 'undone' });
}

/** Key of the undo record that a step of a `compensate` node has of its own. */
export function stepEffectKey(node: string, generation: number, step: number): string {
  return `${node}@${generation}:${step}`;
}

/** Writes the record of a step of a `compensate` node that undoes no recorded call. */
export function recordStepEffect(
  transition: Transition,
  { node, step, generation }: { readonly node: string; readonly step: number; readonly generation: number },
  row: Omit<EffectRow, 'generation' | 'order' | 'compensateStep' | 'needsUndo'>,
): string {
  const key = stepEffectKey(node, generation, step);
  const order = transition.nextSeq();
  transition.state.effects.put(key, {
    ...row,
    generation,
    order,
    needsUndo: true,
    compensateStep: { node, step },
  });
  return key;
}

/**
 * Ends the rollback of a `parallel`. Effects without a compensation remain.
 *
 * @returns whether another attempt could repeat an effect that remains.
 */
export function closeRollback({ state }: Transition, node: NodeRecord): boolean {
  const { effects } = state;
  let isUnsafe = false;
  for (const effect of effects.open(node)) {
    if (effect.tool === undefined && effect.status === 'active') markNotUndoable(state, effect.key);
    const model = state.find(effect.call).planned.node;
    if (effects.need(effect.key).needsUndo !== true || model.kind !== 'call') continue;
    const safety = state.safetyOf(model.tool);
    // The next call has a new key: a tool that deduplicates by key repeats the effect.
    if (safety === 'none' || (safety === 'key' && mayBeUndone(effect))) isUnsafe = true;
  }
  return isUnsafe;
}

export function markNotUndoable(state: Transition['state'], key: string): void {
  const row = state.effects.need(key);
  const { node } = state.find(row.call).planned;
  const tool = node.kind === 'call' ? node.tool : '';
  state.effects.put(key, { ...row, status: 'failed', failure: failures.notUndoable(tool) });
}

/**
 * Deletes the records without a compensation of a container that could roll back and settled without that, unless it may
 * run again and roll back then.
 */
export function forgetUncompensated({ state }: Transition, node: NodeRecord): void {
  const { isRepeatable, mayStartOver } = node.planned;
  if (state.effects.size === 0 || isRepeatable || mayStartOver || isInRollback(node)) return;
  for (const { key, tool, needsUndo } of state.effects.open(node)) {
    if (tool === undefined && !needsUndo) state.effects.delete(key);
  }
}

/** Whether all steps that a compensation refers to unconditionally have succeeded. [E11] */
export function hasSomethingToUndo(reader: Evaluation, { refersTo }: PlannedCompensation): boolean {
  return refersTo.every((each) => hasSucceeded(reader, each));
}

/** Key of the node that a compensation undoes, if it refers to exactly one. */
export function undoneNodeKey({ refersTo }: PlannedCompensation, scope: ScopeRecord): string | undefined {
  const [named, ...others] = refersTo;
  return others.length > 0 ? undefined : keyIn(scope, named);
}

function unknownKey({ node, generation }: Pick<ToolCall, 'node' | 'generation'>): string {
  return `${node}@${generation}`;
}

/** Records a failed call whose outcome is unknown. */
export function recordUnknown(transition: Transition, call: ToolCall, failure: Failure): void {
  const { state } = transition;
  if (failure.outcomeUnknown !== true || state.safetyOf(call.tool) === 'readOnly') return;
  const key = unknownKey(call);
  const previous = state.unknown.get(key);
  const seq = previous?.seq ?? transition.nextSeq();
  const attempts = [...(previous?.attempts ?? []), call.id];
  state.unknown.put(key, { seq, step: call.node, tool: call.tool, attempts });
}

/**
 * Deletes the unknown outcome of earlier attempts of a call that succeeded, if the tool is idempotent or deduplicates by
 * key. With another tool an earlier attempt may have taken effect as well.
 */
export function resolveUnknown(
  { state }: Transition,
  node: NodeRecord,
  call: Pick<ToolCall, 'node' | 'generation' | 'tool'>,
): void {
  const unknown = state.tables.existing('unknown');
  if (unknown === undefined || unknown.size === 0) return;
  const key = unknownKey(call);
  const row = unknown.get(key);
  if (row === undefined) return;
  const safety = state.safetyOf(call.tool);
  if (safety !== 'idempotent' && safety !== 'key') return;
  unknown.delete(key);
  if (node.planned.node.compensate !== undefined) return;
  // Their late successes are this same effect, and need no undo record.
  for (const id of row.attempts) state.abandoned.delete(id);
}

/** Remembers an abandoned call, so that a late success is recorded. */
export function recordAbandoned(transition: Transition, call: ToolCall): void {
  const { state } = transition;
  if (state.safetyOf(call.tool) === 'readOnly') return;
  const node = state.find(call.node);
  const { id, generation } = call;
  const row = { node: node.key, generation };
  const [planned] = node.planned.compensations;
  const undoing = planned === undefined ? {} : readForCompensation(transition, node, planned);
  state.abandoned.put(id, { ...row, ...undoing });
}

/** The values that the compensation of a call refers to, except the output of the call. */
function readForCompensation(
  transition: Transition,
  { planned, scope }: NodeRecord,
  { compensation, refersTo }: PlannedCompensation,
): Pick<AbandonedRow, 'values' | 'succeeded'> {
  const values: Record<string, JsonObject> = {};
  const reader = readerIn(transition, scope);
  for (const { ref } of references(compensation.input)) {
    const [name] = ref.path;
    if (name === undefined) continue;
    if (ref.root === 'steps' && name === planned.node.id) continue;
    const value = reader.lookup(ref.root, name);
    if (value !== undefined) values[ref.root] = { ...values[ref.root], [String(name)]: value };
  }
  const succeeded = refersTo.flatMap((each) => (each === undefined ? [] : [each.node.id]));
  return { values, succeeded: succeeded.filter((id) => reader.hasSucceeded(id)) };
}

/** Records the effect of an abandoned call that succeeded. Nothing else changes. */
export function lateSuccess(transition: Transition, command: string, value: Value): boolean {
  const row = forgetAbandoned(transition, command);
  if (row === undefined) return false;
  const node = transition.state.find(row.node);
  const reader = new LateReader(transition, node, row, value);
  recordEffect(transition, node, row.generation, reader);
  return true;
}

/** Forgets an abandoned call that was refused before it was made. */
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

/** Evaluates a compensation with the values at the time when its call was abandoned. */
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
    const values = this.#row.values?.[root];
    return values === undefined ? undefined : ownProperty(values, String(name));
  }

  override hasSucceeded(id: string): boolean {
    return this.#row.succeeded?.includes(id) === true;
  }
}
