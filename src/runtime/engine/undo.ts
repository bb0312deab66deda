import { DEFAULT_TIMEOUT_MS } from '../../graph/defaults.js';
import type { JsonObject } from '../../graph/json.js';
import {
  hasSomethingToUndo,
  markNotUndoable,
  markNotUndone,
  markUndone,
  namedBy,
  ownKey,
  recordOwn,
  type ToolCall,
  want,
} from './effects.js';
import type { CompensationReport, Failure, OwedCommand } from './events.js';
import { failures } from './failures.js';
import { attemptId, callKeyText, countReissue, generationOf, undoId, undoKeyText } from './identity.js';
import { type Effect, effectIndex } from './indexed-tables.js';
import type { NodeRecord } from './records.js';
import type { EffectRow, GoOn, UndoRow, UndoTarget } from './rows.js';
import type { RunState } from './state.js';
import { changeSlots, enterQueue, hasFreeSlot, readerIn, type Transition } from './transition.js';

/** Who undoes: a `compensate` node, a `parallel` that rolls back, or, where it is none, the cancelled run. */
type Owner = NodeRecord | undefined;

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
      readonly isIgnored: boolean;
    };

/** Begins to undo what a `compensate` node lists. What it did in an earlier attempt of a container is another call. */
export function beginCompensating(transition: Transition, owner: NodeRecord, failure?: Failure): void {
  const { state } = transition;
  const { node } = owner.planned;
  const generation = generationOf(state, owner);
  const steps = node.kind === 'compensate' ? node.steps : [];
  const hasOwn = steps.some((_, step) => {
    return state.effects.get(ownKey(owner.key, generation, step)) !== undefined;
  });
  if (hasOwn) countReissue(state, owner.key);
  begin(transition, owner, failure);
}

/** Begins to undo the records inside a `parallel`, or all records of the cancelled run. */
export function beginRollback(
  transition: Transition,
  owner: Owner,
  effects: readonly Effect[],
  failure?: Failure,
): void {
  transition.spend(effects.length);
  transition.state.items.put(keyOf(owner), want(transition, effects));
  begin(transition, owner, failure);
}

function begin(transition: Transition, owner: Owner, failure: Failure | undefined): void {
  transition.report({
    kind: 'compensating',
    ...(owner === undefined ? {} : { node: owner.key }),
    ...(failure === undefined ? {} : { failure }),
  });
  const row = { seq: transition.nextSeq(), next: 0, issued: 0, ended: 0 };
  transition.state.undoing.put(keyOf(owner), row);
  goOnUndoing(transition, owner);
}

/** What a cancelled run undoes: every record that has a compensation, the newest first. */
export function undoableInRun({ state }: Transition): Effect[] {
  return state.effects.open().filter(({ tool }) => tool !== undefined);
}

/**
 * Looks at what is to be undone next: makes its compensation, as soon as there is a slot for it, or leaves it and goes on
 * behind it with the next activation.
 *
 * @param hasTurn it has waited in the queue for the slot there is now.
 */
export function goOnUndoing(transition: Transition, owner: Owner, hasTurn?: true): void {
  const { undoing } = transition.state;
  const row = undoing.need(keyOf(owner));
  if (row.current !== undefined) return;
  const needsSlot = owner !== undefined && !mayIssue(transition, hasTurn === true);
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
      undoing.put(keyOf(owner), beyond(row));
      if (next.skipped !== undefined) reportSkipped(transition, owner, next.skipped);
      transition.first.push(goOn(owner, hasTurn));
      return;
    case 'failed':
      undoing.put(keyOf(owner), noted(transition, owner, beyond(row), next));
      transition.first.push(goOn(owner, hasTurn));
      return;
    case 'join': {
      const current = currentOf(next.target, next.command, next.isIgnored);
      undoing.put(keyOf(owner), { ...beyond(row), current });
      transition.state.joined.add(next.command, keyOf(owner));
      return;
    }
    case 'issue':
      issue(transition, owner, row, next);
      return;
  }
}

function goOn(by: Owner, hasTurn?: true): GoOn<NodeRecord> {
  return hasTurn === undefined ? { kind: 'goOn', by } : { kind: 'goOn', by, hasTurn };
}

const END: Next = { kind: 'end' };

