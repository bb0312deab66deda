import { canonicalJson } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import type { Compensation } from '../../graph/model.js';
import { attemptId, callKeyText, undoId, undoKeyText } from './commands.js';
import type { CompensationReport, Failure, UndoRow, UndoTarget } from './contract.js';
import {
  type Effect,
  effectIndex,
  markNotUndoable,
  markUndone,
  openEffects,
  ownKey,
  recordOwn,
  stepsNamedBy,
  want,
} from './effects.js';
import { failures } from './failures.js';
import { countReissue, generationOf } from './generation.js';
import type { NodeInstance } from './instances.js';
import { changePlaces, hasFreePlace, standInLine } from './ready-line.js';
import { readerIn, type Turn } from './turn.js';
import type { ToolCall } from './unknown.js';

/** How long a compensation may take, in ms. The run's deadline does not cut it short: what was begun is undone. */
const TIMEOUT_MS = 60_000;

/** Who undoes: a `compensate` node, a `parallel` that rolls back, or, where it is none, the cancelled run. */
type Owner = NodeInstance | undefined;

/** A record that is to be undone. */
type Covered = UndoTarget & { readonly effect: string };

/** What an owner does next. */
type Next =
  | { readonly kind: 'end' }
  /** Nothing is to be done for it. `reason` where an observer is told. */
  | { readonly kind: 'pass'; readonly skipped?: UndoTarget }
  | { readonly kind: 'failed'; readonly tool: string; readonly failure: Failure; readonly isIgnored: boolean }
  | {
      readonly kind: 'join';
      readonly target: Covered;
      readonly command: string;
      readonly isIgnored: boolean;
    }
  | {
      readonly kind: 'issue';
      readonly target: Covered;
      readonly input: JsonObject;
      readonly keyText: string;
      readonly isIgnored: boolean;
    };

/** Begins to undo what a `compensate` node lists. What it did in an earlier attempt of a container is another call. */
export function beginCompensating(turn: Turn, owner: NodeInstance, failure?: Failure): void {
  const { node } = owner.planned;
  const generation = generationOf(turn, owner);
  const steps = node.kind === 'compensate' ? node.steps : [];
  const { effects } = turn.recorder.tables;
  const hasOwn = steps.some((_, step) => effects.get(ownKey(owner.key, generation, step)) !== undefined);
  if (hasOwn) countReissue(turn, owner.key);
  begin(turn, owner, failure);
}

/** Begins to undo the records inside a `parallel`, or all records of the cancelled run. */
export function beginRollback(turn: Turn, owner: Owner, effects: readonly Effect[], failure?: Failure): void {
  turn.recorder.tables.items.put(keyOf(owner), want(turn, effects));
  begin(turn, owner, failure);
}

function begin(turn: Turn, owner: Owner, failure: Failure | undefined): void {
  const { recorder } = turn;
  recorder.report({
    kind: 'compensating',
    ...(owner === undefined ? {} : { node: owner.key }),
    ...(failure === undefined ? {} : { failure }),
  });
  recorder.tables.undoing.put(keyOf(owner), { next: 0, issued: 0, done: [], failed: [] });
  goOnUndoing(turn, owner);
}

/** What a cancelled run undoes: every record that has a compensation, the newest first. */
export function undoableInRun(turn: Turn): Effect[] {
  return openEffects(turn).filter(({ tool }) => tool !== undefined);
}

/**
 * Makes the next compensation that has something to undo, as soon as there is a place for it.
 *
 * @param hasTurn it has stood in line for the place there is now.
 */
export function goOnUndoing(turn: Turn, owner: Owner, hasTurn = false): void {
  const { undoing } = turn.recorder.tables;
  for (;;) {
    const row = undoing.need(keyOf(owner));
    if (row.current !== undefined) return;
    const needsPlace = owner !== undefined && !mayIssue(turn, hasTurn);
    const next = row.halted ? END : nextOf(turn, owner, row, needsPlace);
    if (next === undefined) {
      if (owner !== undefined) standInLine(turn, owner, 'running');
      return;
    }
    switch (next.kind) {
      case 'end':
        finish(turn, owner, row);
        return;
      case 'pass':
        undoing.put(keyOf(owner), beyond(row));
        if (next.skipped !== undefined) reportSkipped(turn, owner, next.skipped);
        break;
      case 'failed':
        undoing.put(keyOf(owner), {
          ...beyond(row),
          ...failedWith(row, next.tool, next.failure, next.isIgnored),
        });
        break;
      case 'join':
        undoing.put(keyOf(owner), {
          ...beyond(row),
          current: currentOf(next.target, next.command, next.isIgnored),
        });
        return;
      case 'issue':
        issue(turn, owner, row, next);
        return;
    }
  }
}

