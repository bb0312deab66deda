import { canonicalJson } from '../../graph/canonical.js';
import { references } from '../../graph/expression/references.js';
import type { JsonObject } from '../../graph/json.js';
import type { Compensation } from '../../graph/model.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import type { EffectRow } from './contract.js';
import type { Evaluated, Evaluation } from './evaluation.js';
import { failures } from './failures.js';
import { countReissue } from './generation.js';
import { type NodeInstance, type ScopeInstance, visibleKey } from './instances.js';
import type { Turn } from './turn.js';

/** An undo record and its key. */
export interface Effect extends EffectRow {
  readonly key: string;
}

/** How calls of a tool may be repeated. */
export function safetyOf({ recorder: { state } }: Turn, tool: string): ToolSafety {
  return Object.hasOwn(state.tools, tool) ? (state.tools[tool] ?? 'none') : 'none';
}

/** Key of the `index`-th undo record of a call in one generation. */
function effectKey(call: string, generation: number, index: number): string {
  return index === 0 ? `${call}@${generation}` : `${call}@${generation}+${index}`;
}

/** Which record of its call and generation this is, from 0. */
export function effectIndex(key: string): number {
  const plus = key.lastIndexOf('+');
  return plus > key.lastIndexOf('@') ? Number.parseInt(key.slice(plus + 1), 10) : 0;
}

/** A success of a call. */
export interface Success {
  readonly generation: number;
  /** Reads what its compensation refers to. */
  readonly reader: Evaluation;
  /** The call had been given up: what it did is to be named, unless another success tells of it. */
  readonly isLate?: boolean;
}

/**
 * Writes the undo record of a call that succeeded, where it has a compensation, or stands in a `parallel` that rolls
 * back and changes something. The compensation's input is evaluated here.
 */
export function recordEffect(turn: Turn, node: NodeInstance, success: Success): void {
  const model = node.planned.node;
  if (model.kind !== 'call') return;
  const { generation, reader, isLate } = success;
  const safety = safetyOf(turn, model.tool);
  const { compensate } = model;
  const isRepeatable = safety === 'idempotent' || safety === 'key';
  const { effects } = turn.recorder.tables;
  if (compensate === undefined) {
    if (safety === 'readOnly') return;
    if (!(isLate || isInRollback(node))) {
      // Here the success tells of the effect: its late record is the same one.
      if (isRepeatable && !isLate) effects.delete(effectKey(node.key, generation, 0));
      return;
    }
  }
  const record = compensate === undefined ? {} : compensationRecord(node, compensate, reader);
  const run = turn.recorder.draftRun();
  const order = (run.completions ?? 0) + 1;
  run.completions = order;
  const wanted = isLate ? { wanted: true as const, late: true as const } : {};
  const row: EffectRow = { call: node.key, generation, status: 'active', order, ...record, ...wanted };
  for (let index = 0; ; index += 1) {
    const key = effectKey(node.key, generation, index);
    const known = effects.get(key);
    if (known === undefined) {
      effects.put(key, row);
      coverLate(turn, node, key);
      return;
    }
    const isSame =
      compensate === undefined
        ? isRepeatable
        : canonicalJson(known.input ?? null) === canonicalJson(row.input ?? null);
    if (!isSame) continue;
    const isOver = known.status === 'undone' || known.status === 'undoing';
    if (isOver || isLate) effects.put(key, { ...known, order });
    else {
      effects.put(key, row);
      coverLate(turn, node, key);
    }
    return;
  }
}

function compensationRecord(
  { key, scope }: NodeInstance,
  compensation: Compensation,
  reader: Evaluation,
): Pick<EffectRow, 'tool'> & Partial<EffectRow> {
  const { tool } = compensation;
  const missing = stepsNamedBy(compensation, scope).filter(
    (named) => named === undefined || (named !== key && !reader.hasSucceeded(named)),
  );
  const input: Evaluated<JsonObject> =
    missing.length > 0
      ? { ok: false, failure: failures.compensationInput(missing) }
      : reader.object(compensation.input, 'input');
  return input.ok ? { tool, input: input.value } : { tool, status: 'failed', failure: input.failure };
}

/** Keys of the steps that a compensation plainly refers to; none for one it cannot see from there. */
export function stepsNamedBy({ input }: Compensation, scope: ScopeInstance): (string | undefined)[] {
  return references(input)
    .filter(({ ref, guarded }) => ref.root === 'steps' && !guarded)
    .map(({ ref }) => visibleKey(scope, String(ref.path[0])));
}

/** A record that is written while something that covers it undoes is undone as well, before the others. */
function coverLate(turn: Turn, node: NodeInstance, key: string): void {
  const { undoing, effects } = turn.recorder.tables;
  for (const owner of Object.keys(turn.recorder.state.undoing)) {
    const by = owner === '' ? undefined : turn.instances.find(owner);
    const isCovered =
      by === undefined
        ? effects.need(key).tool !== undefined
        : by.planned.node.kind === 'parallel' && isInside(node, by);
    if (!isCovered) continue;
    const row = undoing.need(owner);
    undoing.put(owner, { ...row, late: [key, ...(row.late ?? [])] });
    effects.put(key, { ...effects.need(key), wanted: true });
  }
}

