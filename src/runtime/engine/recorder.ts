import type {
  Advance,
  Change,
  Command,
  ContainerRow,
  Fact,
  NodeRow,
  OwedCommand,
  RunRow,
  RunState,
  ScopeRow,
  TableName,
  Tables,
} from './contract.js';
import { type Draft, Table } from './table.js';

/** In the order in which changes to them are told. */
const TABLES: readonly TableName[] = [
  'scopes',
  'containers',
  'nodes',
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
  'commands',
];

const copyScope = (row: ScopeRow): ScopeRow => ({ ...row });
const copyContainer = (row: ContainerRow): ContainerRow => ({ ...row });
const copyNode = (row: NodeRow): NodeRow => ({ ...row });

/** Writes to a run's tables and keeps the account of it: the rows touched, the commands given, the facts reported. */
export class Recorder {
  readonly state: RunState;
  readonly tables: { readonly [T in TableName]: Table<Tables[T]> };
  readonly #commands: Command[] = [];
  readonly #facts: Fact[] = [];
  #isRunTouched = false;
  #runDraft: Draft<RunRow> | undefined;
  #areConstantsNew = false;

  constructor(state: RunState) {
    this.state = state;
    this.tables = {
      scopes: new Table(state.scopes, copyScope),
      containers: new Table(state.containers, copyContainer),
      nodes: new Table(state.nodes, copyNode),
      outputs: new Table(state.outputs),
      inputs: new Table(state.inputs),
      items: new Table(state.items),
      fields: new Table(state.fields),
      undoing: new Table(state.undoing),
      effects: new Table(state.effects),
      generations: new Table(state.generations),
      unknown: new Table(state.unknown),
      abandoned: new Table(state.abandoned),
      failedItems: new Table(state.failedItems),
      submissions: new Table(state.submissions),
      commands: new Table(state.commands),
    };
  }

  get run(): RunRow {
    return this.state.run;
  }

  putRun(row: RunRow): void {
    this.#isRunTouched = true;
    this.state.run = row;
  }

  /** The run's row to be changed in place: see `Table.draft`. */
  draftRun(): Draft<RunRow> {
    if (this.#runDraft !== undefined && this.#runDraft === this.state.run) return this.#runDraft;
    this.#runDraft = { ...this.state.run };
    this.putRun(this.#runDraft);
    return this.#runDraft;
  }

  /** Puts the rows that never change, with which the state was opened. */
  recordConstants(): void {
    this.#areConstantsNew = true;
  }

  /** Gives a command that wants an answer: it stays on the account until `settleCommand`. */
  expect(command: Command & { readonly dueAt?: number }): void {
    const run = this.draftRun();
    const seq = (run.commands ?? 0) + 1;
    run.commands = seq;
    const owed = { ...command, seq } as OwedCommand;
    this.tables.commands.put(command.id, owed);
    this.#commands.push(owed);
  }

  /** Gives a command that wants no answer. */
  tell(command: Command): void {
    this.#commands.push(command);
  }

  /** Takes a command off the account, because it was answered or given up. False where it is not on it. */
  settleCommand(id: string): boolean {
    return this.tables.commands.delete(id);
  }

  report(fact: Fact): void {
    this.#facts.push(fact);
  }

  /** Everything recorded. Each touched row is named once, in its latest form. */
  advance(consumed: number): Advance {
    return {
      ...{ state: this.state, changes: this.#changes(), commands: this.#commands, facts: this.#facts },
      ...{ more: this.state.run.owed !== undefined, consumed },
    };
  }

  #changes(): Change[] {
    const { run, input, tools } = this.state;
    const changes: Change[] = [];
    if (this.#isRunTouched) changes.push({ op: 'put', table: 'run', key: run.id, row: run });
    if (this.#areConstantsNew) {
      changes.push({ op: 'put', table: 'input', key: run.id, row: input });
      changes.push({ op: 'put', table: 'tools', key: run.id, row: tools });
    }
    for (const name of TABLES) {
      const table = this.tables[name] as Table<Tables[TableName]>;
      for (let touch = table.firstTouch; touch !== undefined; touch = touch.next) {
        const { key } = touch;
        const row = table.get(key);
        if (row !== undefined) changes.push({ op: 'put', table: name, key, row } as Change);
        // A row that comes and goes within one step leaves no trace.
        else if (touch.stoodThere) changes.push({ op: 'delete', table: name, key });
      }
    }
    return changes;
  }
}
