import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/nodes.js';
import { planOf } from '../../../plan/compile.js';
import type { Plan } from '../../../plan/plan.js';
import type { Row } from '../rows.js';
import { restore, snapshot } from '../snapshot.js';
import type { RunState } from '../state.js';

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
  const known = new Map([...mapping].filter(([from]) => ids.has(from)));
  const rename = (value: Json): Json => renamedIn(value, known);
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
