import { defined } from '../../graph/defined.js';
import type { Plan } from '../../plan/plan.js';
import { advance, start } from './engine.js';
import type { Event, Fact } from './events.js';
import { failures } from './failures.js';
import { inheritedKey } from './identity.js';
import { nodeRecord } from './read.js';
import type { EffectRow, NodeRow, Row, StartRow } from './rows.js';
import { snapshot } from './snapshot.js';
import type { RunState } from './state.js';
import type { Draft } from './tables.js';

const FAILURES: ReadonlySet<Event['kind']> = new Set([
  'toolFailed',
  'resourceFailed',
  'evaluationFailed',
  'timerFired',
]);

/**
 * The events that lead to the state of a run, of each entry of its log after the first one. Failures of commands are left out
 * that a later entry reopens: the commands have been in flight since.
 */
export function effectiveEvents(
  entries: readonly { readonly events: readonly Event[] }[],
): readonly (readonly Event[])[] {
  const reopened = new Map<string, number>();
  for (const [index, { events }] of entries.entries()) {
    for (const event of events)
      if (event.kind === 'retryRequested' && event.reopens !== undefined) reopened.set(event.reopens, index);
  }
  const counts = (event: Event, index: number): boolean =>
    !('command' in event) || !FAILURES.has(event.kind) || !((reopened.get(event.command) ?? 0) > index);
  return entries
    .map(({ events }, index) => (reopened.size === 0 ? events : events.filter((each) => counts(each, index))))
    .slice(1);
}

/** Applies the log of a run once more, from its start. */
export class Replay {
  #state: RunState;
  readonly #observe: (events: readonly Event[], facts: readonly Fact[], state: RunState) => void;

  /**
   * @param begun how the run began.
   * @param observe gets the events and the facts of each transition, with the state after it.
   */
  constructor(
    plan: Plan,
    id: string,
    { startedAt, random, tools, input, deadlineAt }: StartRow,
    observe: (events: readonly Event[], facts: readonly Fact[], state: RunState) => void,
  ) {
    this.#observe = observe;
    const ids = { runId: id, at: startedAt, tools, ...defined({ random, deadlineAt }) };
    const { state, facts, more } = start(plan, input, ids);
    this.#state = state;
    observe([], facts, state);
    if (more) this.#finish();
  }

  get state(): RunState {
    return this.#state;
  }

  /** Applies the events of an entry, and all work that follows from them. */
  apply(events: readonly Event[]): void {
    for (let rest = events; rest.length > 0; ) {
      const { consumed, more } = this.#advance(rest);
      rest = rest.slice(consumed);
      if (more) this.#finish();
    }
  }

  #finish(): void {
    while (this.#advance([]).more);
  }

  #advance(events: readonly Event[]) {
    const step = advance(this.#state.plan, this.#state, events);
    this.#state = step.state;
    this.#observe(events.slice(0, step.consumed), step.facts, step.state);
    return step;
  }
}

/** Why no other run can begin where a run is. */
export type ForkFault = 'over' | 'undoing';

export function forkFault(state: RunState): ForkFault | undefined {
  const { status, cancelling } = state.run;
  if (status !== 'running' && status !== 'paused') return 'over';
  return cancelling !== undefined || isUndoing(state) ? 'undoing' : undefined;
}

/** Whether a side effect of the run is being undone. */
export function isUndoing(state: RunState): boolean {
  return (state.tables.existing('undoing')?.size ?? 0) > 0 || state.compensations > 0;
}

/** How a forked run differs from the one it comes from. */
export interface ForkOptions {
  readonly id: string;
  /** When it starts, in ms since the epoch. */
  readonly at: number;
  /** By how much later than in the other run its times are, in ms. */
  readonly laterMs: number;
  /** The keys of nodes whose calls had an effect. */
  readonly effects: Iterable<string>;
}

/**
 * The rows of a run that begins where another one is. It has the outputs of that run, and undoes none of its effects: the
 * undo records say so, and steps of `compensate` nodes fail where they would undo one.
 */
export function forkRows(state: RunState, { id, at, laterMs, effects }: ForkOptions): Row[] {
  const inherited = [...new Set(effects)].flatMap((key) => {
    const node = nodeRecord(state, key);
    return node?.status === 'succeeded' ? [inheritedKey(state, node)] : [];
  });
  return snapshot(state).flatMap((row): Row[] => {
    switch (row.table) {
      case 'start': {
        const { deadlineAt: _, ...startRow } = row.row;
        const own: Draft<StartRow> = { ...startRow, startedAt: at };
        const all = [...new Set([...(startRow.inherited ?? []), ...inherited])];
        if (all.length > 0) own.inherited = all;
        return [{ ...row, key: id, row: own }];
      }
      case 'run':
        return [{ ...row, key: id }];
      case 'nodes':
        return [{ ...row, row: later(row.row, laterMs) }];
      case 'effects':
        return [{ ...row, row: disowned(row.row) }];
      // Late results, unknown outcomes and events reach the other run alone.
      case 'unknown':
      case 'abandoned':
      case 'eventIds':
        return [];
      default:
        return [row];
    }
  });
}

function later(row: NodeRow, ms: number): NodeRow {
  const { command } = row;
  if (command?.dueAt === undefined) return row;
  return { ...row, command: { ...command, dueAt: command.dueAt + ms } };
}

function disowned(row: EffectRow): EffectRow {
  if (row.tool === undefined || row.status === 'undone' || row.status === 'failed') return row;
  return { ...row, status: 'failed', failure: failures.inherited() };
}
