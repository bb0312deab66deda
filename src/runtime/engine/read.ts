import { defined } from '../../graph/defined.js';
import { Budget, EXPRESSION_BUDGET } from '../../graph/expression/evaluate.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject, Value } from '../../graph/json.js';
import type { ScopeInstance } from '../../plan/instances.js';
import type { Plan } from '../../plan/plan.js';
import type { Outstanding } from './contract.js';
import { readerOf } from './evaluation.js';
import type { Failure, OwedCommand, StepAction } from './events.js';
import { timerId } from './identity.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import type { EffectRow, FailedItemRow, TableName, Tables } from './rows.js';
import type { RunState } from './state.js';
import type { RowTable } from './tables.js';

/** Whether a timer belongs to a step that waits for a time: the others bound a container, or a delay. */
export function isWait({
  purpose,
  id,
}: Pick<Extract<OwedCommand, { kind: 'startTimer' }>, 'purpose' | 'id'>): boolean {
  return purpose !== 'backoff' && !id.endsWith(timerId(''));
}

/** The record of a node by its key; undefined if its scope has not begun or was deleted. */
export function nodeRecord(state: RunState, key: string): NodeRecord | undefined {
  const node = state.lookup(key);
  return node?.scope.isOpen ? node : undefined;
}

/** The output of a node; undefined if it has not succeeded, its value is absent, or its scope was deleted. */
export function outputOf(state: RunState, key: string): Value {
  return nodeRecord(state, key)?.output;
}

export function itemsOf(state: RunState, key: string): readonly Json[] | undefined {
  return state.items.get(key);
}

/** The input of the workflow that a `workflow` node runs, by its key. */
export function inputOf(state: RunState, key: string): JsonObject | undefined {
  return state.inputs.get(key);
}

export function commandOf(state: RunState, id: string): OwedCommand | undefined {
  return state.owed.get(id)?.command;
}

/** The problems of each value of a model that did not fit its action, by the id of the action. */
export function refusedValues(state: RunState, action: string): readonly (readonly string[])[] {
  const command = commandOf(state, action);
  const node = command === undefined ? undefined : nodeRecord(state, command.node);
  return node?.details.refused ?? [];
}

/**
 * The guidance of a node with the values of now. Undefined without guidance, and where it cannot be evaluated.
 *
 * @param at what `run.now` reads.
 */
export function guidanceOf(state: RunState, key: string, at: number): string | undefined {
  const node = nodeRecord(state, key);
  const guidance = node?.planned.node.guidance;
  if (node === undefined || guidance === undefined) return undefined;
  const text = readerOf({ state, budget: new Budget(EXPRESSION_BUDGET), at }, node).guidance(guidance);
  return text.ok && text.value !== '' ? text.value : undefined;
}

/** All outstanding commands, in the order in which they were issued. */
export function commandsOf(state: RunState): readonly OwedCommand[] {
  const commands: OwedCommand[] = [];
  for (const { command } of state.owed.values()) if (command !== undefined) commands.push(command);
  return commands;
}

/** A step of a task that waits to be made, or to be tried again. */
interface StoppedStep {
  /** The id of its action. */
  readonly id: string;
  /** Its key. */
  readonly node: string;
  readonly action: StepAction;
}

/** The steps of a task that wait to be made, the oldest first. */
export function stoppedSteps(state: RunState): readonly StoppedStep[] {
  return commandsOf(state).flatMap((command) => {
    if (command.kind !== 'requestAction') return [];
    const { id, node, action } = command;
    return action.type === 'step' ? [{ id, node, action }] : [];
  });
}

/** The values of the input of a call that has stopped. */
interface StoppedInput {
  readonly args: JsonObject;
  /** The parameters without a value, and why. */
  readonly lacking: readonly { readonly name: string; readonly expr: Expr; readonly failure: Failure }[];
}

/**
 * The input of a call that has stopped.
 * @param at what `run.now` reads where the input was not complete.
 */
export function stoppedInput(state: RunState, key: string, at: number): StoppedInput {
  const node = state.find(key);
  const { command } = node;
  const { node: model } = node.planned;
  const action = command?.kind === 'requestAction' ? command.action : undefined;
  const whole = action?.type === 'step' ? action.args : undefined;
  if (whole !== undefined || model.kind !== 'call') return { args: whole ?? {}, lacking: [] };
  const evaluation = readerOf({ state, budget: new Budget(EXPRESSION_BUDGET), at }, node);
  let args: JsonObject = {};
  const lacking: StoppedInput['lacking'][number][] = [];
  for (const entry of model.input.entries) {
    // One entry at a time: the first fault would hide the other parameters.
    const part = evaluation.object({ ...model.input, entries: [entry] }, 'input');
    if (part.ok) args = { ...args, ...part.value };
    else if ('key' in entry) lacking.push({ name: entry.key, expr: entry.value, failure: part.failure });
  }
  return { args, lacking };
}

/** A scope of a run, as its nodes see the run, even if it was deleted or has not begun. */
export function scopeOf(state: RunState, { container, part }: ScopeInstance): ScopeRecord {
  if (container === undefined) return state.root;
  const { planned, scope } = container;
  return state.part(scopeOf(state, scope).node(planned), part);
}

/**
 * The outstanding commands of a run, in the order in which they were issued. A restarted host executes them again, with the
 * same ids and idempotency keys.
 */
