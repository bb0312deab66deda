import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import { DEFAULT_TIMEOUT_MS } from '../../graph/limits.js';
import type { PlannedCompensation } from '../../plan/plan.js';
import {
  hasSomethingToUndo,
  markForUndo,
  markNotUndoable,
  markNotUndone,
  markUndone,
  recordStepEffect,
  stepEffectKey,
  undoneNodeKey,
} from './effects.js';
import { readerIn } from './evaluation.js';
import type { CompensationReport, Failure, OwedCommand, ToolCall } from './events.js';
import { failures } from './failures.js';
import {
  attemptId,
  callKeyText,
  countReissue,
  generationOf,
  inheritedKey,
  undoId,
  undoKeyText,
} from './identity.js';
import { type Effect, effectIndex } from './indexed-tables.js';
import { type NodeRecord, type ScopeRecord, visibleNode } from './records.js';
import type { ContinueUndo, EffectRow, UndoRow, UndoTarget } from './rows.js';
import type { RunState } from './state.js';
import { changeSlots, enterQueue, hasFreeSlot, type Transition } from './transition.js';

/** Who undoes: a `compensate` node, a `parallel` that rolls back, or the cancelled run (undefined). */
type Owner = NodeRecord | undefined;

type Covered = UndoTarget & { readonly effect: string };

/** The next action of an owner. */
type Next =
  | { readonly kind: 'end' }
  /** Nothing to undo. `skipped` is reported. */
  | { readonly kind: 'pass'; readonly skipped?: UndoTarget }
  | { readonly kind: 'failed'; readonly tool: string; readonly failure: Failure; readonly isIgnored: boolean }
  | { readonly kind: 'join'; readonly target: Covered; readonly command: string; readonly isIgnored: boolean }
  | {
      readonly kind: 'issue';
      readonly target: Covered;
      readonly input: JsonObject;
      readonly isIgnored: boolean;
    };

interface Ended {
  readonly tool: string;
  readonly failure: Failure | undefined;
  readonly isIgnored: boolean;
}

/** Begins the steps of a `compensate` node. Those of an earlier attempt of a container were other calls. */
export function beginCompensating(transition: Transition, owner: NodeRecord, failure?: Failure): void {
  const { state } = transition;
  const { node } = owner.planned;
  const generation = generationOf(state, owner);
  const steps = node.kind === 'compensate' ? node.steps : [];
  const hasRecord = (step: number) =>
    state.effects.get(stepEffectKey(owner.key, generation, step)) !== undefined;
  if (steps.some((_, step) => hasRecord(step))) countReissue(state, owner.key);
  begin(transition, owner, failure);
}

/** Begins the rollback of a `parallel`, or of the cancelled run. */
export function beginRollback(
  transition: Transition,
  owner: Owner,
  effects: readonly Effect[],
  failure?: Failure,
): void {
  transition.spend(effects.length);
  transition.state.items.put(keyOf(owner), markForUndo(transition, effects));
  begin(transition, owner, failure);
}

function begin(transition: Transition, owner: Owner, failure: Failure | undefined): void {
  transition.report({
    kind: 'compensating',
    ...defined({ node: owner?.key, failure }),
  });
  const row = { seq: transition.nextSeq(), next: 0, issued: 0, settled: 0 };
  transition.state.undoing.put(keyOf(owner), row);
  continueUndo(transition, owner);
}

/**
 * Issues the next compensation, or queues its owner for a slot. If there is nothing to issue for a record, the next
 * activation continues with the record after it.
 *
 * @param hasSlot the owner was the first in the queue, and a slot is free.
 */
export function continueUndo(transition: Transition, owner: Owner, hasSlot?: true): void {
  const { undoing } = transition.state;
  const row = undoing.need(keyOf(owner));
  if (row.current !== undefined) return;
  const isNext = hasSlot === true || transition.state.queue.isEmpty;
  const needsSlot = owner !== undefined && !(isNext && hasFreeSlot(transition));
  const next = row.halted ? END : nextOf(transition, owner, row, needsSlot);
  if (next === undefined) {
    if (owner !== undefined) enterQueue(transition, owner, 'running');
    return;
  }
  switch (next.kind) {
    case 'end':
      finish(transition, owner, row);
      return;
    case 'pass':
      undoing.put(keyOf(owner), pastCurrent(row));
      if (next.skipped !== undefined) reportSkipped(transition, owner, next.skipped);
      transition.continuations.push(continuationOf(owner, hasSlot));
      return;
    case 'failed':
      undoing.put(keyOf(owner), withOutcome(transition, owner, pastCurrent(row), next));
      transition.continuations.push(continuationOf(owner, hasSlot));
      return;
    case 'join': {
      const current = currentOf(next.target, next.command, next.isIgnored);
      undoing.put(keyOf(owner), { ...pastCurrent(row), current });
      transition.state.joined.add(next.command, keyOf(owner));
      return;
    }
    case 'issue':
      issue(transition, owner, row, next);
      return;
  }
}

