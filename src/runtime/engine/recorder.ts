import { type Json, ownProperty } from '../../graph/json.js';
import type { Advance, Change, Command, Fact, NodeRow, RunRow, RunState, StateTable } from './contract.js';

/** Writes to a run's tables and keeps the account of it: the rows touched, the commands given, the facts reported. */
export class Recorder {
  readonly state: RunState;
  readonly #commands: Command[] = [];
  readonly #facts: Fact[] = [];
  /** Ids of the commands whose rows nobody has seen yet. */
  readonly #fresh = new Set<string>();
  /** Keys of the rows put or deleted, in the order first touched. */
  readonly #touched = {
    run: new Set<string>(),
    input: new Set<string>(),
    nodes: new Set<string>(),
    outputs: new Set<string>(),
    commands: new Set<string>(),
  } satisfies Record<StateTable, Set<string>>;

  constructor(state: RunState) {
    this.state = state;
  }

  get run(): RunRow {
    return this.state.run;
  }

  putRun(row: RunRow): void {
    this.#touched.run.add(row.id);
    this.state.run = row;
  }

  /** Puts the row of the input the state was opened with. */
  recordInput(): void {
    this.#touched.input.add(this.run.id);
  }

  /** The row of a node of the graph the run started on. */
  node(id: string): NodeRow {
    const row = ownProperty(this.state.nodes, id);
    if (row === undefined) throw new Error(`the state has no row for node '${id}'`);
    return row;
  }

  putNode(id: string, row: NodeRow): void {
    this.#touched.nodes.add(id);
    setRow(this.state.nodes, id, row);
  }

  putOutput(id: string, value: Json): void {
    this.#touched.outputs.add(id);
    setRow(this.state.outputs, id, value);
  }

  command(id: string): Command | undefined {
    return ownProperty(this.state.commands, id);
  }

  /** Gives a command that wants an answer: it stays on the account until `settleCommand`. */
  expect(command: Command): void {
    this.#touched.commands.add(command.id);
    this.#fresh.add(command.id);
    setRow(this.state.commands, command.id, command);
    this.#commands.push(command);
  }

  /** Gives a command that wants no answer. */
  tell(command: Command): void {
    this.#commands.push(command);
  }

  /** Takes a command off the account, because it was answered or given up. */
  settleCommand(id: string): void {
    // A row that comes and goes within one step leaves no trace.
    if (this.#fresh.delete(id)) this.#touched.commands.delete(id);
    else this.#touched.commands.add(id);
    delete this.state.commands[id];
  }

  report(fact: Fact): void {
    this.#facts.push(fact);
  }

  /** Everything recorded. Each touched row is named once, as it stands now. */
  advance(): Advance {
    return { state: this.state, changes: this.#changes(), commands: this.#commands, facts: this.#facts };
  }

  #changes(): Change[] {
    const { run, input, nodes, outputs, commands } = this.state;
    const changes: Change[] = [];
    for (const key of this.#touched.run) changes.push({ op: 'put', table: 'run', key, row: run });
    for (const key of this.#touched.input) changes.push({ op: 'put', table: 'input', key, row: input });
    for (const key of this.#touched.nodes) {
      const row = ownProperty(nodes, key);
      if (row !== undefined) changes.push({ op: 'put', table: 'nodes', key, row });
    }
    for (const key of this.#touched.outputs) {
      const row = ownProperty(outputs, key);
      if (row !== undefined) changes.push({ op: 'put', table: 'outputs', key, row });
    }
    for (const key of this.#touched.commands) {
      const row = ownProperty(commands, key);
      if (row === undefined) changes.push({ op: 'delete', table: 'commands', key });
      else changes.push({ op: 'put', table: 'commands', key, row });
    }
    return changes;
  }
}

/** Plain assignment, but safe for the one key that is not a plain property. */
function setRow<T>(table: Record<string, T>, key: string, row: T): void {
  if (key === '__proto__') {
    Object.defineProperty(table, key, { value: row, writable: true, enumerable: true, configurable: true });
  } else {
    table[key] = row;
  }
}
