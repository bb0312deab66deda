import { Budget } from '../../graph/expression/evaluate.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../graph/json.js';
import { workOf } from '../../graph/kinds/kinds.js';
import type { Compensation } from '../../graph/kinds/node.js';
import { getOrInsert } from '../../graph/maps.js';
import type { Graph } from '../../graph/model.js';
import { fallbackValue, valueExpressions } from '../../graph/nodes.js';
import { planOf } from '../../plan/compile.js';
import { Instances, type NodeInstance, type ScopeInstance } from '../../plan/instances.js';
import type { Plan } from '../../plan/plan.js';
import { type Locals, NO_LOCALS, SecretFlow, type SecretInputs, valueIn } from '../../plan/secret-flow.js';
import type { Command, Fact, RunState } from '../engine/contract.js';
import { Evaluation, errorOf } from '../engine/evaluation.js';
import { inputOf, nodeRecord, outputOf, scopeOf } from '../engine/read.js';
import { shortSecretsIn } from './call-mask.js';

/** What a part of an expression may cost: as much as all expressions of a transition. See `Budget`. */
const EXPRESSION_BUDGET = 1_000_000;

type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;
type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

/** An expression, and where it is evaluated. */
export interface Behind {
  readonly expr: Expr;
  readonly at: ScopeInstance;
  /** The key of the node it is of, where it may read the failure that the node takes over for. */
  readonly of?: string;
}

/** A part of an expression that a secret goes into. */
interface SecretPart {
  readonly expr: Expr;
  /** A text with secrets in it: a secret itself where one of them is too short to be searched for. */
  readonly isAround?: true;
}

/**
 * The values of a run that derive from its secrets: `token.split(':')[1]`, and what later steps, items of loops and
 * other workflows make of that. A tool's result derives from nothing: where it repeats a secret or a derived value, that
 * is found by its text. Neither does what a secret only decides, by the test of a condition, nor the fallback of a step
 * as a whole.
 */
export class DerivedSecrets {
  readonly #plan: Plan;
  /** The nodes and scopes of the run. */
  readonly instances: Instances;
  /** Where secrets go. */
  readonly flow: SecretFlow;
  /** Secret parts of expressions, by workflow, as long as nothing else becomes a secret. */
  #parts = new WeakMap<Expr, Map<string, readonly SecretPart[]>>();
  #version = 0;

