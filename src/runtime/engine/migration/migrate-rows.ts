import { defined } from '../../../graph/defined.js';
import { references } from '../../../graph/expression/traversal.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import type { Graph, Node } from '../../../graph/model.js';
import { bodiesOf, expressionsOf, nodesOf } from '../../../graph/nodes.js';
import { planOf } from '../../../plan/compile.js';
import type { Plan } from '../../../plan/plan.js';
import { advance } from '../engine.js';
import type { Fact, OwedCommand } from '../events.js';
import { commandsOf } from '../read.js';
import type { NodeRecord, ScopeRecord } from '../records.js';
import type { Row, RunRow, StartRow } from '../rows.js';
import { restore, snapshot } from '../snapshot.js';
import type { RunState } from '../state.js';
import { ADVANCE_BUDGET } from '../transition.js';

export interface MigrationOptions {
  /** When it moves, in ms since the epoch. */
  readonly at: number;
  /** How tools may be repeated that the run does not know, by tool. */
  readonly tools: StartRow['tools'];
}

/**
 * The rows of a run that goes on with another graph, which {@link compare} has found safe. Undo records keep their keys.
 * What can start at once is left for the next transition.
 */
export function migrateRows(state: RunState, to: Plan, { at, tools }: MigrationOptions): Row[] {
  const rows = snapshot(state).map((row): Row => {
    if (row.table !== 'start') return row;
    return { ...row, row: { ...row.row, graphHash: to.hash, tools: { ...tools, ...row.row.tools } } };
  });
  const ready = [...enabledIn(restore(to, rows).root)];
  if (ready.length === 0) return rows;
  const remainingWork = { at, budget: ADVANCE_BUDGET, ready, completions: [] };
  return rows.map((row): Row => (row.table === 'run' ? { ...row, row: { ...row.row, remainingWork } } : row));
}

/** The keys of the nodes that start with the next transition. */
export function startsIn(rows: readonly Row[]): readonly string[] {
  const row = rows.find(({ table }) => table === 'run')?.row as RunRow | undefined;
  return row?.remainingWork?.ready ?? [];
}

/** The keys of nodes that wait for nothing, and have not started. */
function* enabledIn(scope: ScopeRecord): Generator<string> {
  for (const planned of scope.plan.nodes) {
    const node = scope.node(planned);
    if (node.status === 'pending' && waitsForNothing(node)) yield node.key;
    for (const part of node.container?.parts ?? [])
      if (part !== undefined && node.status === 'running') yield* enabledIn(part);
  }
}

function waitsForNothing({ waitingFor, routers, planned, details }: NodeRecord): boolean {
  if (planned.needsSelection && details.selections.length === 0) return routers === 0;
  return waitingFor === 0;
}

/** New ids by the old ones, of nodes of the workflow itself. */
export type Mapping = ReadonlyMap<string, string>;

/** What is wrong with an entry of a mapping. */
export interface MappingFault {
  readonly from: string;
  readonly to: string;
  readonly fault:
    | 'unknown'
    | 'unknown_target'
    | 'two_to_one'
    /** The old graph has another node of the new id. */
    | 'taken'
    /** The node has parts of its own, or has not settled. */
    | 'not_settled'
    /** The node has an undo record, whose key has the id. */
    | 'undo_record';
}

/** What keeps nodes from their new ids. */
export function mappingFaults(state: RunState, to: Plan, mapping: Mapping): readonly MappingFault[] {
  const faults: MappingFault[] = [];
  const old = state.plan.main.byId;
  const rows = snapshot(state);
  const targets = [...mapping.values()];
  for (const [from, target] of mapping) {
    const add = (fault: MappingFault['fault']): number => faults.push({ from, to: target, fault });
    const planned = old.get(from);
    if (planned === undefined) add('unknown');
    else if (!to.main.byId.has(target)) add('unknown_target');
    else if (targets.filter((each) => each === target).length > 1) add('two_to_one');
    else if (old.has(target) && !mapping.has(target)) add('taken');
    else if (planned.parts.length > 0 || planned.node.kind === 'workflow' || isActive(rows, from))
      add('not_settled');
    else if (hasRecord(rows, from)) add('undo_record');
  }
  return faults;
}

const SETTLED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'handled', 'skipped', 'cancelled']);

function isActive(rows: readonly Row[], id: string): boolean {
  return rows.some((row) => row.table === 'nodes' && idIn(row.key) === id && !SETTLED.has(row.row.status));
}

function hasRecord(rows: readonly Row[], id: string): boolean {
  return rows.some(
    ({ table, row }) =>
      table === 'effects' && (idIn(row.call) === id || idIn(row.compensateStep?.node ?? '') === id),
  );
}

/** The id of a node of the workflow itself; undefined for one of a workflow that it runs. */
function idIn(key: string): string | undefined {
  return key.includes('/') ? undefined : key.split('[', 1)[0];
}

/** The key of a node under its new id. */
export function renamedKey(key: string, mapping: Mapping): string {
  const id = idIn(key);
  const target = id === undefined ? undefined : mapping.get(id);
  return id === undefined || target === undefined ? key : target + key.slice(id.length);
}