function mayIssue(transition: Transition, hasTurn: boolean): boolean {
  return hasFreeSlot(transition) && (hasTurn || transition.state.queue.isEmpty);
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

/** The row once a compensation has ended, which is written down. */
function noted(
  { state }: Transition,
  owner: Owner,
  row: UndoRow,
  {
    tool,
    failure,
    isIgnored,
  }: { readonly tool: string; readonly failure: Failure | undefined; readonly isIgnored: boolean },
): UndoRow {
  const key = undoneKey(owner, row.ended);
  state.undone.put(key, failure === undefined ? { tool } : { tool, failure });
  const halts = failure !== undefined && !isIgnored;
  return { ...row, ended: row.ended + 1, ...(halts ? { halted: true as const } : {}) };
}

function undoneKey(owner: Owner, place: number): string {
  return `${keyOf(owner)}#${place}`;
}

/** Forgets how the compensations of one that undoes have ended. */
export function forgetUndone({ state }: Transition, owner: Owner, { ended }: UndoRow): void {
  for (let place = 0; place < ended; place += 1) state.undone.delete(undoneKey(owner, place));
}

/** None where it must wait for a slot. */
function nextOf(transition: Transition, owner: Owner, row: UndoRow, needsSlot: boolean): Next | undefined {
  if (owner?.planned.node.kind === 'compensate') return nextStep(transition, owner, row, needsSlot);
  const key = row.late?.[0] ?? transition.state.items.need(keyOf(owner))[row.next];
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
  // A failure that was known before does not keep the others from being undone.
  if (effect.status === 'failed') return { kind: 'failed', tool, failure: reasonOf(effect), isIgnored: true };
  return nextFor({ key, ...effect }, target, isIgnored, needsSlot);
}

function isErrorIgnored({ state }: Transition, { call, own }: Pick<Effect, 'call' | 'own'>): boolean {
  if (own === undefined) return state.find(call).planned.node.compensate?.ignoreError === true;
  const { node } = state.find(own.node).planned;
  return node.kind === 'compensate' && node.steps[own.step]?.ignoreError === true;
}

/** What undoes a record that is active, unknown or being undone. */
function nextFor(effect: Effect, target: Covered, isIgnored: boolean, needsSlot: boolean): Next | undefined {
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
  const named = namedBy(step, owner.scope);
  const own = named === undefined ? { tool } : { tool, undoes: named };
  const reader = readerIn(transition, owner.scope);
  if (!hasSomethingToUndo(reader, step)) return { kind: 'pass', skipped: own };
  if (needsSlot) return undefined;
  const input = reader.object(expr, 'input');
  const place = { node: owner.key, step: row.next, generation: generationOf(transition.state, owner) };
  const call = named ?? owner.key;
  if (!input.ok) {
    recordOwn(transition, place, { call, tool, status: 'failed', failure: input.failure });
    return { kind: 'failed', tool, failure: input.failure, isIgnored };
  }
  const effect = effects.undoneBy(tool, input.value);
  if (effect === undefined) {
    const key = recordOwn(transition, place, { call, tool, input: input.value, status: 'active' });
    return nextFor({ key, ...effects.need(key) }, { ...own, effect: key }, isIgnored, false);
  }
  const target = { tool, effect: effect.key, undoes: effect.call };
  if (effect.status === 'undone') return { kind: 'pass', skipped: target };
  want(transition, [effect]);
  if (effect.status === 'failed') return { kind: 'failed', tool, failure: reasonOf(effect), isIgnored };
  return nextFor(effect, target, isIgnored, false);
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
  const id = undoId(baseOf(transition, owner), row.issued);
  const { failure: _failure, command: _command, ...record } = state.effects.need(effect);
  // The run's deadline does not cut it short: what was begun is undone.
  const dueAt = at + DEFAULT_TIMEOUT_MS;
  const issued = { id, node: node.key, seq: 0, dueAt, ...(undoes === undefined ? {} : { undoes }) };
  const call = compensationCall(state, { key: effect, ...record, input }, issued);
  const { seq } = transition.expectCompensation(node, call);
  const inFlight = { ...issued, seq };
  state.effects.put(effect, { ...record, status: 'undoing', command: inFlight });
  const current = currentOf(target, id, isIgnored);
  state.undoing.put(keyOf(owner), { ...beyond(row), issued: row.issued + 1, current });
  changeSlots(transition, 1);
  state.compensations += 1;
  const { tool, attempt } = call;
  transition.report({
    ...{ kind: 'callIssued', command: id, node: node.key, tool, input, attempt },
    ...(undoes === undefined ? {} : { undoes }),
    isCompensation: true,
  });
}

/** The call that undoes a record, without what is known when it is issued. */
export function compensationCall(
  { run }: RunState,
  { key: effect, call, generation, tool = '', input = {}, own }: Effect,
  issued: NonNullable<EffectRow['command']>,
): OwedCompensation {
  const key =
    own === undefined
      ? undoKeyText(callKeyText(run.id, call, generation), effectIndex(effect))
      : callKeyText(run.id, own.node, generation, own.step);
  const isCompensation = true;
  return { kind: 'callTool', tool, input, attempt: 1, generation, key, effect, isCompensation, ...issued };
}

type OwedCompensation = Extract<OwedCommand, { kind: 'callTool' }>;

/** A compensation came back, or was cancelled: `failure` says how it failed. All who waited for it go on. */
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
  const next: GoOn<NodeRecord>[] = [];
  for (const [owner, row] of waitingFor(state, call)) {
    const { current, ...rest } = row;
    if (current === undefined) continue;
    const by = owner === '' ? undefined : state.find(owner);
    const how = { tool: current.tool, failure, isIgnored: current.isIgnored === true };
    state.undoing.put(owner, noted(transition, by, rest, how));
    // Who gives one up is in the middle of something: others go on behind it.
    if (isCancelled && by !== undefined) transition.completions.push(goOn(by));
    else next.push(goOn(by));
  }
  transition.first.push(...next.reverse());
  endOfCancelled(transition);
}

