import { partKey } from '../../plan/instances.js';
import type { Plan } from '../../plan/plan.js';
import type { OwedCommand } from './events.js';
import { callKeyText } from './identity.js';
import type { Effect } from './indexed-tables.js';
import { withLargeValues, withoutLargeValues } from './large-values.js';
import { ContainerRecord, type NodeRecord, recount, type ScopeRecord } from './records.js';
import type { Change, CommandRow, ContainerRow, NodeRow, Row, ScopeRow, TableName, Tables } from './rows.js';
import { checkGraph, checkVersion, type Owed, RunState } from './state.js';
import { Entry, ROW_TABLES, type RowTableName, type Tracked } from './tables.js';
import { rowOf } from './transition.js';
import { compensationCall } from './undo.js';

export function snapshot(state: RunState): readonly Row[] {
  const rows: Row[] = [];
  for (const record of recordsOf(state)) if (record.hasRow()) rows.push(rowOf(record));
  return withoutLargeValues(rows);
}

function* recordsOf(state: RunState): Generator<Tracked> {
  yield state.start;
  yield state.run;
  yield* recordsIn(state.root);
  yield* state.effects.entries();
  yield* state.failedItems.entries();
  for (const table of state.tables.all()) yield* table.entries();
}

function* recordsIn(scope: ScopeRecord): Generator<Tracked> {
  yield scope;
  for (const node of scope.nodes) {
    if (node === undefined) continue;
    yield node;
    if (node.container === undefined) continue;
    yield node.container;
    for (const value of node.container.values) if (value !== undefined) yield value;
    for (const part of node.container.parts) if (part !== undefined) yield* recordsIn(part);
  }
}

/** Applies the changes of a run's transitions in order, and returns the rows that result. */
export function foldRows(changes: Iterable<Change>): Row[] {
  const rows = new Map<string, Row>();
  for (const change of changes) {
    const key = JSON.stringify([change.table, change.key]);
    if (change.op === 'delete') rows.delete(key);
    else rows.set(key, change);
  }
  return [...rows.values()];
}

/**
 * Restores a state from rows in any order: those of a snapshot, or the result of `foldRows`.
 *
 * @throws StateVersionError for a state that this engine cannot read.
 * @throws GraphMismatchError when `plan` is not of the graph the run was started on.
 * @throws Error if the rows are not those of a run.
 */
export function restore(plan: Plan, rows: Iterable<Row>): RunState {
  const all = [...rows];
  // Checked first: a later version may store large values in another way.
  const asStored = new StoredRows(all);
  const { key: id, row: startRow } = asStored.only('start');
  checkVersion(id, asStored.only('run').row);
  checkGraph(id, startRow.graphHash, plan);
  const { state } = new Restoring(plan, id, new StoredRows(withLargeValues(all)));
  state.large.restore(all);
  return state;
}

/** Rows by table and key. */
class StoredRows {
  readonly #tables = new Map<TableName, Map<string, unknown>>();

  constructor(rows: Iterable<Row>) {
    for (const { table, key, row } of rows) {
      const rowsByKey = this.#tables.get(table) ?? new Map<string, unknown>();
      rowsByKey.set(key, row);
      this.#tables.set(table, rowsByKey);
    }
  }

  all<T extends TableName>(table: T): ReadonlyMap<string, Tables[T]> {
    return (this.#tables.get(table) ?? new Map()) as ReadonlyMap<string, Tables[T]>;
  }

  only<T extends TableName>(table: T): { readonly key: string; readonly row: Tables[T] } {
    for (const [key, row] of this.all(table)) return { key, row };
    throw new Error(`these rows do not begin a run: there is none in '${table}'`);
  }
}

/** Creates records from rows. */
class Restoring {
  readonly state: RunState;
  readonly #rows: StoredRows;
  readonly #owed: { readonly command: OwedCommand; readonly owed: Owed }[] = [];
  readonly #queued: NodeRecord[] = [];
  /** References to nodes, set once all nodes are restored. */
  readonly #links: (() => void)[] = [];

