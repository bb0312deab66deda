import { Budget, type EvaluationScope, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/references.js';
import type { DictEntry, Expr, RefExpr } from '../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import type { ComputeNode, Graph, Node } from '../../graph/model.js';
import { fallbackValue, valueExpressions } from '../../graph/node-expressions.js';
import { SHORT_SECRET } from '../catalogue/mask.js';
import type { Fact, RunState } from '../engine/contract.js';

/** What a part of an expression may cost: as much as all expressions of a turn of the engine. See `Budget`. */
const EXPRESSION_BUDGET = 1_000_000;

/** Names bound around an expression that stand for what derives from a secret. */
type Locals = ReadonlySet<string>;
const NO_LOCALS: Locals = new Set();

/**
 * The values of a run that derive from its secrets: `token.split(':')[1]`, and what later steps make of that. A tool's
 * result derives from nothing: where it repeats a secret or a derived value, that is found by its text. Neither does
 * what a secret only decides, by the test of a condition, nor the fallback of a step as a whole.
 */
export class DerivedSecrets {
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #returns: Expr | undefined;
  readonly #isSecret: (input: string) => boolean;
  readonly #known = new Map<string, boolean>();

  /** @param isSecret whether the input of this name is a secret. */
  constructor(graph: Graph, isSecret: (input: string) => boolean) {
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.#returns = graph.returns;
    this.#isSecret = isSecret;
  }

  /** Whether a secret goes into the value of an expression. */
  mentions(expr: Expr, locals: Locals = NO_LOCALS): boolean {
    return references(expr).some(({ ref }) => this.#isDerived(ref, locals));
  }

  /**
   * The inputs that the value of a step derives from, secret ones and others; nothing where no secret is among them, or
   * the reference is to no step.
   */
  sourcesOf(ref: RefExpr): readonly string[] | undefined {
    if (ref.root !== 'steps' || !this.#isDerived(ref, NO_LOCALS)) return undefined;
    return [...this.#inputsBehind(String(ref.path[0]), new Set())];
  }

  /**
   * The derived values that exist from this fact on.
   * @param state the run as it stands then.
   */
  revealedBy(fact: Fact, state: RunState): Json[] {
    if (fact.kind === 'finished')
      return this.#returns === undefined ? [] : this.#valuesIn(this.#returns, state);
    const node = this.#nodes.get(fact.node);
    if (node === undefined) return [];
    switch (fact.kind) {
      case 'nodeStarted':
      case 'nodeSucceeded':
      case 'nodeFailed':
        return [
          ...[...valueExpressions(node), node.guidance, node.summary].flatMap((expr) =>
            expr === undefined ? [] : this.#valuesIn(expr, state),
          ),
          ...(fact.kind === 'nodeSucceeded' ? this.#returnedBy(node, state) : []),
        ];
      case 'handled': {
        const { code, message } = fact.failure;
        const value = fallbackValue(node);
        const error = { code, message, attempts: fact.attempts, node: node.id };
        return value === undefined ? [] : this.#valuesIn(value, state, error);
      }
      default:
        return [];
    }
  }

  /** What a function made of a secret. */
  #returnedBy(node: Node, { outputs }: RunState): Json[] {
    if (node.kind !== 'compute' || node.function === undefined || !this.mentions(node.value)) return [];
    const output = ownProperty(outputs, node.id);
    return output === undefined ? [] : [...leavesOf(output)];
  }

  #valuesIn(expr: Expr, state: RunState, error?: JsonObject): Json[] {
    const scope: EvaluationScope = {
      lookup(root, name) {
        if (root === 'inputs') return ownProperty(state.input, String(name));
        if (root === 'steps') return ownProperty(state.outputs, String(name));
        return root === 'error' && error !== undefined ? ownProperty(error, String(name)) : undefined;
      },
    };
    return this.#parts(expr, NO_LOCALS).flatMap((part) => {
      const value = evaluated(part, scope);
      return value === undefined ? [] : [...leavesOf(value)];
    });
  }

  /** The largest parts of an expression whose values derive from secrets. What only stands beside them is none. */
  #parts(expr: Expr, locals: Locals): Expr[] {
    const within = (exprs: readonly (Expr | undefined)[]): Expr[] =>
      exprs.flatMap((part) => (part === undefined ? [] : this.#parts(part, locals)));
    switch (expr.kind) {
      case 'dict':
        return within(expr.entries.map(valueIn));
      case 'list':
        return within(expr.items.map(({ value }) => value));
      case 'text':
        return within(expr.parts.filter((part) => typeof part !== 'string'));
      case 'conditional':
        return within([expr.then, expr.else]);
      case 'and':
      case 'or':
        return within(expr.items);
      case 'arithmetic':
        // The text that two texts make up holds both.
        return [
          ...this.#whole(expr, locals),
          ...(expr.op === 'add.js' ? within([expr.left, expr.right]) : []),
        ];
      case 'call':
        if (expr.fn === 'coalesce') return within(expr.args);
        return [...this.#whole(expr, locals), ...(expr.fn === 'join.js' ? within(expr.args) : [])];
      case 'let': {
        const { name, value, body } = expr;
        const isDerived = this.mentions(value, locals);
        const inside = new Set([...locals].filter((local) => local !== name).concat(isDerived ? [name] : []));
        return this.#parts(body, inside).map((part) => ({ kind: 'let', name, value, body: part }));
      }
      default:
        return this.#whole(expr, locals);
    }
  }

  #whole(expr: Expr, locals: Locals): Expr[] {
    return this.mentions(expr, locals) ? [expr] : [];
  }

  #isDerived({ root, path: [first, ...rest] }: RefExpr, locals: Locals): boolean {
    const name = String(first);
    if (root === 'inputs') return this.#isSecret(name);
    if (root === 'local') return locals.has(name);
    return root === 'steps' && this.#isDerivedStep(name, rest);
  }

  #isDerivedStep(id: string, path: readonly (string | number)[]): boolean {
    const key = JSON.stringify([id, path]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // A step that waits for itself never has a value.
    this.#known.set(key, false);
    const node = this.#nodes.get(id);
    const isDerived = node?.kind === 'compute' && this.#isDerivedValue(node, path);
    this.#known.set(key, isDerived);
    return isDerived;
  }

  #isDerivedValue({ value, function: fn }: ComputeNode, path: readonly (string | number)[]): boolean {
    return this.mentions(fn === undefined ? partAt(value, path) : value);
  }

  #inputsBehind(id: string, seen: Set<string>): Set<string> {
    const node = this.#nodes.get(id);
    if (node?.kind !== 'compute' || seen.has(id)) return new Set();
    seen.add(id);
    const behind = references(node.value).flatMap(({ ref: { root, path } }) => {
      const name = String(path[0]);
      if (root === 'inputs') return [name];
      return root === 'steps' ? [...this.#inputsBehind(name, seen)] : [];
    });
    return new Set(behind);
  }
}