const END: Next = { kind: 'end' };

function mayIssue(turn: Turn, hasTurn: boolean): boolean {
  return hasFreePlace(turn) && (hasTurn || turn.recorder.run.readyHead === undefined);
}

function currentOf(target: UndoTarget, command: string, isIgnored: boolean): NonNullable<UndoRow['current']> {
  return { ...target, command, ...(isIgnored ? { isIgnored: true as const } : {}) };
}

/** The row once the record or step it looked at was picked. */
function beyond({ late, ...row }: UndoRow): UndoRow {
  if (late === undefined) return { ...row, next: row.next + 1 };
  const [, ...rest] = late;
  return rest.length === 0 ? row : { ...row, late: rest };
}

function failedWith(row: UndoRow, tool: string, failure: Failure, isIgnored: boolean) {
  return { failed: [...row.failed, { tool, failure }], ...(isIgnored ? {} : { halted: true as const }) };
}

/** None where it must wait for a place. */
function nextOf(turn: Turn, owner: Owner, row: UndoRow, needsPlace: boolean): Next | undefined {
  if (owner?.planned.node.kind === 'compensate') return nextStep(turn, owner, row, needsPlace);
  const key = row.late?.[0] ?? turn.recorder.tables.items.need(keyOf(owner))[row.next];
  return typeof key === 'string' ? nextEffect(turn, key, needsPlace) : END;
}

function nextEffect(turn: Turn, key: string, needsPlace: boolean): Next | undefined {
  const effect = turn.recorder.tables.effects.get(key);
  if (effect === undefined || effect.status === 'undone') return { kind: 'pass' };
  const { tool, call } = effect;
  if (tool === undefined) {
    if (effect.status === 'active') markNotUndoable(turn, key);
    return { kind: 'pass' };
  }
  const isIgnored = isErrorIgnored(turn, effect);
  const target = { tool, effect: key, undoes: call };
  // A failure that was known before does not keep the others from being undone.
  if (effect.status === 'failed') return { kind: 'failed', tool, failure: reasonOf(effect), isIgnored: true };
  return nextFor(turn, { key, ...effect }, target, isIgnored, needsPlace);
}

function isErrorIgnored({ instances }: Turn, { call, own }: Pick<Effect, 'call' | 'own'>): boolean {
  if (own === undefined) return instances.find(call).planned.node.compensate?.ignoreError === true;
  const { node } = instances.find(own.node).planned;
  return node.kind === 'compensate' && node.steps[own.step]?.ignoreError === true;
}

/** What undoes a record that is active, unknown or being undone. */
function nextFor(
  turn: Turn,
  effect: Effect,
  target: Covered,
  isIgnored: boolean,
  needsPlace: boolean,
): Next | undefined {
  const { command, input, status } = effect;
  if (status === 'undoing' && command !== undefined) return { kind: 'join', target, command, isIgnored };
  if (needsPlace) return undefined;
  return { kind: 'issue', target, input: input ?? {}, keyText: keyTextOf(turn, effect), isIgnored };
}

function keyTextOf(turn: Turn, { key, call, generation, own }: Effect): string {
  if (own !== undefined) return callKeyText(turn, own.node, generation, own.step);
  return undoKeyText(callKeyText(turn, call, generation), effectIndex(key));
}

function nextStep(turn: Turn, owner: NodeInstance, row: UndoRow, needsPlace: boolean): Next | undefined {
  const { effects } = turn.recorder.tables;
  const { node } = owner.planned;
  const step = node.kind === 'compensate' ? node.steps[row.next] : undefined;
  if (step === undefined) return END;
  const { tool, ignoreError: isIgnored = false } = step;
  const named = namedBy(step, owner);
  const own = named === undefined ? { tool } : { tool, undoes: named };
  if (!hasSomethingToUndo(turn, owner, step)) return { kind: 'pass', skipped: own };
  if (needsPlace) return undefined;
  const input = readerIn(turn, owner.scope).object(step.input, 'input');
  const place = { node: owner.key, step: row.next, generation: generationOf(turn, owner) };
  const call = named ?? owner.key;
  if (!input.ok) {
    recordOwn(turn, place, { call, tool, status: 'failed', failure: input.failure });
    return { kind: 'failed', tool, failure: input.failure, isIgnored };
  }
  const effect = matching(turn, tool, input.value);
  if (effect === undefined) {
    const key = recordOwn(turn, place, { call, tool, input: input.value, status: 'active' });
    return nextFor(turn, { key, ...effects.need(key) }, { ...own, effect: key }, isIgnored, false);
  }
  const target = { tool, effect: effect.key, undoes: effect.call };
  if (effect.status === 'undone') return { kind: 'pass', skipped: target };
  if (effect.status === 'failed') return { kind: 'failed', tool, failure: reasonOf(effect), isIgnored };
  return nextFor(turn, effect, target, isIgnored, false);
}