/** Those that wait for a compensation, in the order in which they began to undo: who issued it, and who joined it. */
function waitingFor(state: RunState, { id, node }: ToolCall): (readonly [owner: string, row: UndoRow])[] {
  const waiting: (readonly [owner: string, row: UndoRow])[] = [];
  for (const owner of new Set([node, '', ...state.joined.take(id)])) {
    const row = state.undoing.get(owner);
    if (row?.current?.command === id) waiting.push([owner, row]);
  }
  return waiting.sort(([, one], [, other]) => one.seq - other.seq);
}

/** A run that was cancelled ends when nothing is being undone any more. */
function endOfCancelled(transition: Transition): void {
  const { state, completions } = transition;
  if (state.run.cancelling === undefined || state.compensations > 0) return;
  if (state.undoing.get('') !== undefined) transition.first.push(goOn(undefined));
  else if (state.root.open === 0 && completions.length === 0)
    completions.push({ kind: 'scope', scope: state.root });
}

function reportSkipped(transition: Transition, owner: Owner, { tool, undoes }: UndoTarget): void {
  transition.report({
    kind: 'compensationSkipped',
    ...(owner === undefined ? {} : { node: owner.key }),
    tool,
    ...(undoes === undefined ? {} : { undoes }),
    reason: 'nothing_to_undo',
  });
}

function finish(transition: Transition, owner: Owner, row: UndoRow): void {
  const { state } = transition;
  // What another owner began to undo goes on when the run is cancelled. It is run, even if this one has halted.
  if (owner === undefined && state.compensations > 0) {
    if (row.halted && row.notRun === undefined)
      state.undoing.put(keyOf(owner), { ...row, notRun: leftOf(transition, owner, row) });
    return;
  }
  if (owner?.planned.node.kind === 'compensate') recordLeft(transition, owner, row);
  transition.spend(row.ended);
  const report = reportOf(transition, owner, row);
  forgetUndone(transition, owner, row);
  state.undoing.delete(keyOf(owner));
  state.items.delete(keyOf(owner));
  transition.report({ kind: 'compensated', ...(owner === undefined ? {} : { node: owner.key }), report });
  transition.completions.push({ kind: 'undone', by: owner, report, hasHalted: row.halted === true });
}

/** What a `compensate` node that halted has not undone is named. */
function recordLeft(transition: Transition, owner: NodeRecord, row: UndoRow): void {
  const { compensations } = owner.planned;
  const reader = readerIn(transition, owner.scope);
  for (const [step, planned] of compensations.entries()) {
    if (step < row.next || !hasSomethingToUndo(reader, planned)) continue;
    const { compensation } = planned;
    const { tool } = compensation;
    const call = namedBy(planned, owner.scope) ?? owner.key;
    const place = { node: owner.key, step, generation: generationOf(transition.state, owner) };
    const input = reader.object(compensation.input, 'input');
    const effect = input.ok ? transition.state.effects.undoneBy(tool, input.value) : undefined;
    if (effect !== undefined) want(transition, [effect]);
    else if (input.ok) recordOwn(transition, place, { call, tool, input: input.value, status: 'active' });
    else recordOwn(transition, place, { call, tool, status: 'failed', failure: input.failure });
  }
}

function reportOf(transition: Transition, owner: Owner, row: UndoRow): CompensationReport {
  const done: string[] = [];
  const failed: { readonly tool: string; readonly failure: Failure }[] = [];
  for (let place = 0; place < row.ended; place += 1) {
    const { tool, failure } = transition.state.undone.need(undoneKey(owner, place));
    if (failure === undefined) done.push(tool);
    else failed.push({ tool, failure });
  }
  return { done, failed, not_run: row.notRun ?? leftOf(transition, owner, row) };
}

/** Tools of what is still to be undone. What was left out because there was nothing to undo is not among it. [E13] */
function leftOf(transition: Transition, owner: Owner, { next, late = [] }: UndoRow): readonly string[] {
  if (owner?.planned.node.kind === 'compensate') {
    const reader = readerIn(transition, owner.scope);
    const left = owner.planned.compensations.slice(next).filter((step) => hasSomethingToUndo(reader, step));
    return left.map(({ compensation }) => compensation.tool);
  }
  const { state } = transition;
  const left = [...late, ...state.items.need(keyOf(owner)).slice(next)];
  return left.flatMap((key) => {
    const { tool, status } = state.effects.get(String(key)) ?? {};
    return tool === undefined || (status !== 'active' && status !== 'unknown') ? [] : [tool];
  });
}

/** Key of the rows that keep account. */
function keyOf(owner: Owner): string {
  return owner?.key ?? '';
}

/** What the ids of the calls start with. No node's start so: a node's id is followed by `#`. */
function baseOf(transition: Transition, owner: Owner): string {
  if (owner === undefined) return 'run';
  return attemptId(transition.state, owner, owner.attempt);
}
