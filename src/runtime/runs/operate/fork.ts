import type { Json } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { isServerCall } from '../../../graph/nodes.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import { planOf } from '../../../plan/compile.js';
import type { Fact, RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { effectiveEvents, type ForkFault, forkFault, forkRows, Replay } from '../../engine/fork.js';
import { commandOf, commandsOf } from '../../engine/read.js';
import { restore } from '../../engine/snapshot.js';
import { runRef } from '../../tools/port.js';
import { ActionHistory } from '../actions/action-history.js';
import { Children } from '../actions/children.js';
import { answerId } from '../run/owner.js';
import { hasWholeLog, runRow, runRowsIn } from '../store/host-rows.js';
import type { ForkOrigin, HostRow, LoadedRun, Row } from '../store/journal.js';
import type { StoredEntry } from '../store/reader.js';

/** A run to fork, with its log. */
export interface ForkSource {
  readonly loaded: LoadedRun;
  readonly graph: Graph;
  /** In their order, as far as they are kept. */
  readonly entries: readonly StoredEntry[];
}

/** A call that the other run made after the point of the fork, or whose result it did not have there. */
interface RepeatedCall {
  readonly step_id: string;
  readonly tool: string;
  readonly retry_safety: ToolSafety;
}

/** A run that begins at a point of the log of another one. */
export interface Fork {
  readonly run: string;
  readonly graph: Graph;
  readonly rows: readonly Row[];
  readonly hostRows: readonly HostRow[];
  readonly origin: ForkOrigin;
  readonly repeated: readonly RepeatedCall[];
}

/** Why a run cannot be forked at an entry. */
type ForkRefusal =
  | { readonly why: ForkFault }
  /** The run has no such entry, or the log does not lead there. Entries from `from` to `to` can be forked at. */
  | { readonly why: 'range' | 'log'; readonly from: number; readonly to: number };

/** A run at an entry of its log. */
interface Point {
  readonly state: RunState;
  readonly effects: readonly ForkOrigin['effects'][number][];
  /** Rows of the actions that were opened. */
  readonly actions: readonly HostRow[];
  /** Rows of the children that are open, with other ids. */
  readonly children: readonly HostRow[];
  /** The time of the last event, in ms since the epoch. */
  readonly at: number;
  /** The calls that the run made afterwards. It changes the state. */
  readonly rest: () => readonly MadeCall[];
}

interface MadeCall {
  readonly step: string;
  readonly tool: string;
}

/**
 * Forks a run at an entry of its log: folds the log up to there on the graph that the run started on. Of a log that does
 * not begin with the run, as that of a run that was forked itself, or of one that was moved to another
 * graph, the last state alone is known.
 *
 * @param how.id of the new run. @param how.now in ms since the epoch.
 */
export function forkAt(
  source: ForkSource,
  { entry, id, now }: { readonly entry: number; readonly id: string; readonly now: number },
): Fork | ForkRefusal {
  const { loaded, graph } = source;
  const isWhole = hasWholeLog(source);
  const range = { from: isWhole ? 1 : loaded.seq, to: loaded.seq };
  if (entry > loaded.seq) return { why: 'range', ...range };
  if (entry < range.from) return { why: 'log', ...range };
  const point = isWhole ? pointIn(source, entry, id) : lastPoint(source);
  const { state } = point;
  const why = forkFault(state);
  if (why !== undefined) return { why };
  const laterMs = Math.max(0, now - point.at);
  const certain = point.effects.filter(({ outcome_unknown }) => outcome_unknown !== true);
  const rows = forkRows(state, { id, at: now, laterMs, effects: certain.map(({ step_id }) => step_id) });
  const origin = { run: runRef(loaded.run), entry, effects: point.effects };
  const hostRows = [
    ...originRows(loaded.hostRows, id, origin),
    ...point.actions.flatMap((row) => openAction(row, state, laterMs)),
    ...point.children,
    ...loaded.hostRows.filter(({ table }) => table === 'secrets' || table === 'variables'),
  ];
  const calls = [...callsOf(state), ...point.rest()];
  const repeated = calls.map(({ step, tool }) => ({
    step_id: step,
    tool,
    retry_safety: state.safetyOf(tool),
  }));
  return { run: id, graph, rows, hostRows, origin, repeated };
}

function callsOf(state: RunState): readonly MadeCall[] {
  return commandsOf(state).flatMap((each) =>
    each.kind === 'callTool' ? [{ step: each.node, tool: each.tool }] : [],
  );
}

/** Folds a log. */
function pointIn({ loaded, graph, entries }: ForkSource, entry: number, id: string): Point {
  const startRow = loaded.rows.find((row) => row.table === 'start');
  if (startRow?.table !== 'start') throw new Error(`run ${runRef(loaded.run)} has no start`);
  const deeds = new Deeds(startRow.row.startedAt);
  const { deadlineAt: _, ...start } = startRow.row;
  const replay = new Replay(planOf(graph), id, start, (events, facts, state) =>
    deeds.note(events, facts, state),
  );
  for (const events of effectiveEvents(entries.slice(0, entry))) replay.apply(events);
  return {
    state: replay.state,
    effects: [...deeds.effects.values()],
    actions: deeds.actions.takeRows(),
    children: deeds.children.copies(),
    at: deeds.at,
    rest() {
      deeds.calls.length = 0;
      for (const events of effectiveEvents(entries).slice(entry - 1)) replay.apply(events);
      return deeds.calls;
    },
  };
}

function lastPoint({ loaded, graph, entries }: ForkSource): Point {
  const state = restore(planOf(graph), loaded.rows);
  const lastEffects = loaded.rows.flatMap((row): ForkOrigin['effects'][number][] => {
    const node =
      row.table === 'nodes' && row.row.status === 'succeeded' ? state.find(row.key).planned.node : undefined;
    return node?.kind === 'call' && state.safetyOf(node.tool) !== 'readOnly'
      ? [{ step_id: row.key, tool: node.tool }]
      : [];
  });
  const before = runRowsIn(loaded.hostRows).fork?.effects ?? [];
  const children = new Children();
  children.reload(loaded.hostRows);
  const steps = new Set(lastEffects.map(({ step_id }) => step_id));
  return {
    state,
    effects: [...before.filter(({ step_id }) => !steps.has(step_id)), ...lastEffects],
    actions: loaded.hostRows.filter(({ table }) => table === 'actions'),
    children: children.copies(),
    at: Math.max(state.run.startedAt, ...entries.flatMap(({ events }) => events.map(({ at }) => at))),
    rest: () => [],
  };
}

/** What a run has done, by its facts. */
class Deeds {
  readonly effects = new Map<string, ForkOrigin['effects'][number]>();
  readonly actions = new ActionHistory();
  readonly children = new Children();
  readonly calls: MadeCall[] = [];
  at: number;
  readonly #issued = new Map<string, MadeCall>();

  constructor(at: number) {
    this.at = at;
  }

  note(events: readonly Event[], facts: readonly Fact[], state: RunState): void {
    this.at = events.at(-1)?.at ?? this.at;
    this.children.note(facts, state, this.at);
    this.actions.note(events, facts, state, this.at);
    for (const fact of facts) {
      if (fact.kind === 'callReturned') this.#returned(fact, state);
      if (fact.kind === 'answered') this.#madeOutside(fact, state);
      if (fact.kind !== 'callIssued') continue;
      const call = { step: fact.undoes ?? fact.node, tool: fact.tool };
      this.calls.push(call);
      this.#issued.set(fact.command, call);
    }
  }

  #returned({ command, attempted, outcome }: Extract<Fact, { kind: 'callReturned' }>, state: RunState): void {
    const call = this.#issued.get(command);
    if (call === undefined || !attempted || state.safetyOf(call.tool) === 'readOnly') return;
    const isUnknown = !outcome.ok && outcome.failure.outcomeUnknown === true;
    if (!outcome.ok && !isUnknown) return;
    const effect = { step_id: call.step, tool: call.tool };
    this.effects.set(command, isUnknown ? { ...effect, outcome_unknown: true } : effect);
  }

  /** The call of a step that failed in a task may be made outside. */
  #madeOutside({ node, command }: Extract<Fact, { kind: 'answered' }>, state: RunState): void {
    const { node: model } = state.find(node).planned;
    if (!isServerCall(model) || state.safetyOf(model.tool) === 'readOnly') return;
    this.effects.set(command, { step_id: node, tool: model.tool });
  }
}

/** Whose run it is, and where it comes from. */
function originRows(rows: readonly HostRow[], id: string, origin: ForkOrigin): readonly HostRow[] {
  const { start } = runRowsIn(rows);
  if (start === undefined) throw new Error(`run ${origin.run} has no owner`);
  const { alias, ...begun } = start;
  return [
    runRow('start', alias === undefined ? begun : { ...begun, alias: answerId(id) }),
    runRow('fork', origin),
  ];
}

/** The row of an action that is open in the fork, with its times. */
function openAction({ table, key, row }: HostRow, state: RunState, laterMs: number): readonly HostRow[] {
  if (commandOf(state, key) === undefined) return [];
  const { at, until, ...rest } = row as unknown as NonNullable<ReturnType<ActionHistory['get']>>;
  const times = { at: at + laterMs, ...(until === undefined ? {} : { until: until + laterMs }) };
  return [{ table, key, row: { ...rest, ...times } as unknown as Json }];
}
