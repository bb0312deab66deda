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

const copyScope = (row: ScopeRow): ScopeRow => ({ ...row });
const copyContainer = (row: ContainerRow): ContainerRow => ({ ...row });
const copyNode = (row: NodeRow): NodeRow => ({ ...row });

/** The tables of a run. One is opened when somebody asks for it: an event touches few of them. */
class OpenTables {
  readonly #state: RunState;
  #scopes: Table<Tables['scopes']> | undefined;
  #containers: Table<Tables['containers']> | undefined;
  #nodes: Table<Tables['nodes']> | undefined;
  #outputs: Table<Tables['outputs']> | undefined;
  #inputs: Table<Tables['inputs']> | undefined;
  #items: Table<Tables['items']> | undefined;
  #fields: Table<Tables['fields']> | undefined;
  #undoing: Table<Tables['undoing']> | undefined;
  #effects: Table<Tables['effects']> | undefined;
  #generations: Table<Tables['generations']> | undefined;
  #unknown: Table<Tables['unknown']> | undefined;
  #abandoned: Table<Tables['abandoned']> | undefined;
  #failedItems: Table<Tables['failedItems']> | undefined;
  #submissions: Table<Tables['submissions']> | undefined;
  #commands: Table<Tables['commands']> | undefined;

  constructor(state: RunState) {
    this.#state = state;
  }

  get scopes(): Table<Tables['scopes']> {
    this.#scopes ??= new Table(this.#state.scopes, copyScope);
    return this.#scopes;
  }

  get containers(): Table<Tables['containers']> {
    this.#containers ??= new Table(this.#state.containers, copyContainer);
    return this.#containers;
  }

  get nodes(): Table<Tables['nodes']> {
    this.#nodes ??= new Table(this.#state.nodes, copyNode);
    return this.#nodes;
  }

  get outputs(): Table<Tables['outputs']> {
    this.#outputs ??= new Table(this.#state.outputs);
    return this.#outputs;
  }

  get inputs(): Table<Tables['inputs']> {
    this.#inputs ??= new Table(this.#state.inputs);
    return this.#inputs;
  }

  get items(): Table<Tables['items']> {
    this.#items ??= new Table(this.#state.items);
    return this.#items;
  }

  get fields(): Table<Tables['fields']> {
    this.#fields ??= new Table(this.#state.fields);
    return this.#fields;
  }

  get undoing(): Table<Tables['undoing']> {
    this.#undoing ??= new Table(this.#state.undoing);
    return this.#undoing;
  }

  get effects(): Table<Tables['effects']> {
    this.#effects ??= new Table(this.#state.effects);
    return this.#effects;
  }

  get generations(): Table<Tables['generations']> {
    this.#generations ??= new Table(this.#state.generations);
    return this.#generations;
  }

  get unknown(): Table<Tables['unknown']> {
    this.#unknown ??= new Table(this.#state.unknown);
    return this.#unknown;
  }

  get abandoned(): Table<Tables['abandoned']> {
    this.#abandoned ??= new Table(this.#state.abandoned);
    return this.#abandoned;
  }

  get failedItems(): Table<Tables['failedItems']> {
    this.#failedItems ??= new Table(this.#state.failedItems);
    return this.#failedItems;
  }

  get submissions(): Table<Tables['submissions']> {
    this.#submissions ??= new Table(this.#state.submissions);
    return this.#submissions;
  }

  get commands(): Table<Tables['commands']> {
    this.#commands ??= new Table(this.#state.commands);
    return this.#commands;
  }

  /** Adds the changes to those that were opened. */
  addChanges(changes: Change[]): void {
    if (this.#scopes !== undefined) addChanges(changes, 'scopes', this.#scopes);
    if (this.#containers !== undefined) addChanges(changes, 'containers', this.#containers);
    if (this.#nodes !== undefined) addChanges(changes, 'nodes', this.#nodes);
    if (this.#outputs !== undefined) addChanges(changes, 'outputs', this.#outputs);
    if (this.#inputs !== undefined) addChanges(changes, 'inputs', this.#inputs);
    if (this.#items !== undefined) addChanges(changes, 'items', this.#items);
    if (this.#fields !== undefined) addChanges(changes, 'fields', this.#fields);
    if (this.#undoing !== undefined) addChanges(changes, 'undoing', this.#undoing);
    if (this.#effects !== undefined) addChanges(changes, 'effects', this.#effects);
    if (this.#generations !== undefined) addChanges(changes, 'generations', this.#generations);
    if (this.#unknown !== undefined) addChanges(changes, 'unknown', this.#unknown);
    if (this.#abandoned !== undefined) addChanges(changes, 'abandoned', this.#abandoned);
    if (this.#failedItems !== undefined) addChanges(changes, 'failedItems', this.#failedItems);
    if (this.#submissions !== undefined) addChanges(changes, 'submissions', this.#submissions);
    if (this.#commands !== undefined) addChanges(changes, 'commands', this.#commands);
  }
}

/** Each touched row is named once, in its latest form. */
function addChanges<T extends TableName>(changes: Change[], name: T, table: Table<Tables[T]>): void {
  for (let touch = table.firstTouch; touch !== undefined; touch = touch.next) {
    const { key } = touch;
    const row = table.get(key);
    if (row !== undefined) changes.push({ op: 'put', table: name, key, row } as Change);
    // A row that comes and goes within one step leaves no trace.
    else if (touch.stoodThere) changes.push({ op: 'delete', table: name, key });
  }
}

/** Writes to a run's tables and keeps the account of it: the rows touched, the commands given, the facts reported. */
export class Recorder {
  readonly state: RunState;
  readonly tables: OpenTables;
  readonly #commands: Command[] = [];
  readonly #facts: Fact[] = [];
  #isRunTouched = false;
  #runDraft: Draft<RunRow> | undefined;
  #areConstantsNew = false;

  constructor(state: RunState) {
    this.state = state;
    this.tables = new OpenTables(state);
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

  /** Gives a command that wants an answer: it stays on the account until `settleCommand`. Takes the object over. */
  expect(command: Command & { readonly dueAt?: number }): void {
    const run = this.draftRun();
    const seq = (run.commands ?? 0) + 1;
    run.commands = seq;
    // Made for this purpose by its caller: a copy of each command would cost more than the rest of this.
    const owed = command as Draft<OwedCommand>;
    owed.seq = seq;
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
    const { state } = this;
    return {
      state,
      changes: this.#changes(),
      commands: this.#commands,
      facts: this.#facts,
      more: state.run.owed !== undefined,
      consumed,
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
    this.tables.addChanges(changes);
    return changes;
  }
}