/** The part of a literal object or list at a path, as far as it can be followed. */
function partAt(expr: Expr, [key, ...rest]: readonly (string | number)[]): Expr {
  if (key === undefined) return expr;
  if (expr.kind === 'dict' && expr.entries.every((entry) => 'key' in entry)) {
    const entry = expr.entries.findLast((candidate) => 'key' in candidate && candidate.key === String(key));
    return entry === undefined ? { kind: 'literal' } : partAt(valueIn(entry), rest);
  }
  if (expr.kind === 'list' && !expr.items.some(({ spread }) => spread)) {
    const item = expr.items[Number(key)];
    return item === undefined ? { kind: 'literal' } : partAt(item.value, rest);
  }
  return expr;
}

function valueIn(entry: DictEntry): Expr {
  return 'key' in entry ? entry.value : entry.spread;
}

/** Without a value in the engine's eyes there is none here. */
function evaluated(expr: Expr, scope: EvaluationScope): Value {
  try {
    return evaluate(expr, scope, new Budget(EXPRESSION_BUDGET));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** The texts and numbers of a value. A short number, such as the length of a secret, stands in too many places. */
function* leavesOf(value: Json): Generator<Json> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') {
    if (String(value).length >= SHORT_SECRET) yield value;
  } else if (Array.isArray(value) || isJsonObject(value)) {
    for (const member of Object.values(value)) yield* leavesOf(member as Json);
  }
}