/** Whether a `parallel` around the node undoes what its branches did when one of them fails. */
export function isInRollback({ scope }: NodeInstance): boolean {
  for (let each = scope.container; each !== undefined; each = each.scope.container) {
    if (isRollingBack(each)) return true;
  }
  return false;
}

function isRollingBack({ planned: { node } }: NodeInstance): boolean {
  return node.kind === 'parallel' && node.onPartialFailure === 'rollback';
}

function isInside(node: NodeInstance, container: NodeInstance): boolean {
  for (let each = node.scope.container; each !== undefined; each = each.scope.container) {
    if (each.key === container.key) return true;
  }
  return false;
}

/** Undo records that are not undone, the newest first: of the whole run, or of what is inside a container. */
export function openEffects(turn: Turn, inside?: NodeInstance): Effect[] {
  const open: Effect[] = [];
  for (const [key, row] of Object.entries(turn.recorder.state.effects)) {
    if (row.status === 'undone') continue;
    if (inside !== undefined && !isInside(turn.instances.find(row.call), inside)) continue;
    open.push({ key, ...row });
  }
  return open.sort((one, other) => other.order - one.order);
}

/** What is to be undone from now on is named where it is not. Gives the keys. */
export function want(turn: Turn, effects: readonly Effect[]): string[] {
  const { effects: table } = turn.recorder.tables;
  for (const { key, wanted } of effects) {
    if (!wanted) table.put(key, { ...table.need(key), wanted: true });
  }
  return effects.map(({ key }) => key);
}

/** An effect was undone: the next call is another one. */
export function markUndone(turn: Turn, key: string): void {
  const { effects } = turn.recorder.tables;
  const { command: _command, failure: _failure, ...row } = effects.need(key);
  effects.put(key, { ...row, status: 'undone' });
  if (turn.instances.find(row.call).planned.node.kind !== 'call') return;
  countReissue(turn, row.call);
  if (row.own === undefined) return;
  // What a step undoes by itself may be a call that nothing else says how to undo. A late success is not what it read.
  const [kept] = openEffects(turn).filter(({ call, tool, status, late }) => {
    return call === row.call && tool === undefined && status === 'active' && !late;
  });
  if (kept !== undefined) effects.put(kept.key, { ...effects.need(kept.key), status: 'undone' });
}

/** Key of the record of a `compensate` node's step. */
export function ownKey(node: string, generation: number, step: number): string {
  return `${node}@${generation}:${step}`;
}

/** Writes the record of a step of a `compensate` node that undoes no recorded call. */
export function recordOwn(
  turn: Turn,
  { node, step, generation }: { readonly node: string; readonly step: number; readonly generation: number },
  row: Omit<EffectRow, 'generation' | 'order' | 'own' | 'wanted'>,
): string {
  const run = turn.recorder.draftRun();
  const order = (run.completions ?? 0) + 1;
  run.completions = order;
  const key = ownKey(node, generation, step);
  turn.recorder.tables.effects.put(key, { ...row, generation, order, wanted: true, own: { node, step } });
  return key;
}

/**
 * A `parallel` that rolls back has undone what it could. What has no compensation cannot be undone any more.
 *
 * @returns whether an effect is left that another attempt could bring about a second time.
 */
export function closeRollback(turn: Turn, node: NodeInstance): boolean {
  const { effects } = turn.recorder.tables;
  let isUnsafe = false;
  for (const effect of openEffects(turn, node)) {
    if (effect.tool === undefined && effect.status === 'active') markNotUndoable(turn, effect.key);
    const { kind, ...model } = turn.instances.find(effect.call).planned.node;
    if (effects.need(effect.key).wanted !== true || kind !== 'call' || !('tool' in model)) continue;
    if (safetyOf(turn, model.tool) === 'none') isUnsafe = true;
  }
  return isUnsafe;
}

/** An effect has no compensation. */
export function markNotUndoable(turn: Turn, key: string): void {
  const { effects } = turn.recorder.tables;
  const row = effects.need(key);
  const { node } = turn.instances.find(row.call).planned;
  const tool = node.kind === 'call' ? node.tool : '';
  effects.put(key, { ...row, status: 'failed', failure: failures.notUndoable(tool) });
}

/** A `parallel` has settled without rolling back: what has no compensation is nothing to name. */
export function forgetKept(turn: Turn, node: NodeInstance): void {
  if (!isRollingBack(node) || isInRollback(node)) return;
  const { effects } = turn.recorder.tables;
  for (const { key, tool, wanted } of openEffects(turn, node)) {
    if (tool === undefined && !wanted) effects.delete(key);
  }
}