function continuationOf(by: Owner, hasSlot?: true): ContinueUndo<NodeRecord> {
  return { kind: 'continueUndo', by, ...defined({ hasSlot }) };
}

const END: Next = { kind: 'end' };

function currentOf(target: UndoTarget, command: string, isIgnored: boolean): NonNullable<UndoRow['current']> {
  return { ...target, command, ...(isIgnored ? { isIgnored: true as const } : {}) };
}

/** The row after its current record or step. */
function pastCurrent({ added, ...row }: UndoRow): UndoRow {
  if (added === undefined) return { ...row, next: row.next + 1 };
  const [, ...rest] = added;
  return rest.length === 0 ? row : { ...row, added: rest };
}

/** Writes the outcome of a compensation, and returns the row after it. */
function withOutcome(
  { state }: Transition,
  owner: Owner,
  row: UndoRow,
  { tool, failure, isIgnored }: Ended,
): UndoRow {
  const key = undoneKey(owner, row.settled);
  state.undone.put(key, failure === undefined ? { tool } : { tool, failure });
  const halts = failure !== undefined && !isIgnored;
  return { ...row, settled: row.settled + 1, ...(halts ? { halted: true as const } : {}) };
}

function undoneKey(owner: Owner, place: number): string {
  return `${keyOf(owner)}#${place}`;
}

/** Deletes the outcomes of an owner's compensations. */
export function forgetUndone({ state }: Transition, owner: Owner, { settled }: UndoRow): void {
  for (let place = 0; place < settled; place += 1) state.undone.delete(undoneKey(owner, place));
}

/** Undefined if a slot is needed first. */
function nextOf(transition: Transition, owner: Owner, row: UndoRow, needsSlot: boolean): Next | undefined {
  if (owner?.planned.node.kind === 'compensate') return nextStep(transition, owner, row, needsSlot);
  const key = row.added?.[0] ?? transition.state.items.need(keyOf(owner))[row.next];
  return typeof key === 'string' ? nextEffect(transition, key, needsSlot) : END;
}

function nextEffect(transition: Transition, key: string, needsSlot: boolean): Next | undefined {
  const effect = transition.state.effects.get(key);
  if (effect === undefined || effect.status === 'undone') return { kind: 'pass' };
  const { tool, call } = effect;
  if (tool === undefined) {
    if (effect.status === 'active') markNotUndoable(transition.state, key);
    return { kind: 'pass' };
  }
  const isIgnored = isErrorIgnored(transition, effect);
  const target = { tool, effect: key, undoes: call };
  // A record that failed before does not halt this rollback.
  if (effect.status === 'failed') return { kind: 'failed', tool, failure: reasonOf(effect), isIgnored: true };
  return nextForEffect({ key, ...effect }, target, isIgnored, needsSlot);
}

function isErrorIgnored(
  { state }: Transition,
  { call, compensateStep }: Pick<Effect, 'call' | 'compensateStep'>,
): boolean {
  if (compensateStep === undefined) return state.find(call).planned.node.compensate?.ignoreError === true;
  const { node } = state.find(compensateStep.node).planned;
  return node.kind === 'compensate' && node.steps[compensateStep.step]?.ignoreError === true;
}

/** Joins a compensation in flight, or issues one for a record that is active or unknown. */
function nextForEffect(
  effect: Effect,
  target: Covered,
  isIgnored: boolean,
  needsSlot: boolean,
): Next | undefined {
  const { command, input, status } = effect;
  if (status === 'undoing' && command !== undefined)
    return { kind: 'join', target, command: command.id, isIgnored };
  if (needsSlot) return undefined;
  return { kind: 'issue', target, input: input ?? {}, isIgnored };
}