  /**
   * @param isSecret whether the input of this name is a secret.
   * @param more the same for inputs of workflows that the graph runs, and for values of steps.
   */
  constructor(graph: Graph, isSecret: (input: string) => boolean, more: Omit<SecretInputs, 'ofRun'> = {}) {
    this.#plan = planOf(graph);
    this.instances = new Instances(this.#plan);
    this.flow = new SecretFlow(this.#plan, { ofRun: isSecret, ...more });
  }

  /** Whether a secret goes into the value of an expression. @param at its scope. Default: the top. */
  mentions(expr: Expr, at: ScopeInstance = this.instances.root): boolean {
    return this.flow.mentions(expr, at);
  }

  /**
   * The inputs of the run that the value of a step, an item, a field or an input of another workflow derives from,
   * secret ones and others; nothing where no secret is among them, or the reference is to an input of the run.
   */
  sourcesOf(ref: RefExpr, at: ScopeInstance = this.instances.root): readonly string[] | undefined {
    if (ref.root === 'inputs' && at.workflow.node === undefined) return undefined;
    return this.flow.mentions(ref, at) ? this.flow.inputsBehind(ref, at) : undefined;
  }

  /**
   * The derived values that exist from this fact on. A short number, such as the length of a secret, occurs in too
   * many places to be searched for.
   * @param state the run after the fact.
   */
  revealedBy(fact: Fact, state: RunState): Json[] {
    return this.#revealedBy(fact, state).filter(
      (value) => typeof value !== 'number' || shortSecretsIn(value).length === 0,
    );
  }

  #revealedBy(fact: Fact, state: RunState): Json[] {
    // A graph with a fault never runs, and its nodes may not have keys.
    if (this.#plan.fault !== undefined) return [];
    if (fact.kind === 'finished') {
      const { returns } = this.#plan.graph;
      return returns === undefined ? [] : this.#valuesIn(returns, this.instances.root, state);
    }
    if (fact.node === undefined) return [];
    const node = this.instances.find(fact.node);
    switch (fact.kind) {
      case 'nodeStarted':
        return [...this.#expressionsOf(node, state), ...this.#handedTo(node, state)];
      case 'nodeSucceeded':
        return [...this.#expressionsOf(node, state), ...this.#givenBy(node, state)];
      case 'nodeFailed':
        return this.#expressionsOf(node, state);
      case 'handled':
        return this.#fallbackOf(fact, node, state);
      case 'partEnded':
        return this.#partOf(fact, node);
      case 'stateSet':
        return this.#written(fact, node);
      case 'callIssued': {
        const undoing = fact.isCompensation ? this.#compensationOf(fact, node) : undefined;
        return undoing === undefined ? [] : this.#valuesIn(undoing.expr, undoing.at, state);
      }
      case 'nodeSkipped':
      case 'nodeCancelled':
      case 'resourceRequested':
      case 'resourceShown':
      case 'callReturned':
      case 'retrying':
      case 'waiting':
      case 'answered':
      case 'reminded':
      case 'valueRefused':
      case 'jumped':
      case 'branchTaken':
      case 'partStarted':
      case 'compensating':
      case 'compensationSkipped':
      case 'compensated':
        return [];
      default:
        return fact satisfies never;
    }
  }

  /** What a compensating call is given, as the graph writes it, and the scope of that. */
  compensationBehind(fact: FactOf<'callIssued'>): Behind | undefined {
    return this.#compensationOf(fact, this.instances.find(fact.node));
  }

  /** What a call, a read or an evaluation is given, as the graph writes it. */
  inputBehind(command: Call): Behind | undefined {
    const node = this.instances.find(command.node);
    if (command.kind === 'callTool' && command.isCompensation) {
      return this.#compensationOf({ ...command, command: command.id }, node);
    }
    if (command.kind === 'readResource' && command.isOwn) return undefined;
    const [expr] = valueExpressions(node.planned.node);
    return expr === undefined ? undefined : { expr, at: node.scope, of: node.key };
  }

  /** The texts and numbers in the value of an expression that derive from secrets, now. */
  valuesOf({ expr, at, of }: Behind, state: RunState): Json[] {
    return this.#valuesIn(expr, at, state, of === undefined ? undefined : this.#errorOf(of, state));
  }

  /** The result of a step may repeat a secret that no search can find: it is a secret from now on. */
  hideResultOf(step: string): void {
    const { planned, scope } = this.instances.find(step);
    this.flow.hideResult(planned, scope);
  }

  #expressionsOf({ key, planned: { node }, scope }: NodeInstance, state: RunState): Json[] {
    const exprs = [...valueExpressions(node), node.guidance, node.summary];
    const error = this.#errorOf(key, state);
    return exprs.flatMap((expr) => (expr === undefined ? [] : this.#valuesIn(expr, scope, state, error)));
  }

  #errorOf(key: string, state: RunState): JsonObject | undefined {
    const node = nodeRecord(state, key);
    return node === undefined ? undefined : errorOf(node);
  }

  /** What a workflow is given for its secret inputs, wherever that came from. */
  #handedTo(node: NodeInstance, state: RunState): Json[] {
    const input = node.planned.node.kind === 'workflow' ? inputOf(state, node.key) : undefined;
    if (input === undefined) return [];
    const inside = this.instances.part(node, 0);
    return Object.entries(input).flatMap(([name, value]) =>
      this.flow.isInput(name, inside) ? [...leavesOf(value)] : [],
    );
  }

  /** What a function made of a secret, and what a node with bodies made of the values of these. */
  #givenBy(node: NodeInstance, state: RunState): Json[] {
    const { kind } = node.planned.node;
    const work = workOf(node.planned.node);
    if (kind === 'compute' && work === 'none') return [];
    const output = outputOf(state, node.key);
    // What else a tool gave back is known by its step; its texts may be as common as `ok`.
    if (work === 'call') {
      const paths = this.flow.secretPathsOf(node.planned, node.scope);
      return paths.flatMap((path) => [...leavesOf(valueAt(output, path))]);
    }
    return output === undefined ? [] : [...this.#derivedIn(output, node, [])];
  }

  #fallbackOf({ failure, attempts }: FactOf<'handled'>, node: NodeInstance, state: RunState): Json[] {
    const { code, message } = failure;
    const value = fallbackValue(node.planned.node);
    const error = { code, message, attempts, node: node.planned.node.id };
    return value === undefined ? [] : this.#valuesIn(value, node.scope, state, error);
  }

  #partOf({ arm, index, outcome }: FactOf<'partEnded'>, node: NodeInstance): Json[] {
    const part = arm ?? index;
    if (outcome.status !== 'succeeded' || outcome.value === undefined || part === undefined) return [];
    return [...this.#derivedIn(outcome.value, node, [part])];
  }

  #written({ field, value }: FactOf<'stateSet'>, node: NodeInstance): Json[] {
    const { node: model } = node.planned;
    // A `set` writes the members of its value; every other write is that of a whole value.
    const isMember = model.kind === 'set' && model.updates.some((update) => update.field === field);
    const path = isMember ? [field] : [];
    if (!this.flow.reaches(node.planned, node.scope, path)) return [];
    this.flow.taint(field);
    return value === undefined ? [] : [...this.#derivedIn(value, node, path)];
  }

  /** The texts and numbers of a node's value that derive from a secret. */
  *#derivedIn(
    value: Json,
    node: Pick<NodeInstance, 'planned' | 'scope'>,
    path: readonly (string | number)[],
  ): Generator<Json> {
    if (!this.flow.reaches(node.planned, node.scope, path)) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield* this.#derivedIn(item, node, [...path, index]);
    } else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value)) yield* this.#derivedIn(member, node, [...path, key]);
    } else yield* leavesOf(value);
  }

  #compensationOf(
    { command, undoes }: Pick<FactOf<'callIssued'>, 'command' | 'undoes'>,
    node: NodeInstance,
  ): Behind | undefined {
    const { node: model } = node.planned;
    const at = (compensation: Compensation | undefined, scope: ScopeInstance) =>
      compensation === undefined ? undefined : { expr: compensation.input, at: scope };
    if (model.kind === 'compensate') {
      const index = Number.parseInt(command.slice(command.lastIndexOf(':') + 1), 10);
      return at(model.steps[index], node.scope);
    }
    const undone = undoes === undefined ? node : this.instances.find(undoes);
    return at(undone.planned.node.compensate, undone.scope);
  }

  #valuesIn(expr: Expr, at: ScopeInstance, state: RunState, error?: JsonObject): Json[] {
    const parts = this.#partsOf(expr, at);
    if (parts.length === 0) return [];
    const evaluate = (part: SecretPart): Json[] => {
      const reader = new Evaluation(state, new Budget(EXPRESSION_BUDGET), scopeOf(state, at), { error });
      const evaluated = reader.value(part.expr);
      // Without a value in the engine's eyes there is none here.
      if (!evaluated.ok || evaluated.value === undefined) return [];
      return [...this.#leavesOf(part.expr, evaluated.value, at)];
    };
    const values = parts.flatMap((part) => (part.isAround ? [] : evaluate(part)));
    const areAnyShort = values.some((value) => shortSecretsIn(value).length > 0);
    return areAnyShort
      ? [...values, ...parts.flatMap((part) => (part.isAround ? evaluate(part) : []))]
      : values;
  }

  /** The texts and numbers in the value of an expression; of a step's value only those that derive from secrets. */
  #leavesOf(expr: Expr, value: Json, at: ScopeInstance): Iterable<Json> {
    if (expr.kind !== 'ref' || expr.root !== 'steps') return leavesOf(value);
    const [id, ...path] = expr.path;
    const planned = at.workflow.plan.byId.get(String(id));
    return planned === undefined ? [] : this.#derivedIn(value, { planned, scope: at }, path);
  }

  #partsOf(expr: Expr, at: ScopeInstance): readonly SecretPart[] {
    if (this.#version !== this.flow.version) {
      this.#version = this.flow.version;
      this.#parts = new WeakMap();
    }
    const byFrame = getOrInsert(this.#parts, expr, () => new Map<string, readonly SecretPart[]>());
    const frame = this.flow.frameAt(at);
    return getOrInsert(byFrame, frame, () => this.#findParts(expr, at, NO_LOCALS));
  }

  /** The largest parts of an expression whose values derive from secrets.  */
  #findParts(expr: Expr, at: ScopeInstance, locals: Locals): SecretPart[] {
    const within = (exprs: readonly (Expr | undefined)[]): SecretPart[] =>
      exprs.flatMap((part) => (part === undefined ? [] : this.#findParts(part, at, locals)));
    const whole = (): SecretPart[] => (this.flow.mentions(expr, at, locals) ? [{ expr }] : []);
    switch (expr.kind) {
      case 'dict':
        return within(expr.entries.map(valueIn));
      case 'list':
        return within(expr.items.map(({ value }) => value));
      case 'text':
        return [
          ...within(expr.parts.filter((part) => typeof part !== 'string')),
          ...whole().map((part) => ({ ...part, isAround: true as const })),
        ];
      case 'conditional':
        return within([expr.then, expr.else]);
      case 'and':
      case 'or':
        return within(expr.items);
      case 'arithmetic':
        // The text that two texts make up holds both.
        return [...whole(), ...(expr.op === 'add.js' ? within([expr.left, expr.right]) : [])];
      case 'call':
        if (expr.fn === 'coalesce') return within(expr.args);
        return [...whole(), ...(expr.fn === 'join.js' ? within(expr.args) : [])];
      case 'let': {
        const { name, value, body } = expr;
        const isDerived = this.flow.mentions(value, at, locals);
        const inside = new Set([...locals].filter((local) => local !== name).concat(isDerived ? [name] : []));
        return this.#findParts(body, at, inside).map((part) => ({
          ...part,
          expr: { kind: 'let', name, value, body: part.expr },
        }));
      }
      default:
        return whole();
    }
  }
}