  constructor(plan: Plan, id: string, rows: StoredRows) {
    this.#rows = rows;
    this.state = new RunState(plan, id, rows.only('start').row);
    const { state } = this;
    Object.assign(state.run, rows.only('run').row);
    this.#scope(state.root, rows.all('scopes').get(state.root.key));
    for (const link of this.#links) link();
    for (const [key, row] of rows.all('effects')) state.effects.put(key, row);
    for (const [key, row] of rows.all('failedItems')) state.failedItems.put(key, row);
    for (const name of ROW_TABLES) this.#table(name);
    for (const [key, row] of state.effects.rows()) this.#compensation({ key, ...row });
    for (const [key, { current }] of state.undoing.rows()) {
      if (current !== undefined) state.joined.add(current.command, key);
    }
    for (const { command, owed } of this.#owed.sort((one, other) => one.command.seq - other.command.seq)) {
      state.owed.set(command.id, owed);
    }
    for (const node of this.#queued.sort((one, other) => one.details.queued - other.details.queued))
      state.queue.add(node);
    for (const record of recordsOf(state)) record.isStored = record.hasRow();
    state.changes.take();
  }

  #table<T extends RowTableName>(name: T): void {
    const rows = this.#rows.all(name);
    if (rows.size === 0) return;
    const table = this.state.tables.of(name);
    for (const [key, row] of rows) table.put(key, row);
  }

  #scope(scope: ScopeRecord, row: ScopeRow = {}): void {
    const { failedNode, ...fields } = row;
    setAll(scope, fields);
    const nodes: NodeRecord[] = [];
    for (const planned of scope.plan.nodes) {
      const nodeRecord = this.#rows.all('nodes').get(scope.keyOf(planned));
      if (nodeRecord === undefined) continue;
      const node = scope.node(planned);
      nodes.push(node);
      this.#node(node, nodeRecord);
      if (node.isSettled) scope.open -= 1;
    }
    for (const node of nodes) {
      if (node.status === 'pending') recount(node);
      this.#container(node, this.#rows.all('containers').get(node.key));
    }
    if (failedNode === undefined) return;
    this.#links.push(() => {
      scope.set('failedNode', this.state.find(failedNode));
    });
  }

  #node(node: NodeRecord, row: NodeRow): void {
    const { status, attempt = 0, output, selections = [], command, ...details } = row;
    Object.assign(node, { status, attempt, output });
    setAll(node, details);
    if (node.details.queued > 0) this.#queued.push(node);
    if (node.status === 'running' && node.planned.takesSlot) this.state.running += 1;
    if (command !== undefined) {
      node.command = this.#command(node, command);
      this.#owed.push({ command: node.command, owed: node });
    }
    if (selections.length === 0) return;
    this.#links.push(() => {
      node.select(selections.map(({ by, why }) => ({ by: this.state.find(by), why })));
    });
  }

  #command(node: NodeRecord, row: CommandRow): OwedCommand {
    const { key, attempt, planned } = node;
    const { input = {} } = node.details;
    if (row.kind !== 'callTool') return { ...row, node: key };
    const tool = planned.node.kind === 'call' ? planned.node.tool : '';
    const { generation = 1 } = row;
    const text = callKeyText(this.state.run.id, key, generation);
    return { input, ...row, generation, node: key, tool, attempt, key: text };
  }

  #compensation(effect: Effect): void {
    const { command } = effect;
    if (command === undefined) return;
    const call = compensationCall(this.state, effect, command);
    this.#owed.push({ command: call, owed: { command: call, node: this.state.find(command.node) } });
    this.state.running += 1;
    this.state.compensations += 1;
  }

  #container(node: NodeRecord, row: ContainerRow | undefined): void {
    if (row === undefined) return;
    const container = new ContainerRecord(node.key, row.first, row.end);
    Object.assign(container, row);
    container.items = this.#rows.all('items').get(node.key);
    container.input = this.#rows.all('inputs').get(node.key);
    node.container = container;
    for (let part = row.first; part < row.next; part += 1) {
      const key = partKey(node, part);
      const value = this.#rows.all('outputs').get(key);
      if (value !== undefined) container.values[part] = new Entry('outputs', key, value);
      const scope = this.#rows.all('scopes').get(key);
      if (scope === undefined) continue;
      const opened = this.state.newPart(node, part);
      container.parts[part] = opened;
      this.#scope(opened, scope);
    }
  }
}

function setAll(record: { set(name: never, value: never): void }, details: object): void {
  for (const [name, value] of Object.entries(details)) record.set(name as never, value as never);
}
