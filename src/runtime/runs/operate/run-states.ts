import { defined } from '../../../graph/defined.js';
import { planOf } from '../../../plan/compile.js';
import type { Fact, Failure } from '../../engine/contract.js';
import type { NodeStatus, SkipReason } from '../../engine/events.js';
import { effectiveEvents, Replay } from '../../engine/fork.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { type ForkSource, hasWholeLog } from './fork.js';

/** How a node of a run did, over all items of the loops around it. Secrets are masked. */
interface RunNodeState {
  /** Of the items that differ, the one that matters most: `failed` goes before all others. */
  readonly status: NodeStatus;
  /** How many items have each status; one for a node outside of loops. */
  readonly counts: Readonly<Partial<Record<NodeStatus, number>>>;
  /** Calls and reads that were issued. */
  readonly attempts: number;
  /** Ms since the epoch. Missing for a node that has not startRow, and where the log is not whole. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly reason?: SkipReason;
  /** That of the last failed item. */
  readonly failure?: Failure;
}

/** What decides the status of a node with several items. */
const RANKS: readonly NodeStatus[] = [
  'failed',
  'waiting',
  'running',
  'ready',
  'cancelled',
  'handled',
  'succeeded',
  'pending',
  'skipped',
];

interface OpenState {
  status: NodeStatus;
  attempts: number;
  startedAt?: number;
  endedAt?: number;
  reason?: SkipReason;
  failure?: Failure;
}

/**
 * The states of the nodes of a run by their keys without indexes: `sub/line` for the items of `line` in the workflow that
 * `sub` runs. Times are those of its log; without a whole log, as that of a fork, the states alone are known.
 */
export function runNodeStates(source: ForkSource, mask: RunMask): ReadonlyMap<string, RunNodeState> {
  const states = hasWholeLog(source) ? replayed(source) : stored(source);
  const byNode = new Map<string, OpenState[]>();
  for (const [key, state] of states) {
    const node = key.replaceAll(/\[\d+\]/g, '');
    const items = byNode.get(node) ?? [];
    items.push(state);
    byNode.set(node, items);
  }
  return new Map([...byNode].map(([node, items]) => [node, together(items, mask)]));
}

/** The states of the rows. */
function stored({ loaded }: ForkSource): ReadonlyMap<string, OpenState> {
  const states = new Map<string, OpenState>();
  for (const row of loaded.rows) {
    if (row.table !== 'nodes') continue;
    const { status, attempt = 0, reason, failure } = row.row;
    states.set(row.key, {
      ...{ status, attempts: attempt },
      ...defined({ reason, failure }),
    });
  }
  return states;
}

/** The states after a replay of the log. */
function replayed({ loaded, graph, entries }: ForkSource): ReadonlyMap<string, OpenState> {
  const startRow = loaded.rows.find((row) => row.table === 'start');
  if (startRow?.table !== 'start') throw new Error('the run has no start');
  const states = new Map<string, OpenState>();
  let at = startRow.row.startedAt;
  const replay = new Replay(planOf(graph), 'replay', startRow.row, (events, facts) => {
    at = events.at(-1)?.at ?? at;
    for (const fact of facts) take(states, fact, at);
  });
  for (const events of effectiveEvents(entries)) replay.apply(events);
  return states;
}

function take(states: Map<string, OpenState>, fact: Fact, at: number): void {
  if (!('node' in fact) || fact.node === undefined || fact.kind === 'finished') return;
  const state: OpenState = states.get(fact.node) ?? { status: 'pending', attempts: 0 };
  states.set(fact.node, state);
  switch (fact.kind) {
    case 'nodeStarted':
      // A node that a `goto` starts over begins again.
      states.set(fact.node, { status: 'running', attempts: 0, startedAt: at });
      return;
    case 'callIssued':
      if (fact.isCompensation !== true) state.attempts += 1;
      return;
    case 'resourceRequested':
      state.attempts += 1;
      return;
    case 'waiting':
      state.status = 'waiting';
      return;
    case 'answered':
      state.status = 'running';
      return;
    case 'nodeSucceeded':
      end(state, 'succeeded', at);
      return;
    case 'handled':
      state.failure = fact.failure;
      if (fact.fallbackNode !== undefined) end(state, 'handled', at);
      return;
    case 'nodeFailed':
      state.failure = fact.failure;
      end(state, 'failed', at);
      return;
    case 'nodeSkipped':
      state.reason = fact.reason;
      state.status = 'skipped';
      return;
    case 'nodeCancelled':
      end(state, 'cancelled', at);
      return;
    default:
  }
}

function end(state: OpenState, status: NodeStatus, at: number): void {
  state.status = status;
  state.endedAt = at;
}

function together(items: readonly OpenState[], mask: RunMask): RunNodeState {
  const counts: Partial<Record<NodeStatus, number>> = {};
  for (const { status } of items) counts[status] = (counts[status] ?? 0) + 1;
  const status = RANKS.find((each) => counts[each] !== undefined) ?? 'pending';
  const starts = items.flatMap(({ startedAt }) => (startedAt === undefined ? [] : [startedAt]));
  const ends = items.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [endedAt]));
  const isOver = items.every(({ startedAt, endedAt }) => startedAt === undefined || endedAt !== undefined);
  const reason = items.find((item) => item.reason !== undefined)?.reason;
  const failure = items.findLast((item) => item.failure !== undefined)?.failure;
  return {
    ...{ status, counts },
    attempts: items.reduce((sum, { attempts }) => sum + attempts, 0),
    ...(starts.length === 0 ? {} : { startedAt: least(starts) }),
    ...(ends.length === 0 || !isOver ? {} : { endedAt: ends.reduce((one, other) => Math.max(one, other)) }),
    ...(reason === undefined || status !== 'skipped' ? {} : { reason }),
    ...(failure === undefined ? {} : { failure: maskedFailure(failure, mask) }),
  };
}

function least(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other));
}
