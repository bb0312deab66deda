import { defined } from '../../graph/defined.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../graph/json.js';
import type { Compensation, Node } from '../../graph/kinds/node.js';
import type { CallNode, Graph } from '../../graph/model.js';
import { workExpressions } from '../../graph/nodes.js';
import { MASKED } from '../../graph/printable-text.js';
import { planOf } from '../../plan/compile.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import { entryOf, inputName, inputPath, type PlanSecrets, secretsOf } from '../../plan/secrets.js';
import type { Command, Fact, RunState } from '../engine/contract.js';
import type { Action, Approval, AskAction, StepAction } from '../engine/events.js';
import type { NotUndone } from '../engine/read.js';
import { CallMask, hidden, repeats, shortSecretsIn } from './call-mask.js';
import {
  DerivedSecrets,
  type Learned,
  LearnedSecrets,
  learnedIn,
  type SecretRow,
  type StoredRow,
} from './derived-secrets.js';
import { Mask, type Masking, maskedFailure, maskMembers, valuesOf } from './mask.js';

type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

/** What is known of a run's secrets before it begins. */
export interface RunSecrets {
  /** The arguments as values. */
  readonly input?: JsonObject;
  /** The arguments as the caller wrote them, where they were texts. */
  readonly argumentTexts?: readonly (readonly [name: string, text: string])[];
  /** The names of a tool's secret inputs. Default: none. */
  readonly secretInputs?: (tool: string) => readonly string[];
  /** What the run had learned before a restart: see {@link RunMask.takeRows}. */
  readonly rows?: readonly StoredRow[];
}

/**
 * What must not be shown of one run. There is one for each run, and every surface asks it: the trace, answers of tools,
 * questions, errors, logs, middleware.
 *
 * It knows secrets in two ways: by where a value comes from, wherever the expression behind the value is known, and by
 * the texts of all values learned so far. Secret are the secret inputs of the workflow, what its calls give to inputs that
 * their tools call secret, and what the run derives from these. An input of the workflow, an answer and what a
 * call gave are secret as well where they are handed on to such a one. Expressions are at the top of the workflow unless
 * `at` says otherwise.
 */
export class RunMask implements Masking {
  readonly #graph: Graph;
  readonly #declared: PlanSecrets;
  #flow: DerivedSecrets | undefined;
  readonly #secretInputs: (tool: string) => readonly string[];
  /** The texts of its secrets. Most runs have none. */
  #mask = NOTHING;
  #hiding: Hiding | undefined;
  /** Fields of the run's state that hold what derives from a secret. */
  #fields: Set<string> | undefined;
  /** Whether there is anything to follow. */
  #isActive: boolean;
  #learned: LearnedSecrets | undefined;

  constructor(
    graph: Graph,
    { input = {}, argumentTexts = [], secretInputs = none, rows = [] }: RunSecrets = {},
  ) {
    const plan = planOf(graph);
    this.#graph = plan.graph;
    this.#secretInputs = secretInputs;
    const declared = secretsOf(plan, secretInputs);
    this.#declared = declared;
    this.#isActive = declared.any;
    if (!declared.any) return;
    this.#restore(rows);
    const names = graph.inputs.map(({ name }) => name).filter((name) => this.hasName(name));
    for (const value of [
      ...argumentTexts.filter(([name]) => this.hasName(name)).map(([, text]) => text),
      ...valuesOf(input, names),
      ...declared.inputs.flatMap((secret) => (secret.default === undefined ? [] : [secret.default])),
      ...[...declared.arguments].flatMap((expr) =>
        expr.kind === 'literal' && expr.value !== undefined ? [expr.value] : [],
      ),
    ])
      this.#own.add(value);
  }

