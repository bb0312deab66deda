import { references } from '../../graph/expression/references.js';
import type { Value } from '../../graph/json.js';
import type { Compensation } from '../../graph/model.js';
import { attemptId, idempotencyKey, timerId, undoId } from './commands.js';
import type { Command, CompensationReport, Failure, UndoRow } from './contract.js';
import { type NodeInstance, type ScopeInstance, visibleKey } from './instances.js';
import { changePlaces, hasFreePlace, standInLine } from './ready-line.js';
import { readerIn, type Turn } from './turn.js';

/** How long a compensation may take, in ms. The run's deadline does not cut it short: what was begun is undone. */
const TIMEOUT_MS = 60_000;

/** Whoever undoes: a `compensate` node, a `parallel` that rolls back, or, where it is none, the cancelled run. */
type Owner = NodeInstance | undefined;

/** A command that makes a compensation. */
export type UndoCall = Extract<Command, { kind: 'callTool' }>;

/** One compensation, and from where its input is read. */
interface UndoStep {
  readonly compensation: Compensation;
  readonly scope: ScopeInstance;
  /** The key of the node whose effect it takes back, where it is one node's. */
  readonly undoes?: string;
}

/** Keys of the calls in some scopes that can be undone, the last to succeed first. [E12] */
export function undoableIn(turn: Turn, scopes: readonly ScopeInstance[]): string[] {
  const found: { readonly key: string; readonly completed: number }[] = [];
  const { tables } = turn.recorder;
  const collect = (scope: ScopeInstance): void => {
    if (!scope.plan.isUndoable || tables.scopes.get(scope.key) === undefined) return;
    for (const planned of scope.plan.nodes) {
      const node = turn.instances.node(scope, planned);
      const { completed, undone } = tables.nodes.need(node.key);
      if (completed !== undefined && !undone) found.push({ key: node.key, completed });
      const container = tables.containers.get(node.key);
      for (let part = container?.first ?? 0; part < (container?.next ?? 0); part += 1) {
        collect(turn.instances.part(node, part));
      }
    }
  };
  scopes.forEach(collect);
  return found.sort((one, other) => other.completed - one.completed).map(({ key }) => key);
}

/**
 * Begins to undo, one compensation after the other: those of the calls `keys` names, or the steps of a `compensate`
 * node, which names none.
 */
export function beginUndoing(turn: Turn, owner: Owner, keys?: readonly string[], failure?: Failure): void {
  const { recorder } = turn;
  recorder.report({
    kind: 'compensating',
    ...(owner === undefined ? {} : { node: owner.key }),
    ...(failure === undefined ? {} : { failure }),
  });
  if (keys !== undefined) recorder.tables.items.put(keyOf(owner), keys);
  recorder.tables.undoing.put(keyOf(owner), { next: 0, skipped: [], failed: [] });
  goOnUndoing(turn, owner);
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
    const step = row.halted ? undefined : stepAt(turn, owner, row.next);
    if (step === undefined) {
      finish(turn, owner, row);
      return;
    }
    if (!hasSomethingToUndo(turn, step)) {
      leaveOut(turn, owner, row, step);
      continue;
    }
    const isFree = hasFreePlace(turn) && (hasTurn || turn.recorder.run.readyHead === undefined);
    if (owner !== undefined && !isFree) {
      standInLine(turn, owner, 'running');
      return;
    }
    const input = readerIn(turn, step.scope).object(step.compensation.input, 'input');
    if (input.ok) {
      issue(turn, owner, row.next, step, input.value);
      return;
    }
    noteFailure(turn, owner, step, input.failure);
  }
}

function issue(turn: Turn, owner: Owner, index: number, step: UndoStep, input: UndoCall['input']): void {
  const { recorder, at } = turn;
  const node = owner ?? turn.instances.find(step.undoes ?? '');
  const id = undoId(baseOf(turn, owner), index);
  const { undoes, compensation } = step;
  const call = {
    ...{ node: node.key, tool: compensation.tool, input, attempt: 1 },
    ...(undoes === undefined ? {} : { undoes }),
    isCompensation: true as const,
  };
  const key = idempotencyKey(
    turn,
    node,
    'undo',
    owner?.planned.node.kind === 'compensate' ? index : (undoes ?? index),
  );
  changePlaces(turn, 1);
  recorder.expect({ kind: 'callTool', id, ...call, idempotencyKey: key });
  recorder.expect({ kind: 'startTimer', id: timerId(id), node: node.key, dueAt: at + TIMEOUT_MS });
  recorder.report({ kind: 'callIssued', command: id, ...call });
}

