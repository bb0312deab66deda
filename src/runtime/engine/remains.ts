import type { JsonObject } from '../../graph/json.js';
import type { Plan } from '../../plan/plan.js';
import type { Failure } from './contract.js';
import type { NodeRecord } from './records.js';
import type { EffectRow, FailedItemRow, TableName, Tables } from './rows.js';
import type { RunState } from './state.js';
import type { RowTable } from './tables.js';

/** An effect that was to be undone and was not, or not for sure. */
export interface NotUndone {
  /** Key of the node that made the call. */
  readonly step: string;
  /** The tool that undoes it. Missing where nothing says how. */
  readonly tool?: string;
  /** What that tool is called with. Missing where it could not be evaluated. */
  readonly input?: JsonObject;
  /** Why it was not undone. Missing where that was not tried. */
  readonly failure?: Failure;
  /** The compensation was called and gave no result: it may have been undone. */
  readonly outcomeUnknown?: true;
  /** The step of a `compensate` node that was to undo it. Missing where the compensation is the call's own. */
  readonly by?: NonNullable<EffectRow['own']>;
  /** The call was given up, and succeeded afterwards. */
  readonly late?: true;
  /** The same node has a later effect that is not to be undone. */
  readonly ranAgain?: true;
}

/** A call that may have taken effect although no result came back. */
export interface UnknownCall {
  /** Key of the node that made it, or of the one it was to undo. */
  readonly step: string;
  readonly tool: string;
}

/** What a run did and left: the one answer for its envelope, its report and its trace. */
export interface Remains {
  /** Steps at the top of which something was undone, in declaration order. */
  readonly steps: readonly string[];
  /** The last to succeed first; steps of one `compensate` node in its own order. */
  readonly notUndone: readonly NotUndone[];
  readonly unknown: readonly UnknownCall[];
  /** Items that failed in loops that went on without them, by loop and index. */
  readonly failedItems: readonly FailedItemRow[];
}

/** Reads from the state of a run what was undone, what was not although it was to be, and what is not known. */
export function remainsOf(plan: Plan, state: RunState): Remains {
  const effects = rowsOf(state.effects);
  const undone = new Set(
    effects.filter(({ status }) => status === 'undone').map(({ call }) => topOf(state.find(call))),
  );
  const unknown = rowsOf(state.tables.known('unknown'));
  const failedItems = rowsOf(state.failedItems);
  return {
    steps: plan.graph.nodes.flatMap(({ id }) => (undone.has(id) ? [id] : [])),
    notUndone: notUndoneOf(effects),
    unknown: unknown.sort((one, other) => one.seq - other.seq).map(({ step, tool }) => ({ step, tool })),
    failedItems: failedItems.sort((one, other) =>
      one.step < other.step ? -1 : one.step > other.step ? 1 : one.index - other.index,
    ),
  };
}

function rowsOf<T extends TableName>(table: RowTable<T> | undefined): Tables[T][] {
  return table === undefined || table.size === 0 ? [] : Array.from(table.rows(), ([, row]) => row);
}

function notUndoneOf(effects: readonly EffectRow[]): NotUndone[] {
  /** When the latest effect of a node came about that is not to be undone. */
  const kept = new Map<string, number>();
  /** When the latest step of a `compensate` node was noted. */
  const noted = new Map<string, number>();
  const groupOf = ({ own, generation }: EffectRow): string => `${own?.node}@${generation}`;
  const raise = (map: Map<string, number>, key: string, order: number) =>
    map.set(key, Math.max(map.get(key) ?? 0, order));
  for (const effect of effects) {
    if (effect.own !== undefined) raise(noted, groupOf(effect), effect.order);
    else if (effect.wanted !== true && effect.status !== 'undone') raise(kept, effect.call, effect.order);
  }
  const timeOf = (effect: EffectRow): number =>
    effect.own === undefined ? effect.order : (noted.get(groupOf(effect)) ?? effect.order);
  return effects
    .filter(({ wanted, status }) => wanted === true && status !== 'undone')
    .sort((one, other) => timeOf(other) - timeOf(one) || one.order - other.order)
    .map((effect) => notUndone(effect, (kept.get(effect.call) ?? 0) > effect.order));
}

function notUndone(
  { call, tool, input, status, failure, own, late }: EffectRow,
  ranAgain: boolean,
): NotUndone {
  return {
    step: call,
    ...(tool === undefined ? {} : { tool }),
    ...(input === undefined ? {} : { input }),
    ...(failure === undefined ? {} : { failure }),
    ...(status === 'unknown' || status === 'undoing' ? { outcomeUnknown: true as const } : {}),
    ...(own === undefined ? {} : { by: own }),
    ...(late ? { late } : {}),
    ...(ranAgain ? { ranAgain: true as const } : {}),
  };
}

function topOf({ key, scope: { container } }: NodeRecord): string {
  return container === undefined ? key : topOf(container);
}