/** The run as if its nodes had had these ids all along. Undo records keep their keys, and so do commands. */
export function renamedRun(state: RunState, mapping: Mapping): RunState {
  const plan = planOf(renamedGraph(state.plan.graph, mapping));
  const rename = (key: string): string => renamedKey(key, mapping);
  const optional = (key: string | undefined): string | undefined =>
    key === undefined ? undefined : rename(key);
  const rows = snapshot(state).map((each): Row => {
    switch (each.table) {
      case 'start': {
        const { inherited } = each.row;
        const names = inherited?.map((name) => {
          const at = name.lastIndexOf('@');
          return rename(name.slice(0, at)) + name.slice(at);
        });
        const row = {
          ...each.row,
          graphHash: plan.hash,
          ...defined({ inherited: names }),
        };
        return { ...each, row };
      }
      case 'nodes': {
        const { selections } = each.row;
        const by = selections?.map((selection) => ({ ...selection, by: rename(selection.by) }));
        return {
          ...each,
          key: rename(each.key),
          row: { ...each.row, ...defined({ selections: by }) },
        };
      }
      case 'generations':
        return { ...each, key: rename(each.key) };
      case 'scopes': {
        const [endedBy, failedNode] = [optional(each.row.endedBy), optional(each.row.failedNode)];
        const ended = defined({ endedBy });
        const failed = defined({ failedNode });
        return { ...each, row: { ...each.row, ...ended, ...failed } };
      }
      default:
        return each;
    }
  });
  return restore(plan, rows);
}

/** A graph with other ids of its nodes, wherever they are named. */
function renamedGraph(graph: Graph, mapping: Mapping): Graph {
  const ids = new Set(nodesOf(graph).map(({ id }) => id));
  const applicable = new Map([...mapping].filter(([from]) => ids.has(from)));
  const rename = (value: Json): Json => renamedIn(value, applicable);
  const { nodes, returns } = graph;
  return {
    ...graph,
    nodes: rename(nodes as unknown as Json) as unknown as Graph['nodes'],
    ...(returns === undefined
      ? {}
      : { returns: rename(returns as unknown as Json) as unknown as typeof returns }),
  };
}

/** Members that name a node. */
const NAMES: ReadonlySet<string> = new Set(['fallbackNode', 'compensateNode', 'goto', 'target']);

function renamedIn(value: Json, mapping: Mapping): Json {
  if (Array.isArray(value)) return value.map((item: Json) => renamedIn(item, mapping));
  if (!isJsonObject(value)) return value;
  const { kind, root, path } = value;
  if (kind === 'literal') return value;
  const named = (id: Json | undefined): Json | undefined =>
    typeof id === 'string' ? (mapping.get(id) ?? id) : id;
  if (kind === 'ref' && (root === 'steps' || root === 'nodes') && Array.isArray(path)) {
    const [first = null, ...rest] = path as readonly Json[];
    return { ...value, path: [named(first) ?? null, ...rest] };
  }
  // Arms and branches have ids as well.
  const isNode = 'executor' in value && 'join' in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]): [string, Json] => {
      if (isNode && key === 'after' && Array.isArray(member))
        return [key, member.map((id: Json) => named(id) ?? null)];
      if (NAMES.has(key) || (isNode && key === 'id')) return [key, named(member) ?? null];
      return [key, renamedIn(member, mapping)];
    }),
  );
}

/**
 * Starts in a copy of the run what can start at once. A run that had begun with the graph would have started it earlier:
 * that makes no difference as long as it changes nothing that others had before, and reads nothing that they have changed.
 *
 * @param touched the keys of nodes that had started.
 * @returns the keys of nodes that come too late.
 */
export function lateStarts(to: Plan, rows: readonly Row[], touched: ReadonlySet<string>): readonly string[] {
  const ready = startsIn(rows);
  if (ready.length === 0) return [];
  const state = restore(to, rows);
  const hasState = rows.some(({ table }) => table === 'fields');
  const late = new Set<string>();
  for (let more = true; more; ) {
    const step = advance(to, state, []);
    for (const fact of step.facts) {
      const node = lateNode(fact, state, hasState);
      if (node !== undefined) late.add(node);
    }
    // What had started before must be as it was.
    for (const { table, key } of step.changes) if (table === 'nodes' && touched.has(key)) late.add(key);
    // Whatever ends the run would have ended it earlier.
    if (state.run.status !== 'running') for (const key of ready) late.add(key);
    more = step.more && late.size === 0;
  }
  // With all slots taken, the calls that were made before would have waited.
  if (state.running >= to.maxConcurrency) for (const command of commandsOf(state)) addCall(late, command);
  return [...late];
}

function addCall(late: Set<string>, { kind, node }: OwedCommand): void {
  if (kind !== 'requestAction' && kind !== 'startTimer') late.add(node);
}

function lateNode(fact: Fact, state: RunState, hasState: boolean): string | undefined {
  switch (fact.kind) {
    case 'nodeStarted':
    case 'nodeSkipped': {
      const { node } = state.find(fact.node).planned;
      const changes = CHANGES_OTHERS.has(node.kind) || node.writes !== undefined;
      const changesOthers = fact.kind === 'nodeStarted' && changes;
      return changesOthers || (hasState && readsState(node)) ? fact.node : undefined;
    }
    case 'nodeFailed':
      return fact.node;
    default:
      return undefined;
  }
}

/** Kinds of nodes that write to the state, start others over, or end the scope. */
const CHANGES_OTHERS: ReadonlySet<Node['kind']> = new Set(['set', 'goto', 'return', 'error']);

function readsState(node: Node): boolean {
  const values = bodiesOf(node).flatMap(({ scope: { value } }) => (value === undefined ? [] : [value]));
  return [...expressionsOf(node), ...values].some((expr) =>
    references(expr).some(({ ref }) => ref.root === 'state'),
  );
}