function valueAt(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isJsonObject(at) ? ownProperty(at, String(key)) : undefined;
  }
  return at;
}

/** The texts and numbers of a value. */
function* leavesOf(value: Json | undefined): Generator<Json> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield value;
  else if (Array.isArray(value) || isJsonObject(value)) {
    for (const member of Object.values(value)) yield* leavesOf(member as Json);
  }
}

const TABLE = 'secrets' as const;

/** A row that a journal stores of a run; those of the table `secrets` are of this room. */
export interface StoredRow {
  readonly table: string;
  readonly row: Json;
}

export interface SecretRow extends StoredRow {
  readonly table: typeof TABLE;
  readonly key: string;
}

/** What a run has learned of its secrets since it was asked last, as a row has it. Plain JSON. */
export interface Learned {
  /** Texts of secrets, and of what derives from them. */
  readonly texts: readonly string[];
  /** Fields of the run's state that hold what derives from a secret. */
  readonly fields: readonly string[];
  /** Calls that were given a secret too short to be searched for. */
  readonly calls: readonly { readonly command: string; readonly node: string }[];
  /** Such secrets. */
  readonly short: readonly string[];
}

/**
 * Gathers what a run learns of its secrets, for rows of its host. A value that derives from a secret outlasts the part of
 * the state that it was made from, and so does the text that an argument came as: neither can be found again later.
 */