function nextStep(
  transition: Transition,
  owner: NodeRecord,
  row: UndoRow,
  needsSlot: boolean,
): Next | undefined {
  const { effects } = transition.state;
  const step = owner.planned.compensations[row.next];
  if (step === undefined) return END;
  const { tool, input: expr, ignoreError: isIgnored = false } = step.compensation;
  const named = undoneNodeKey(step, owner.scope);
  const own = named === undefined ? { tool } : { tool, undoes: named };
  const reader = readerIn(transition, owner.scope);
  if (!hasSomethingToUndo(reader, step)) return { kind: 'pass', skipped: own };
  if (needsSlot) return undefined;
  const input = reader.object(expr, 'input');
  const place = { node: owner.key, step: row.next, generation: generationOf(transition.state, owner) };
  const call = named ?? owner.key;
  if (!input.ok) {
    recordStepEffect(transition, place, { call, tool, status: 'failed', failure: input.failure });
    return { kind: 'failed', tool, failure: input.failure, isIgnored };
  }
  const effect = effects.undoneBy(tool, input.value);
  if (effect === undefined) {
    if (undoesInherited(transition.state, step, owner.scope)) {
      const failure = failures.inherited();
      recordStepEffect(transition, place, { call, tool, input: input.value, status: 'failed', failure });
      return { kind: 'failed', tool, failure, isIgnored };
    }
    const key = recordStepEffect(transition, place, { call, tool, input: input.value, status: 'active' });
    return nextForEffect({ key, ...effects.need(key) }, { ...own, effect: key }, isIgnored, false);
  }
  const target = { tool, effect: effect.key, undoes: effect.call };
  if (effect.status === 'undone') return { kind: 'pass', skipped: target };
  markForUndo(transition, [effect]);
  if (effect.status === 'failed') return { kind: 'failed', tool, failure: reasonOf(effect), isIgnored };
  return nextForEffect(effect, target, isIgnored, false);
}

/** Whether a step of a `compensate` node refers to a call that the run made from which this one was forked. */
function undoesInherited(state: RunState, { refersTo }: PlannedCompensation, scope: ScopeRecord): boolean {
  if (state.inherited.length === 0) return false;
  return refersTo.some((each) => {
    const node = each && visibleNode(scope, each.node.id);
    return node !== undefined && state.inherited.includes(inheritedKey(state, node));
  });
}

function reasonOf({ failure, call }: Pick<Effect, 'failure' | 'call'>): Failure {
  return failure ?? failures.notUndoable(call);
}

function issue(
  transition: Transition,
  owner: Owner,
  row: UndoRow,
  { target, input, isIgnored }: Extract<Next, { kind: 'issue' }>,
): void {
  const { state, at } = transition;
  const { effect, undoes } = target;
  const node = owner ?? state.find(undoes ?? '');
  const id = undoId(idBaseOf(transition, owner), row.issued);
  const { failure: _failure, command: _command, ...record } = state.effects.need(effect);
  // The run's deadline does not limit a compensation.
  const issued = {
    id,
    node: node.key,
    seq: 0,
    dueAt: at + DEFAULT_TIMEOUT_MS,
    ...defined({ undoes }),
  };
  const call = compensationCall(state, { key: effect, ...record, input }, issued);
  const { seq } = transition.issueCompensation(node, call);
  state.effects.put(effect, { ...record, status: 'undoing', command: { ...issued, seq } });
  const current = currentOf(target, id, isIgnored);
  state.undoing.put(keyOf(owner), { ...pastCurrent(row), issued: row.issued + 1, current });
  changeSlots(transition, 1);
  state.compensations += 1;
  const { tool, attempt } = call;
  transition.report({
    ...{ kind: 'callIssued', command: id, node: node.key, tool, input, attempt },
    ...defined({ undoes }),
    isCompensation: true,
  });
}

/** The call that undoes a record. `issued` is the part of it that the record keeps. */
export function compensationCall(
  { run }: RunState,
  { key: effect, call, generation, tool = '', input = {}, compensateStep }: Effect,
  issued: NonNullable<EffectRow['command']>,
): Extract<OwedCommand, ToolCall> {
  const key =
    compensateStep === undefined
      ? undoKeyText(callKeyText(run.id, call, generation), effectIndex(effect))
      : callKeyText(run.id, compensateStep.node, generation, compensateStep.step);
  const isCompensation = true;
  return { kind: 'callTool', tool, input, attempt: 1, generation, key, effect, isCompensation, ...issued };
}

/** Records the end of a compensation. Without a `failure` it succeeded. All owners that wait for it continue. */
export function compensationReturned(
  transition: Transition,
  call: ToolCall,
  failure?: Failure,
  isCancelled = false,
): void {
  const { state } = transition;
  changeSlots(transition, -1);
  state.compensations -= 1;
  if (call.effect !== undefined) {
    if (failure === undefined) markUndone(transition, call.effect);
    else markNotUndone(transition, call.effect, failure);
  }
  const next: ContinueUndo<NodeRecord>[] = [];
  for (const [owner, row] of waitingFor(state, call)) {
    const { current, ...rest } = row;
    if (current === undefined) continue;
    const by = owner === '' ? undefined : state.find(owner);
    const how = { tool: current.tool, failure, isIgnored: current.isIgnored === true };
    state.undoing.put(owner, withOutcome(transition, by, rest, how));
    // A cancelled compensation is part of other work: its owners continue after that.
    if (isCancelled && by !== undefined) transition.completions.push(continuationOf(by));
    else next.push(continuationOf(by));
  }
  transition.continuations.push(...next.reverse());
  continueCancelledRun(transition);
}