/** The record that a call of this tool with this input undoes: the newest one that is active, else the best of the rest. */
function matching({ recorder: { state } }: Turn, tool: string, input: JsonObject): Effect | undefined {
  const text = canonicalJson(input);
  const found: Effect[] = [];
  for (const [key, row] of Object.entries(state.effects)) {
    if (row.own !== undefined || row.tool !== tool || row.input === undefined) continue;
    if (canonicalJson(row.input) === text) found.push({ key, ...row });
  }
  found.sort((one, other) => other.order - one.order);
  for (const status of ['active', 'undoing', 'unknown', 'undone', 'failed'] as const) {
    const first = found.find((effect) => effect.status === status);
    if (first !== undefined) return first;
  }
  return undefined;
}

function reasonOf({ failure, call }: Pick<Effect, 'failure' | 'call'>): Failure {
  return failure ?? failures.notUndoable(call);
}

function issue(turn: Turn, owner: Owner, row: UndoRow, next: Extract<Next, { kind: 'issue' }>): void {
  const { recorder, at } = turn;
  const { target, input, keyText, isIgnored } = next;
  const { tool, effect, undoes } = target;
  const node = owner ?? turn.instances.find(undoes ?? '');
  const id = undoId(baseOf(turn, owner), row.issued);
  const call = {
    ...{ node: node.key, tool, input, attempt: 1 },
    ...(undoes === undefined ? {} : { undoes }),
    isCompensation: true as const,
  };
  const { tables } = recorder;
  const { failure: _failure, ...record } = tables.effects.need(effect);
  tables.effects.put(effect, { ...record, status: 'undoing', command: id });
  const current = currentOf(target, id, isIgnored);
  tables.undoing.put(keyOf(owner), { ...beyond(row), issued: row.issued + 1, current });
  changePlaces(turn, 1);
  countInFlight(turn, 1);
  const { generation } = record;
  recorder.expect({
    ...{ kind: 'callTool', id, ...call, effect, generation, key: keyText, dueAt: at + TIMEOUT_MS },
  });
  recorder.report({ kind: 'callIssued', command: id, ...call });
}

/** A compensation came back, or was given up: `failure` says how it failed. All who waited for it go on. */
export function compensationReturned(turn: Turn, call: ToolCall, failure?: Failure): void {
  const { recorder } = turn;
  changePlaces(turn, -1);
  countInFlight(turn, -1);
  if (call.effect !== undefined) settleEffect(turn, call.effect, failure);
  for (const owner of Object.keys(recorder.state.undoing)) {
    const row = recorder.tables.undoing.need(owner);
    const { current, ...rest } = row;
    if (current?.command !== call.id) continue;
    const told =
      failure === undefined
        ? { done: [...row.done, current.tool] }
        : failedWith(row, current.tool, failure, current.isIgnored === true);
    recorder.tables.undoing.put(owner, { ...rest, ...told });
    goOnUndoing(turn, owner === '' ? undefined : turn.instances.find(owner));
  }
  endOfCancelled(turn);
}

function settleEffect(turn: Turn, key: string, failure: Failure | undefined): void {
  if (failure === undefined) {
    markUndone(turn, key);
    return;
  }
  const { effects } = turn.recorder.tables;
  const { command: _command, ...row } = effects.need(key);
  effects.put(key, { ...row, status: failure.outcomeUnknown === true ? 'unknown' : 'failed', failure });
}

