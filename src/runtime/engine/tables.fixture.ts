import { canonicalJson } from '../../graph/canonical.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Change, RunState } from './contract.js';
import type { OwedCommand } from './events.js';
import { commandsOf } from './read.js';
import type { ScopeRecord } from './records.js';
import type { NodeRow, Tables } from './rows.js';
import { snapshot } from './snapshot.js';

type Shown = Exclude<keyof Tables, 'start' | 'run' | 'nodes' | 'outputs'>;

/** A run as tests look at it: rows by table and key, what nodes and parts gave, and the commands it owes. */
export type ShownTables = { readonly [T in Shown]: Record<string, Tables[T]> } & {
  readonly run: RunState['run'];
  readonly input: JsonObject;
  /** Also those that are as they were when their scope began. Without their outputs. */
  readonly nodes: Record<string, NodeRow & { readonly attempt: number }>;
  readonly outputs: Record<string, Json>;
  readonly commands: Record<string, OwedCommand>;
};

export function tablesOf(state: RunState): ShownTables {
  const tables: Record<string, Record<string, unknown>> = {};
  for (const name of TABLES) tables[name] = {};
  for (const { table, key, row } of snapshot(state)) put(tables[table] ?? {}, key, row);
  const nodes: ShownTables['nodes'] = {};
  const outputs = tables.outputs as Record<string, Json>;
  const add = (scope: ScopeRecord): void => {
    for (const planned of scope.plan.nodes) {
      const record = scope.nodes[planned.index];
      const pending: NodeRow = { status: 'pending' };
      const { output, ...row } = record?.toRow() ?? pending;
      const key = scope.keyOf(planned);
      put(nodes, key, { ...row, attempt: row.attempt ?? 0 });
      if (output !== undefined) put(outputs, key, output);
      for (const part of record?.container?.parts ?? []) if (part !== undefined) add(part);
    }
  };
  add(state.root);
  const commands = Object.fromEntries(commandsOf(state).map((command) => [command.id, command]));
  return {
    ...tables,
    run: state.run,
    input: state.input,
    nodes,
    outputs,
    commands,
  } as unknown as ShownTables;
}

/** `__proto__` is a key as any other. */
function put(rows: object, key: string, value: unknown): void {
  Object.defineProperty(rows, key, { value, writable: true, enumerable: true, configurable: true });
}

/** All rows of a state as text, whatever order its tables have. */
export function rowsText(state: RunState): string {
  return textOf(snapshot(state));
}

/** Changes as text, whatever their order. */
export function textOf(changes: readonly Change[]): string {
  return changes
    .map((change) =>
      canonicalJson([change.table, change.key, 'row' in change ? change.row : null] as unknown as Json),
    )
    .sort()
    .join('\n');
}

const TABLES: readonly (keyof Tables)[] = [
  'scopes',
  'containers',
  'outputs',
  'inputs',
  'items',
  'fields',
  'undoing',
  'effects',
  'generations',
  'unknown',
  'abandoned',
  'failedItems',
  'submissions',
  'eventIds',
];