export class LearnedSecrets {
  #learned: Learned[] = [];
  #rows: number;

  /** @param rows how many rows there are. */
  constructor(rows: number) {
    this.#rows = rows;
  }

  add(learned: Partial<Learned>): void {
    this.#learned.push({ ...NOTHING, ...learned });
  }

  /** What was learned since the last call, as a row. */
  takeRows(): SecretRow[] {
    const learned = this.#learned;
    if (learned.length === 0) return [];
    this.#learned = [];
    this.#rows += 1;
    const row = {
      texts: learned.flatMap(({ texts }) => texts),
      fields: learned.flatMap(({ fields }) => fields),
      calls: learned.flatMap(({ calls }) => calls),
      short: learned.flatMap(({ short }) => short),
    };
    return [{ table: TABLE, key: String(this.#rows), row: row as unknown as Json }];
  }

  /** Rows could not be written: what they say is learned again. */
  putBack(rows: readonly StoredRow[]): void {
    const learned = learnedIn(rows);
    this.#learned.unshift(...learned);
    this.#rows -= learned.length;
  }
}

const NOTHING: Learned = { texts: [], fields: [], calls: [], short: [] };

/** What rows of a run's host say of its secrets. */
export function learnedIn(rows: readonly StoredRow[]): Learned[] {
  return rows.flatMap(({ table, row }) => (table === TABLE ? [row as unknown as Learned] : []));
}
