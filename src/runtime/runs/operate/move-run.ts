import { isJsonObject, type Json } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import { planOf } from '../../../plan/compile.js';
import { secretsOf } from '../../../plan/secrets.js';
import type { Change } from '../../engine/contract.js';
import { compare, type Verdict } from '../../engine/migration/compare.js';
import {
  type Mapping,
  type MappingFault,
  mappingFaults,
  migrateRows,
  renamedKey,
  renamedRun,
} from '../../engine/migration/migrate-rows.js';
import { restore } from '../../engine/snapshot.js';
import { type RunState, StateVersionError } from '../../engine/state.js';
import { runRow, runRowsIn } from '../store/host-rows.js';
import type { HostRow, LoadedRun, Row, RunJournal } from '../store/journal.js';

export interface MoveTarget {
  /** With all workflows it runs among its tasks. */
  readonly graph: Graph;
  /** How its tools may be repeated. */
  readonly tools: Readonly<Record<string, ToolSafety>>;
  readonly mapping: Mapping;
  /** Whether only steps of workflows may call a tool. Default: all tools are listed. */
  readonly isPrivate?: (tool: string) => boolean;
  /** The inputs of a tool with secret values. */
  readonly secretInputs: (tool: string) => readonly string[];
}

/** Whether a run can move, or what is wrong with the mapping. */
type MoveVerdict = Verdict | { readonly kind: 'mapping'; readonly faults: readonly MappingFault[] };

/** A run that a later version wrote. */
interface UnreadableRun {
  readonly kind: 'unreadable';
  readonly why: string;
}

/** Compares the graph of a run with another one. */
export function judgeMove(
  loaded: LoadedRun,
  graph: Graph,
  target: MoveTarget & { readonly hash: string },
): MoveVerdict | UnreadableRun | { readonly kind: 'current' } {
  if (loaded.graphHash === target.hash) return { kind: 'current' };
  try {
    const judged = judge(restore(planOf(graph), loaded.rows), target);
    return 'faults' in judged ? judged : judged.verdict;
  } catch (error) {
    // It does not hold up the others.
    if (!(error instanceof StateVersionError)) throw error;
    return { kind: 'unreadable', why: error.message };
  }
}

type Judged =
  | { readonly verdict: Verdict; readonly state: RunState }
  | Extract<MoveVerdict, { readonly kind: 'mapping' }>;

function judge(state: RunState, { graph, mapping, secretInputs }: MoveTarget): Judged {
  const to = planOf(graph);
  // A run of it would not start in the store either.
  if (secretsOf(to, secretInputs).any)
    return { state, verdict: { kind: 'stays', reasons: [{ reason: 'secrets' }] } };
  const faults = mappingFaults(state, to, mapping);
  if (faults.length > 0) return { kind: 'mapping', faults };
  const renamed = mapping.size === 0 ? state : renamedRun(state, mapping);
  return { verdict: compare(renamed.plan, to, renamed), state: renamed };
}

/** What became of a move: it was made, the run cannot move, or another process works on the run. */
type MoveOutcome = MoveVerdict | { readonly kind: 'moved' } | { readonly kind: 'held' };

/**
 * Moves a run to another graph, if that is safe, in one entry and under a lease of this process. A run that another process
 * works on is left alone.
 *
 * @param at now, in ms since the epoch.
 */
export async function moveRun(
  journal: RunJournal,
  run: string,
  target: MoveTarget,
  at: number,
): Promise<MoveOutcome> {
  const { leases } = journal;
  const loaded = await leases.claim(run);
  if (loaded === undefined) return { kind: 'held' };
  const before = await journal.graph(loaded.graphHash);
  const moved = before && movedRun(loaded, before, target, at);
  if (moved?.kind !== 'moved') {
    // Its state tells the next process what to do with it.
    await leases.abandon(run);
    return moved ?? { kind: 'held' };
  }
  const { seq, rows, hostRows, starts } = moved;
  await journal.append({
    ...{ run, seq, expectedSeq: loaded.seq, epoch: loaded.epoch, graph: target.graph, events: [] },
    ...{ changes: changesBetween(loaded.rows, rows), hostRows },
    // With something to start, the next process that looks for runs takes it up.
    ...(starts.length > 0 ? {} : { releases: true as const }),
  });
  return { kind: 'moved' };
}

interface MovedRun {
  readonly kind: 'moved';
  /** The number of the entry that moves it. */
  readonly seq: number;
  readonly rows: readonly Row[];
  /** The rows that the entry writes. */
  readonly hostRows: readonly HostRow[];
  /** The nodes that start with the move. */
  readonly starts: readonly string[];
}

/** What a run becomes by a move, or why it cannot move. @param at now, in ms since the epoch. */
export function movedRun(
  loaded: LoadedRun,
  graph: Graph,
  target: MoveTarget,
  at: number,
): MovedRun | Exclude<MoveVerdict, { readonly kind: 'safe' }> {
  const judged = judge(restore(planOf(graph), loaded.rows), target);
  if ('faults' in judged) return judged;
  const { state, verdict } = judged;
  if (verdict.kind !== 'safe') return verdict;
  const seq = loaded.seq + 1;
  return {
    ...{ kind: 'moved', seq, starts: verdict.starts },
    rows: migrateRows(state, planOf(target.graph), { at, tools: target.tools }),
    hostRows: hostRowsOf(loaded, target.mapping, { entry: seq, at }),
  };
}

export function changesBetween(before: readonly Row[], after: readonly Row[]): readonly Change[] {
  const nameOf = ({ table, key }: Row): string => JSON.stringify([table, key]);
  const oldRows = new Map(before.map((row) => [nameOf(row), row]));
  const changes: Change[] = [];
  for (const row of after) {
    const old = oldRows.get(nameOf(row));
    oldRows.delete(nameOf(row));
    if (JSON.stringify(old) !== JSON.stringify(row)) changes.push(row);
  }
  for (const { table, key } of oldRows.values()) changes.push({ op: 'delete', table, key });
  return changes;
}

/** Rows of the host that are written with a move: that it was made, and secrets and children of renamed
 * nodes. */
function hostRowsOf(
  { hostRows, graphHash }: LoadedRun,
  mapping: Mapping,
  when: { readonly entry: number; readonly at: number },
): readonly HostRow[] {
  const { moved = [] } = runRowsIn(hostRows);
  const names = mapping.size === 0 ? {} : { mapping: Object.fromEntries(mapping) };
  const move = runRow('moved', [...moved, { ...when, from: graphHash, ...names }]);
  const renamed = mapping.size === 0 ? [] : hostRows.flatMap((row) => renamedRow(row, mapping));
  return [move, ...renamed];
}

function renamedRow(row: HostRow, mapping: Mapping): readonly HostRow[] {
  if (row.table === 'secrets') return [{ ...row, row: renamedSecrets(row.row, mapping) }];
  if (row.table !== 'children' || !isJsonObject(row.row)) return [];
  return [{ ...row, row: { ...row.row, loop: renamedKey(String(row.row.loop), mapping) } }];
}

function renamedSecrets(row: Json, mapping: Mapping): Json {
  if (!isJsonObject(row) || !Array.isArray(row.calls)) return row;
  const calls = row.calls.map((call: Json) =>
    isJsonObject(call) && typeof call.node === 'string'
      ? { ...call, node: renamedKey(call.node, mapping) }
      : call,
  );
  return { ...row, calls };
}