/** A run that was cancelled ends when nothing is being undone any more. */
function endOfCancelled(turn: Turn): void {
  const { recorder, instances } = turn;
  const { cancelling, compensations = 0 } = recorder.run;
  if (cancelling === undefined || compensations > 0) return;
  if (recorder.tables.undoing.get('') !== undefined) goOnUndoing(turn, undefined);
  else if (recorder.tables.scopes.need(instances.root.key).open === 0 && turn.ended.length === 0) {
    turn.ended.push({ kind: 'scope', scope: instances.root });
  }
}

function countInFlight({ recorder }: Turn, by: 1 | -1): void {
  const run = recorder.draftRun();
  run.compensations = (run.compensations ?? 0) + by;
}

function reportSkipped({ recorder }: Turn, owner: Owner, { tool, undoes }: UndoTarget): void {
  recorder.report({
    kind: 'compensationSkipped',
    ...(owner === undefined ? {} : { node: owner.key }),
    tool,
    ...(undoes === undefined ? {} : { undoes }),
    reason: 'nothing_to_undo',
  });
}

/** Whether every step that the input plainly refers to has succeeded. [E11] */
function hasSomethingToUndo(turn: Turn, { scope }: NodeInstance, step: Compensation): boolean {
  return stepsNamedBy(step, scope).every((key) => {
    return key !== undefined && turn.recorder.tables.nodes.get(key)?.status === 'succeeded';
  });
}

/** The one node that a step names, where it names one. */
function namedBy(step: Compensation, { scope }: NodeInstance): string | undefined {
  const [named, ...others] = new Set(stepsNamedBy(step, scope));
  return others.length > 0 ? undefined : named;
}

function finish(turn: Turn, owner: Owner, row: UndoRow): void {
  const { recorder } = turn;
  // What another owner began to undo goes on when the run is cancelled.
  if (owner === undefined && (recorder.run.compensations ?? 0) > 0) return;
  if (owner?.planned.node.kind === 'compensate') recordLeft(turn, owner, row);
  const report = reportOf(turn, owner, row);
  recorder.tables.undoing.delete(keyOf(owner));
  recorder.tables.items.delete(keyOf(owner));
  recorder.report({ kind: 'compensated', ...(owner === undefined ? {} : { node: owner.key }), report });
  turn.ended.push({ kind: 'undone', by: owner, report, hasHalted: row.halted === true });
}

/** What a `compensate` node that halted has not undone is named. */
function recordLeft(turn: Turn, owner: NodeInstance, row: UndoRow): void {
  const { node } = owner.planned;
  if (node.kind !== 'compensate') return;
  for (let step = row.next; step < node.steps.length; step += 1) {
    const compensation = node.steps[step];
    if (compensation === undefined || !hasSomethingToUndo(turn, owner, compensation)) continue;
    const { tool } = compensation;
    const call = namedBy(compensation, owner) ?? owner.key;
    const place = { node: owner.key, step, generation: generationOf(turn, owner) };
    const input = readerIn(turn, owner.scope).object(compensation.input, 'input');
    const effect = input.ok ? matching(turn, tool, input.value) : undefined;
    if (effect !== undefined) want(turn, [effect]);
    else if (input.ok) recordOwn(turn, place, { call, tool, input: input.value, status: 'active' });
    else recordOwn(turn, place, { call, tool, status: 'failed', failure: input.failure });
  }
}

/** What was left out because there was nothing to undo is in none of the lists. [E13] */
function reportOf(turn: Turn, owner: Owner, { done, failed, next, late = [] }: UndoRow): CompensationReport {
  if (owner?.planned.node.kind === 'compensate') {
    const steps = owner.planned.node.steps
      .slice(next)
      .filter((step) => hasSomethingToUndo(turn, owner, step));
    return { done, failed, not_run: steps.map(({ tool }) => tool) };
  }
  const left = [...late, ...turn.recorder.tables.items.need(keyOf(owner)).slice(next)];
  const not_run = left.flatMap((key) => {
    const { tool, status } = turn.recorder.tables.effects.get(String(key)) ?? {};
    return tool === undefined || (status !== 'active' && status !== 'unknown') ? [] : [tool];
  });
  return { done, failed, not_run };
}

/** Key of the rows that keep account. */
function keyOf(owner: Owner): string {
  return owner?.key ?? '';
}

/** What the ids of the calls start with. No node's start so: a node's id is followed by `#`. */
function baseOf(turn: Turn, owner: Owner): string {
  if (owner === undefined) return 'run';
  return attemptId(turn, owner, turn.recorder.tables.nodes.need(owner.key).attempt);
}