  #restore(rows: readonly StoredRow[]): void {
    const learned = learnedIn(rows);
    for (const { texts, fields, calls, short } of learned) {
      for (const text of texts) this.#own.add(text);
      for (const field of fields) this.#taint(field);
      for (const { command, node } of calls) this.#hide(command, node, short);
    }
    this.#learned = new LearnedSecrets(learned.length);
  }

  /** What it has learned since the last call, as rows of the run's host. See `LearnedSecrets`. */
  takeRows(): SecretRow[] {
    return this.#learned?.takeRows() ?? [];
  }

  /** Rows could not be written: they are among those it is asked for next. */
  putBack(rows: readonly StoredRow[]): void {
    this.#learned?.putBack(rows);
  }

  #learn(learned: Partial<Learned>): void {
    this.#learned ??= new LearnedSecrets(0);
    this.#learned.add(learned);
  }

  get isEmpty(): boolean {
    return !this.#isActive && this.#mask.isEmpty;
  }

  /** The same, to add to. */
  get #own(): Mask {
    if (this.#mask === NOTHING)
      this.#mask = new Mask([], { onText: (text) => this.#learn({ texts: [text] }) });
    return this.#mask;
  }

  /** Where secrets go. It is looked for where there is one: in most graphs there is none. */
  get #derived(): DerivedSecrets {
    this.#flow ??= new DerivedSecrets(this.#graph, (name) => this.hasName(name), {
      ofTask: this.#declared.has,
      ofStep: this.#declared.pathsOf,
    });
    return this.#flow;
  }

  /** Whether the input of this name is a secret. */
  hasName(input: string): boolean {
    return this.#declared.has(this.#graph.name, input);
  }

  /**
   * True for what a call gives to a secret input of its tool, for a secret input, and for anything that is computed
   * from one. A list, an object and a text may hold other things beside it, and are masked part by part.
   */
  isSecret(expr: Expr, at?: ScopeInstance): boolean {
    if (this.#declared.arguments.has(expr)) return true;
    if (expr.kind === 'list' || expr.kind === 'dict' || expr.kind === 'text') return false;
    return this.#isDerived(expr, at);
  }

  /** Learns the secrets that a fact reveals. @param state the run after the fact. */
  observe(fact: Fact, state: RunState): void {
    if (!this.#isActive) return;
    for (const value of this.#derived.revealedBy(fact, state)) this.#own.add(value);
    if (
      fact.kind === 'stateSet' &&
      this.#derived.mentions({ kind: 'ref', root: 'state', path: [fact.field] })
    )
      this.#taint(fact.field);
    if (fact.kind !== 'callIssued') return;
    for (const value of valuesOf(fact.input, this.#secretInputs(fact.tool))) this.#own.add(value);
  }

  /** What must not be shown of a call that is about to be made. */
  ofCall(command: Call, state: RunState): CallMask {
    const behind = this.#isActive ? this.#derived.inputBehind(command) : undefined;
    if (behind === undefined) return new CallMask(this.#own);
    const mask = new CallMask(this.#own, (input) => {
      const shown = this.json(input, behind.expr, behind.at);
      return isJsonObject(shown) ? shown : input;
    });
    mask.hide(shortSecretsIn(this.#derived.valuesOf(behind, state)));
    return mask;
  }

  /** Learns from the end of a call whether its result has to be hidden. Called before the run takes the result. */
  returned({ id, node }: Call, { hidesAll, short }: CallMask): void {
    if (!hidesAll) return;
    this.#hide(id, node, short);
  }

  #hide(command: string, node: string, short: Iterable<string>): void {
    this.#isActive = true;
    const secrets = [...short];
    this.#learn({ calls: [{ command, node }], short: secrets });
    this.#hiding ??= new Hiding();
    for (const secret of secrets) this.#hiding.short.add(secret);
    this.#hiding.commands.add(command);
    this.#derived.hideResultOf(node);
  }

  #taint(field: string): void {
    if (this.#fields?.has(field)) return;
    this.#fields ??= new Set();
    this.#fields.add(field);
    this.#learn({ fields: [field] });
    this.#derived.flow.taint(field);
  }

  /** The inputs that a secret value derives from; nothing for a reference to none, or to an input of the run. */
  sourcesOf(ref: RefExpr, at?: ScopeInstance): readonly string[] | undefined {
    return this.#isActive ? this.#derived.sourcesOf(ref, at) : undefined;
  }

  /**
   * A text with secrets masked. `expr` is what it was computed from, where that is known: where secrets went into it,
   * the author's own words are left, and every value in it is masked, however short.
   */
  text(text: string, expr?: Expr, at?: ScopeInstance): string {
    if (expr === undefined || !this.#isDerived(expr, at)) return this.#mask.text(text);
    if (expr.kind !== 'text') return MASKED;
    return this.#mask.text(expr.parts.map((part) => (typeof part === 'string' ? part : MASKED)).join(''));
  }

  /** A value with secrets masked. `expr` is what it was computed from, where that is known. */
  json(value: Json, expr?: Expr, at?: ScopeInstance): Json {
    if (expr === undefined || this.isEmpty) return this.#mask.json(value);
    if (this.isSecret(expr, at)) return MASKED;
    if (typeof value === 'string') return this.text(value, expr, at);
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.json(item, itemOf(expr, index), at));
    }
    if (!isJsonObject(value)) return this.#mask.json(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        this.text(key),
        this.json(member, entryOf(expr, key), at),
      ]),
    );
  }

  /** The value of a step, without what in it derives from secrets. */
  output(value: Json, node: NodeInstance, path: readonly (string | number)[] = []): Json {
    if (!this.#isActive || !this.#derived.flow.reaches(node.planned, node.scope, path))
      return this.#mask.json(value);
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.output(item, node, [...path, index]));
    }
    if (!isJsonObject(value)) return MASKED;
    const members = Object.entries(value).map(
      ([key, member]) => [this.#key(key), this.output(member, node, [...path, key])] as const,
    );
    return Object.fromEntries(members);
  }

  /** The value of a step by its key, or a part of it. */
  outputOf(step: string, value: Json, path: readonly (string | number)[] = []): Json {
    return this.#isActive
      ? this.output(value, this.#derived.instances.find(step), path)
      : this.#mask.json(value);
  }

  /** What a call has given back, by the id of its command. */
  callResult(value: Json, command: string): Json {
    return this.#hiding?.commands.has(command)
      ? hidden(value, (key) => this.#key(key))
      : this.#mask.json(value);
  }

  /** The result of a run. @param endedBy the step that ended it with a value, if one did. */
  result(value: Json, endedBy: string | undefined): Json {
    if (!this.#isActive) return this.#mask.json(value);
    if (endedBy === undefined) return this.json(value, this.#graph.returns);
    const { planned, scope } = this.#derived.instances.find(endedBy);
    return this.json(value, planned.node.kind === 'return' ? planned.node.value : undefined, scope);
  }

  arguments(input: JsonObject): JsonObject {
    const names = Object.keys(input).filter((name) => this.hasName(name));
    return this.#mask.json(maskMembers(input, names)) as JsonObject;
  }

  guidance(text: string, step: string): string {
    if (!this.#isActive) return this.#mask.text(text);
    const { planned, scope } = this.#derived.instances.find(step);
    return this.text(text, planned.node.guidance, scope);
  }

  /** What a step asks for. The schema is the same object where there is nothing to mask in it. */
  action<A extends Action>(step: string, action: A): A;
  action(step: string, action: Action): Action {
    if (this.isEmpty) return action;
    switch (action.type) {
      case 'ask':
        return this.#question(step, action);
      case 'step':
        return this.#stopped(step, action);
      default:
        return this.#work(step, action);
    }
  }

  #stopped(step: string, action: StepAction): StepAction {
    const failure = maskedFailure(action.failure, this.#mask);
    const { args } = action;
    return { ...action, failure, ...(args === undefined ? {} : { args: this.pausedInput(step, args) }) };
  }

  /** Work of the client: each parameter is masked by the expression of it. */
  #work(step: string, action: Exclude<Action, AskAction | StepAction>): Action {
    const { planned, scope } = this.#derived.instances.find(step);
    const parameters = action as unknown as JsonObject;
    const shown = Object.entries(workExpressions(planned.node)).flatMap(([name, expr]) => {
      const value = ownProperty(parameters, name);
      return value === undefined ? [] : [[name, this.json(value, expr, scope)] as const];
    });
    return { ...action, ...Object.fromEntries(shown) };
  }

  #question(step: string, action: AskAction): AskAction {
    const { planned, scope } = this.#derived.instances.find(step);
    const asked = planned.node.kind === 'ask' ? planned.node : undefined;
    const { message, options, schema, approves } = action;
    const call = planned.scope.workflow.byId.get(asked?.approves ?? '')?.node;
    const args = call?.kind === 'call' ? call.input : undefined;
    const permitted = approves && this.#approval(approves, args, scope);
    const shown = options?.map((option, index) =>
      String(this.json(option, asked?.options && itemOrWhole(asked.options, index), scope)),
    );
    const secret = options?.filter((option, index) => option !== shown?.[index]) ?? [];
    const masked = new Mask(secret).json(this.#mask.json(schema)) as JsonObject;
    return {
      ...action,
      message: this.text(message, asked?.message, scope),
      ...defined({ options: shown, approves: permitted }),
      schema: JSON.stringify(masked) === JSON.stringify(schema) ? schema : masked,
    };
  }

  /** A digest of what holds a secret would let a reader try values of it. */
  #approval(approves: Approval, args: Expr | undefined, scope: ScopeInstance): Approval {
    const input = this.#input(approves.tool, approves.input, args, scope);
    const isWhole = JSON.stringify(input) === JSON.stringify(approves.input);
    return { ...approves, input, ...(isWhole ? {} : { digest: MASKED }) };
  }

  item(value: Json, loop: NodeInstance, index: number): Json {
    const { node } = loop.planned;
    if (node.kind !== 'foreach') return this.#mask.json(value);
    return this.json(value, itemOrWhole(node.items, index), loop.scope);
  }

  /** The same, by the key of the loop. */
  itemOf(loop: string, index: number, value: Json): Json {
    return this.#isActive
      ? this.item(value, this.#derived.instances.find(loop), index)
      : this.#mask.json(value);
  }

  /** What a workflow is given. */
  handedTo(input: JsonObject, node: NodeInstance): JsonObject {
    if (!this.#isActive) return this.#mask.json(input) as JsonObject;
    const inside = this.#derived.instances.part(node, 0);
    const members = Object.entries(input).map(
      ([name, value]) =>
        [name, this.#derived.flow.isInput(name, inside) ? MASKED : this.#mask.json(value)] as const,
    );
    return Object.fromEntries(members);
  }

  /** The input of a compensating call, its secrets masked. */
  compensation(fact: Extract<Fact, { kind: 'callIssued' }>): Json {
    const behind = this.#isActive ? this.#derived.compensationBehind(fact) : undefined;
    const input = maskMembers(fact.input, this.#secretInputs(fact.tool));
    return behind === undefined ? this.#mask.json(input) : this.json(input, behind.expr, behind.at);
  }

  /**
   * The input of a compensation that is still to be made, its secrets masked.
   *
   * @param nameOf names an argument of the prompt by its path. With it a secret that the caller has given is named,
   * wherever it is used and however many workflows it was handed down through, for the caller to fill in.
   */
  notUndone(
    { step, by, tool, input }: Pick<NotUndone, 'step' | 'by' | 'tool'> & { readonly input: JsonObject },
    nameOf?: (path: string) => string,
  ): JsonObject {
    const { planned, scope } = this.#derived.instances.find(by?.node ?? step);
    const expr = compensationIn(planned.node, by?.step)?.input;
    return this.#input(tool, input, expr, scope, nameOf);
  }

  /** The input of a call of a step that stopped, its secrets masked. @param nameOf see `notUndone`. */
  pausedInput(step: string, input: JsonObject, nameOf?: (path: string) => string): JsonObject {
    const { planned, scope } = this.#derived.instances.find(step);
    const { node } = planned;
    return node.kind === 'call' ? this.#input(node.tool, input, node.input, scope, nameOf) : input;
  }

  #input(
    tool: string | undefined,
    input: JsonObject,
    expr: Expr | undefined,
    at: ScopeInstance,
    nameOf?: (path: string) => string,
  ): JsonObject {
    const masked = maskMembers(input, tool === undefined ? [] : this.#secretInputs(tool));
    if (!this.#isActive) return this.#mask.json(masked) as JsonObject;
    const shown = this.json(masked, expr, at);
    const named = nameOf === undefined ? shown : this.#named(shown, expr, at, nameOf);
    return isJsonObject(named) ? named : {};
  }

  /** The input of a call that was not made, its secrets masked but for placeholders of the workflow's own inputs. */
  pending({ tool, input }: CallNode, value: JsonObject): JsonObject {
    const names = this.#secretInputs(tool).filter((name) => inputName(entryOf(input, name)) === undefined);
    const shown = this.#mask.json(maskMembers(value, names));
    return isJsonObject(shown) ? shown : {};
  }

  /** What is masked, named as the argument of the prompt where it is one. */
  #named(value: Json, expr: Expr | undefined, at: ScopeInstance, nameOf: (path: string) => string): Json {
    if (expr === undefined) return value;
    if (expr.kind === 'text' && typeof value === 'string' && value.includes(MASKED)) {
      const parts = expr.parts.map((part) =>
        typeof part === 'string' ? part : this.#named(MASKED, part, at, nameOf),
      );
      return this.#mask.text(parts.join(''));
    }
    if (value === MASKED) {
      const path = argumentPath(expr, at);
      return path === undefined ? value : nameOf(path.join('.'));
    }
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => this.#named(item, itemOf(expr, index), at, nameOf));
    }
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(
      ([key, member]) => [key, this.#named(member, entryOf(expr, key), at, nameOf)] as const,
    );
    return Object.fromEntries(members);
  }

  #isDerived(expr: Expr, at?: ScopeInstance): boolean {
    return this.#isActive && this.#derived.mentions(expr, at);
  }

  /** A key of what a call that hides everything has given back, or of what was made of that. */
  #key(key: string): string {
    return repeats(key, this.#hiding?.short ?? []) ? MASKED : this.#mask.text(key);
  }
}

/** What undoes a call, or a step of a `compensate` node. */
function compensationIn(node: Node, step: number | undefined): Compensation | undefined {
  if (step === undefined) return node.compensate;
  return node.kind === 'compensate' ? node.steps[step] : undefined;
}

/** What hides all that some calls have given back. */
class Hiding {
  /** Secrets that are too short to be searched for. */
  readonly short = new Set<string>();
  /** The commands of calls with such a secret in their input. */
  readonly commands = new Set<string>();
}

/** Shared by all runs without a secret: nothing is added to it. */
const NOTHING = new Mask();

/** The default: no tool has a secret input. */
function none(): readonly string[] {
  return [];
}

/** The path to a value in the arguments of the run, where an expression is one of them, handed down as it is. */
function argumentPath(expr: Expr, { workflow: { node } }: ScopeInstance): RefExpr['path'] | undefined {
  const path = inputPath(expr);
  if (path === undefined || node === undefined) return path;
  const model = node.planned.node;
  let input: Expr | undefined = model.kind === 'workflow' ? model.input : undefined;
  let rest = path;
  for (; input?.kind === 'dict' && rest.length > 0; rest = rest.slice(1))
    input = entryOf(input, String(rest[0]));
  const around = input && argumentPath(input, node.scope);
  return around && [...around, ...rest];
}

/** The item of a literal list at an index. */
function itemOf(expr: Expr, index: number): Expr | undefined {
  if (expr.kind !== 'list' || expr.items.some((item) => item.spread)) return undefined;
  return expr.items[index]?.value;
}

function itemOrWhole(expr: Expr, index: number): Expr {
  return itemOf(expr, index) ?? expr;
}