/** A compensation came back: `failure` says how it failed. */
export function undoAnswered(
  turn: Turn,
  call: UndoCall,
  value: Value,
  failure?: Failure,
  attempted = true,
): void {
  const { recorder } = turn;
  const owner = recorder.run.cancelling === undefined ? turn.instances.find(call.node) : undefined;
  changePlaces(turn, -1);
  const outcome =
    failure === undefined ? ({ ok: true, value: value ?? null } as const) : ({ ok: false, failure } as const);
  recorder.report({ kind: 'callReturned', node: call.node, command: call.id, attempted, outcome });
  const row = recorder.tables.undoing.need(keyOf(owner));
  const step = stepAt(turn, owner, row.next);
  if (step !== undefined && failure !== undefined) noteFailure(turn, owner, step, failure);
  else {
    if (step !== undefined) noteDone(turn, step);
    recorder.tables.undoing.put(keyOf(owner), { ...row, next: row.next + 1 });
  }
  goOnUndoing(turn, owner);
}

/** What is undone is not undone once more when the run is cancelled. */
function noteDone({ recorder: { tables }, instances }: Turn, { undoes, compensation }: UndoStep): void {
  if (undoes === undefined) return;
  const row = tables.nodes.get(undoes);
  if (row?.completed === undefined) return;
  const own = instances.find(undoes).planned.node.compensate;
  if (own?.tool === compensation.tool) tables.nodes.put(undoes, { ...row, undone: true });
}

function noteFailure({ recorder }: Turn, owner: Owner, { compensation }: UndoStep, failure: Failure): void {
  const { undoing } = recorder.tables;
  const row = undoing.need(keyOf(owner));
  const failed = [...row.failed, { index: row.next, failure }];
  const halted = compensation.ignoreError === true ? {} : { halted: true as const };
  undoing.put(keyOf(owner), { ...row, next: row.next + 1, failed, ...halted });
}

function leaveOut({ recorder }: Turn, owner: Owner, row: UndoRow, { compensation, undoes }: UndoStep): void {
  recorder.tables.undoing.put(keyOf(owner), {
    ...row,
    next: row.next + 1,
    skipped: [...row.skipped, row.next],
  });
  recorder.report({
    kind: 'compensationSkipped',
    ...(owner === undefined ? {} : { node: owner.key }),
    tool: compensation.tool,
    ...(undoes === undefined ? {} : { undoes }),
    reason: 'nothing_to_undo',
  });
}

/** Whether every step its input plainly refers to has succeeded. [E11] */
function hasSomethingToUndo(turn: Turn, step: UndoStep): boolean {
  return stepsNamedBy(step).every((key) => {
    return key !== undefined && turn.recorder.tables.nodes.get(key)?.status === 'succeeded';
  });
}

/** Keys of the steps that the input of a compensation plainly refers to; none for one it cannot see from there. */
export function stepsNamedBy({
  compensation,
  scope,
}: Pick<UndoStep, 'compensation' | 'scope'>): (string | undefined)[] {
  return references(compensation.input)
    .filter(({ ref, guarded }) => ref.root === 'steps' && !guarded)
    .map(({ ref }) => visibleKey(scope, String(ref.path[0])));
}

function finish(turn: Turn, owner: Owner, row: UndoRow): void {
  const { recorder } = turn;
  const report = reportOf(turn, owner, row);
  recorder.tables.undoing.delete(keyOf(owner));
  recorder.tables.items.delete(keyOf(owner));
  recorder.report({ kind: 'compensated', ...(owner === undefined ? {} : { node: owner.key }), report });
  turn.ended.push({ kind: 'undone', by: owner, report, hasHalted: row.halted === true });
}

/** How it went. What was left out because there was nothing to undo is in none of the lists. [E13] */
function reportOf(turn: Turn, owner: Owner, { next, skipped, failed }: UndoRow): CompensationReport {
  const left = new Set([...skipped, ...failed.map(({ index }) => index)]);
  const done: string[] = [];
  const not_run: string[] = [];
  for (let index = 0; ; index += 1) {
    const step = stepAt(turn, owner, index);
    if (step === undefined) break;
    const { tool } = step.compensation;
    if (index < next && !left.has(index)) done.push(tool);
    else if (index >= next && hasSomethingToUndo(turn, step)) not_run.push(tool);
  }
  const faults = failed.map(({ index, failure }) => {
    return { tool: stepAt(turn, owner, index)?.compensation.tool ?? '', failure };
  });
  return { done, failed: faults, not_run };
}

function stepAt(turn: Turn, owner: Owner, index: number): UndoStep | undefined {
  if (owner?.planned.node.kind === 'compensate') {
    const compensation = owner.planned.node.steps[index];
    if (compensation === undefined) return undefined;
    const step = { compensation, scope: owner.scope };
    const [undoes, ...others] = new Set(stepsNamedBy(step));
    return undoes === undefined || others.length > 0 ? step : { ...step, undoes };
  }
  const undoes = turn.recorder.tables.items.need(keyOf(owner))[index];
  if (typeof undoes !== 'string') return undefined;
  const { planned, scope } = turn.instances.find(undoes);
  const { compensate: compensation } = planned.node;
  if (compensation === undefined) throw new Error(`node '${undoes}' does not say how it is undone`);
  return { compensation, scope, undoes };
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