/** The owners that wait for a compensation, in the order in which they began to undo. */
function waitingFor(state: RunState, { id, node }: ToolCall): (readonly [owner: string, row: UndoRow])[] {
  const waiting: (readonly [owner: string, row: UndoRow])[] = [];
  for (const owner of new Set([node, '', ...state.joined.take(id)])) {
    const row = state.undoing.get(owner);
    if (row?.current?.command === id) waiting.push([owner, row]);
  }
  return waiting.sort(([, one], [, other]) => one.seq - other.seq);
}

/** Continues or ends a cancelled run after its last compensation in flight. */
function continueCancelledRun(transition: Transition): void {
  const { state, completions } = transition;
  if (state.run.cancelling === undefined || state.compensations > 0) return;
  if (state.undoing.get('') !== undefined) transition.continuations.push(continuationOf(undefined));
  else if (state.root.open === 0 && completions.length === 0)
    completions.push({ kind: 'scope', scope: state.root });
}

function reportSkipped(transition: Transition, owner: Owner, { tool, undoes }: UndoTarget): void {
  transition.report({
    kind: 'compensationSkipped',
    ...defined({ node: owner?.key }),
    tool,
    ...defined({ undoes }),
    reason: 'nothing_to_undo',
  });
}

function finish(transition: Transition, owner: Owner, row: UndoRow): void {
  const { state } = transition;
  // A cancelled run waits for the compensations of other owners, even if its own rollback has halted.
  if (owner === undefined && state.compensations > 0) {
    if (row.halted && row.notRun === undefined)
      state.undoing.put(keyOf(owner), { ...row, notRun: remainingTools(transition, owner, row) });
    return;
  }
  if (owner?.planned.node.kind === 'compensate') recordRemainingSteps(transition, owner, row);
  transition.spend(row.settled);
  const report = reportOf(transition, owner, row);
  forgetUndone(transition, owner, row);
  state.undoing.delete(keyOf(owner));
  state.items.delete(keyOf(owner));
  transition.report({ kind: 'compensated', ...defined({ node: owner?.key }), report });
  transition.completions.push({ kind: 'undone', by: owner, report, hasHalted: row.halted === true });
}

/** Records the steps that a halted `compensate` node did not reach. They are reported as not undone. */
function recordRemainingSteps(transition: Transition, owner: NodeRecord, row: UndoRow): void {
  const { compensations } = owner.planned;
  const reader = readerIn(transition, owner.scope);
  for (const [step, planned] of compensations.entries()) {
    if (step < row.next || !hasSomethingToUndo(reader, planned)) continue;
    const { compensation } = planned;
    const { tool } = compensation;
    const call = undoneNodeKey(planned, owner.scope) ?? owner.key;
    const place = { node: owner.key, step, generation: generationOf(transition.state, owner) };
    const input = reader.object(compensation.input, 'input');
    const effect = input.ok ? transition.state.effects.undoneBy(tool, input.value) : undefined;
    if (effect !== undefined) markForUndo(transition, [effect]);
    else if (input.ok)
      recordStepEffect(transition, place, { call, tool, input: input.value, status: 'active' });
    else recordStepEffect(transition, place, { call, tool, status: 'failed', failure: input.failure });
  }
}

function reportOf(transition: Transition, owner: Owner, row: UndoRow): CompensationReport {
  const tools: string[] = [];
  const failed: { readonly tool: string; readonly failure: Failure }[] = [];
  for (let place = 0; place < row.settled; place += 1) {
    const { tool, failure } = transition.state.undone.need(undoneKey(owner, place));
    if (failure === undefined) tools.push(tool);
    else failed.push({ tool, failure });
  }
  return { done: tools, failed, not_run: row.notRun ?? remainingTools(transition, owner, row) };
}

/** Tools of the compensations not made yet. Steps with nothing to undo are left out. [E13] */
function remainingTools(
  transition: Transition,
  owner: Owner,
  { next, added = [] }: UndoRow,
): readonly string[] {
  if (owner?.planned.node.kind === 'compensate') {
    const reader = readerIn(transition, owner.scope);
    const rest = owner.planned.compensations.slice(next).filter((step) => hasSomethingToUndo(reader, step));
    return rest.map(({ compensation }) => compensation.tool);
  }
  const { state } = transition;
  const remaining = [...added, ...state.items.need(keyOf(owner)).slice(next)];
  return remaining.flatMap((key) => {
    const { tool, status } = state.effects.get(String(key)) ?? {};
    return tool === undefined || (status !== 'active' && status !== 'unknown') ? [] : [tool];
  });
}

function keyOf(owner: Owner): string {
  return owner?.key ?? '';
}

/** Prefix of the ids of an owner's calls. `run` is not that of a node `run`, whose ids have a `#`. */
function idBaseOf(transition: Transition, owner: Owner): string {
  if (owner === undefined) return 'run';
  return attemptId(transition.state, owner, owner.attempt);
}