export function outstanding(state: RunState): Outstanding {
  return { commands: commandsOf(state), more: state.run.remainingWork !== undefined };
}

/** A side effect that remains: it was to be undone and was not, or the outcome is unknown. */
export interface NotUndone {
  /** Key of the node that made the call. */
  readonly step: string;
  /** The tool that undoes it. Missing without a compensation. */
  readonly tool?: string;
  /** The input of that tool. Missing if it could not be evaluated. */
  readonly input?: JsonObject;
  /** Why it was not undone. Missing if that was not tried. */
  readonly failure?: Failure;
  /** The outcome of the compensation is unknown: it may have been undone. */
  readonly outcomeUnknown?: true;
  /** The step of a `compensate` node that was to undo it. Missing for the compensation of the call itself. */
  readonly by?: NonNullable<EffectRow['compensateStep']>;
  /** The call was abandoned, and succeeded afterwards. */
  readonly isLate?: true;
  /** The same node has a later effect that is not to be undone. */
  readonly ranAgain?: true;
}

/** A call with unknown outcome: it may have taken effect although it returned no result. */
export interface UnknownCall {
  /** Key of the node that made it, or of the node that it was to undo. */
  readonly step: string;
  readonly tool: string;
}

/** What a run undid, and which side effects remain: the source for its envelope, its report and its trace. */
export interface Remains {
  /** Steps at the top with an undone effect, in declaration order. */
  readonly steps: readonly string[];
  /** In reverse order of completion; steps of one `compensate` node in its own order. */
  readonly notUndone: readonly NotUndone[];
  readonly unknown: readonly UnknownCall[];
  /** Failed items of loops that went on, by loop and index. */
  readonly failedItems: readonly FailedItemRow[];
}

/** Reads what a run undid, which side effects remain, and which outcomes are unknown. */
export function remainsOf(plan: Plan, state: RunState): Remains {
  const effects = rowsOf(state.effects);
  const undone = new Set(
    effects.filter(({ status }) => status === 'undone').map(({ call }) => topOf(state.find(call))),
  );
  const unknown = rowsOf(state.tables.existing('unknown'));
  const failedItems = rowsOf(state.failedItems);
  return {
    steps: undone.size === 0 ? [] : plan.graph.nodes.flatMap(({ id }) => (undone.has(id) ? [id] : [])),
    notUndone: notUndoneOf(effects),
    unknown: unknown.sort((one, other) => one.seq - other.seq).map(({ step, tool }) => ({ step, tool })),
    failedItems: failedItems.sort((one, other) =>
      one.step < other.step ? -1 : one.step > other.step ? 1 : one.index - other.index,
    ),
  };
}

/** A call whose effect was undone. */
export interface UndoneCall extends Pick<NotUndone, 'step' | 'by'> {
  readonly tool: string;
  readonly input: JsonObject;
}

/** The calls whose effects were undone, with what undid them, in the order in which that happened. */
export function undoneCallsOf(state: RunState): UndoneCall[] {
  return rowsOf(state.effects)
    .filter(({ status }) => status === 'undone')
    .sort((one, other) => (one.undoneOrder ?? 0) - (other.undoneOrder ?? 0) || other.order - one.order)
    .flatMap(({ call, tool, input, compensateStep }) => {
      if (tool === undefined || input === undefined) return [];
      return [{ step: call, tool, input, ...defined({ by: compensateStep }) }];
    });
}

function rowsOf<T extends TableName>(table: RowTable<T> | undefined): Tables[T][] {
  return table === undefined || table.size === 0 ? [] : Array.from(table.rows(), ([, row]) => row);
}

function notUndoneOf(effects: readonly EffectRow[]): NotUndone[] {
  /** Order of the latest effect of a node that is not to be undone. */
  const active = new Map<string, number>();
  /** Order of the latest recorded step of a `compensate` node. */
  const positions = new Map<string, number>();
  const groupOf = ({ compensateStep, generation }: EffectRow): string =>
    `${compensateStep?.node}@${generation}`;
  const raise = (map: Map<string, number>, key: string, order: number) =>
    map.set(key, Math.max(map.get(key) ?? 0, order));
  for (const effect of effects) {
    if (effect.compensateStep !== undefined) raise(positions, groupOf(effect), effect.order);
    else if (effect.needsUndo !== true && effect.status !== 'undone')
      raise(active, effect.call, effect.order);
  }
  const timeOf = (effect: EffectRow): number =>
    effect.compensateStep === undefined ? effect.order : (positions.get(groupOf(effect)) ?? effect.order);
  return effects
    .filter(({ needsUndo, status }) => needsUndo === true && status !== 'undone')
    .sort((one, other) => timeOf(other) - timeOf(one) || one.order - other.order)
    .map((effect) => notUndone(effect, (active.get(effect.call) ?? 0) > effect.order));
}

function notUndone(
  { call, tool, input, status, failure, compensateStep, isLate }: EffectRow,
  ranAgain: boolean,
): NotUndone {
  return {
    step: call,
    ...defined({ tool, input, failure }),
    ...(status === 'unknown' || status === 'undoing' ? { outcomeUnknown: true as const } : {}),
    ...defined({ by: compensateStep }),
    ...(isLate ? { isLate } : {}),
    ...(ranAgain ? { ranAgain: true as const } : {}),
  };
}

function topOf({ key, scope: { container } }: NodeRecord): string {
  return container === undefined ? key : topOf(container);
}
