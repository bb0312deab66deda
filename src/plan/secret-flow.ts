import { references } from '../graph/expression/traversal.js';
import type { DictEntry, Expr, RefExpr } from '../graph/expression/tree.js';
import { unreachable } from '../graph/json.js';
import { hasDerivedValue } from '../graph/kinds/kinds.js';
import { MAX_WORKFLOW_DEPTH } from '../graph/limits.js';
import type { Plan, PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';
import { entryOf, loopNamed } from './secrets.js';

type Path = readonly (string | number)[];

/** Names bound around an expression whose values derive from a secret. */
export type Locals = ReadonlySet<string>;
export const NO_LOCALS: Locals = new Set();

/** A workflow by the nodes that run it; the items of a loop around it are not distinguished. */
interface Frame {
  readonly id: string;
  readonly plan: WorkflowPlan;
  readonly depth: number;
  readonly caller?: { readonly frame: Frame; readonly node: PlannedNode };
}

/** A workflow of a run, by the nodes that run it. */
export interface WorkflowPosition {
  /** The node that runs it; none for the workflow that the run was started on. */
  readonly node?: { readonly planned: PlannedNode; readonly scope: ScopePosition };
}

export interface ScopePosition {
  readonly plan: ScopePlan;
  readonly workflow: WorkflowPosition;
}

interface ExpressionScope {
  readonly frame: Frame;
  readonly scope: ScopePlan;
}

/** The sources of secrets: inputs and values of steps. */
export interface SecretInputs {
  /** Of the workflow the run was started on. */
  readonly ofRun: (name: string) => boolean;
  /** Of a workflow that it runs. Default: those that are declared secret. */
  readonly ofTask?: (workflow: string, name: string) => boolean;
  /** The secret paths in the result of a call or an answer. Default: none. */
  readonly ofStep?: (workflow: string, node: string) => readonly Path[];
}

/**
 * Taint analysis: follows secrets through the expressions of a graph into inputs of other workflows, items of loops,
 * fields of the state, and the values that derive from these. Evaluates nothing.
 */
export class SecretFlow {
  readonly #plan: Plan;
  readonly #inputs: SecretInputs;
  readonly #main: Frame;
  readonly #frames = new Map<string, Frame>();
  readonly #known = new Map<string, boolean>();
  /** Fields of the state that were written with a value that derives from a secret. */
  readonly #fields = new Set<string>();
  /** Nodes whose results must not be shown, by workflow and id. */
  readonly #hidden = new Set<string>();
  /** Increases whenever another value becomes secret. */
  version = 0;

  constructor(plan: Plan, inputs: SecretInputs) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#main = { id: '', plan: plan.main, depth: 1 };
  }

  /** Whether the value of an expression derives from a secret. */
  mentions(expr: Expr, at: ScopePosition, locals: Locals = NO_LOCALS): boolean {
    return this.#mentions(expr, this.#scopeOf(at), locals);
  }

  /** Whether the value of a node, or the part of it at a path, derives from a secret. */
  reaches(node: PlannedNode, at: ScopePosition, path: Path = []): boolean {
    return this.#reachesNode(this.#frameOf(at.workflow), node, path);
  }

  /** Whether an input of the workflow at this position is secret. */
  isInput(name: string, at: ScopePosition): boolean {
    return this.#reachesInput(this.#frameOf(at.workflow), name);
  }

  /** Records that a field of the state was written with a value that derives from a secret. */
  taint(field: string): void {
    if (this.#fields.has(field)) return;
    this.#fields.add(field);
    this.#forget();
  }

  /** Records that the result of this node may repeat a secret in a form that no search finds. */
  hideResult(node: PlannedNode, at: ScopePosition): void {
    const key = nodeIn(this.#frameOf(at.workflow), node);
    if (this.#hidden.has(key)) return;
    this.#hidden.add(key);
    this.#forget();
  }

  /** The id of the workflow instance at a position. */
  frameAt(at: ScopePosition): string {
    return this.#frameOf(at.workflow).id;
  }

  #forget(): void {
    this.#known.clear();
    this.version += 1;
  }

  /** The inputs of the run that the value of a reference derives from, secret or not. */
  inputsBehind(ref: RefExpr, at: ScopePosition): readonly string[] {
    const inputs = new Set<string>();
    this.#collectInputs(ref, this.#scopeOf(at), inputs, new Set());
    return [...inputs];
  }

  #mentions(expr: Expr, at: ExpressionScope, locals: Locals = NO_LOCALS): boolean {
    return references(expr).some(({ ref }) => this.#reachesRef(ref, at, locals));
  }

  #reachesRef({ root, path: [first, ...rest] }: RefExpr, at: ExpressionScope, locals: Locals): boolean {
    const name = String(first);
    switch (root) {
      case 'inputs':
        return this.#reachesInput(at.frame, name);
      case 'local':
        return locals.has(name);
      case 'state':
        return this.#fields.has(name);
      case 'item':
        return this.#reachesItem(at, name, rest);
      case 'steps': {
        const node = at.frame.plan.byId.get(name);
        return node !== undefined && this.#reachesNode(at.frame, node, rest);
      }
      case 'index':
      case 'error':
      case 'nodes':
      case 'run':
        return false;
      default:
        return root satisfies never;
    }
  }

  #reachesInput(frame: Frame, name: string): boolean {
    const { caller, plan } = frame;
    if (caller === undefined) return this.#inputs.ofRun(name);
    const { ofTask = () => plan.graph.inputs.some((input) => input.name === name && input.secret === true) } =
      this.#inputs;
    if (ofTask(plan.graph.name, name)) return true;
    return this.#memoized(`${frame.id}|inputs|${name}`, () => {
      const { node } = caller.node;
      if (node.kind !== 'workflow') return false;
      const argument = valueAtPath(node.input, [name]);
      return this.#mentions(argument, { frame: caller.frame, scope: caller.node.scope });
    });
  }

  #reachesItem({ frame, scope }: ExpressionScope, name: string, path: Path): boolean {
    const loop = loopNamed(scope, name);
    if (loop?.node.kind !== 'foreach') return false;
    const { id, items } = loop.node;
    if (loop.node.as !== name) return this.#reachesNode(frame, loop, path);
    return this.#memoized(`${frame.id}|item|${id}|${JSON.stringify(path)}`, () => {
      const around = { frame, scope: loop.scope };
      return itemsIn(items).some((item) =>
        this.#mentions(item === items ? item : valueAtPath(item, path), around),
      );
    });
  }

  #reachesNode(frame: Frame, planned: PlannedNode, path: Path): boolean {
    if (this.#hidden.has(nodeIn(frame, planned))) return true;
    if (this.#secretPaths(frame, planned).some((secret) => overlap(secret, path))) return true;
    const key = `${frame.id}|steps|${planned.node.id}|${JSON.stringify(path)}`;
    return this.#memoized(key, () =>
      this.#valuesOf(frame, planned, path).some(({ expr, at }) => this.#mentions(expr, at)),
    );
  }

  /** The paths in the value of a node that are secret by themselves. */
  secretPathsOf(node: PlannedNode, at: ScopePosition): readonly Path[] {
    return this.#secretPaths(this.#frameOf(at.workflow), node);
  }

  #secretPaths(frame: Frame, { node }: PlannedNode): readonly Path[] {
    return this.#inputs.ofStep?.(frame.plan.graph.name, node.id) ?? [];
  }

  /** The expressions that produce the value of a node, or the part of it at a path. */
  #valuesOf(
    frame: Frame,
    planned: PlannedNode,
    path: Path,
  ): { readonly expr: Expr; readonly at: ExpressionScope }[] {
    const { node, scope, parts } = planned;
    const here = { frame, scope };
    const [key, ...rest] = path;
    const bodies = (of: readonly ScopePlan[], within: Path) =>
      of.flatMap((part) =>
        part.value === undefined
          ? []
          : [{ expr: valueAtPath(part.value, within), at: { frame, scope: part } }],
      );
    // Answers of tools and people derive from no expression.
    if (!hasDerivedValue(node)) return [];
    switch (node.kind) {
      case 'call':
        return [];
      case 'compute':
        return [{ expr: node.function === undefined ? valueAtPath(node.value, path) : node.value, at: here }];
      case 'branch':
        return bodies(parts, path);
      case 'foreach':
        return bodies(parts, rest);
      case 'parallel':
        return bodies(key === undefined ? parts : parts.filter(({ arm }) => arm === String(key)), rest);
      case 'workflow':
        return this.#resultsOf(frame, planned, path);
      case 'set':
        return node.updates
          .filter(({ field }) => key === undefined || field === String(key))
          .map(({ value }) => ({ expr: valueAtPath(value, rest), at: here }));
      default:
        return unreachable(node);
    }
  }

  #resultsOf(frame: Frame, planned: PlannedNode, path: Path) {
    const inside = this.#frameInside(frame, planned);
    if (inside === undefined || inside.depth > MAX_WORKFLOW_DEPTH) return [];
    const { root, byId, graph } = inside.plan;
    const ends = [...byId.values()].flatMap(({ node, scope }) =>
      node.kind === 'return' ? [{ expr: valueAtPath(node.value, path), at: { frame: inside, scope } }] : [],
    );
    if (graph.returns === undefined) return ends;
    return [{ expr: valueAtPath(graph.returns, path), at: { frame: inside, scope: root } }, ...ends];
  }

  #collectInputs(ref: RefExpr, at: ExpressionScope, inputs: Set<string>, visited: Set<string>): void {
    const { root, path } = ref;
    const { frame, scope } = at;
    const name = String(path[0]);
    const key = `${frame.id}|${root}|${name}`;
    if (root === 'inputs' && frame.caller === undefined) inputs.add(name);
    if (visited.has(key)) return;
    visited.add(key);
    const follow = (expr: Expr, from: ExpressionScope): void => {
      for (const { ref: next } of references(expr)) this.#collectInputs(next, from, inputs, visited);
    };
    if (root === 'inputs' && frame.caller?.node.node.kind === 'workflow') {
      const { node, frame: outer } = frame.caller;
      follow(valueAtPath(frame.caller.node.node.input, [name]), { frame: outer, scope: node.scope });
    } else if (root === 'item') {
      const loop = loopNamed(scope, name);
      if (loop?.node.kind === 'foreach' && loop.node.as !== name)
        for (const value of this.#valuesOf(frame, loop, [])) follow(value.expr, value.at);
      else if (loop?.node.kind === 'foreach') follow(loop.node.items, { frame, scope: loop.scope });
    } else if (root === 'steps') {
      const node = frame.plan.byId.get(name);
      for (const value of node === undefined ? [] : this.#valuesOf(frame, node, [])) {
        follow(value.expr, value.at);
      }
    }
  }

  #memoized(key: string, find: () => boolean): boolean {
    const cached = this.#known.get(key);
    if (cached !== undefined) return cached;
    // A node in a cycle never has a value.
    this.#known.set(key, false);
    const reaches = find();
    this.#known.set(key, reaches);
    return reaches;
  }

  #scopeOf({ workflow, plan }: ScopePosition): ExpressionScope {
    return { frame: this.#frameOf(workflow), scope: plan };
  }

  #frameOf({ node }: WorkflowPosition): Frame {
    if (node === undefined) return this.#main;
    return this.#frameInside(this.#frameOf(node.scope.workflow), node.planned) ?? this.#main;
  }

  #frameInside(frame: Frame, planned: PlannedNode): Frame | undefined {
    const id = `${frame.id}${planned.node.id}/`;
    const cached = this.#frames.get(id);
    if (cached !== undefined) return cached;
    const plan = planned.node.kind === 'workflow' ? this.#plan.tasks.get(planned.node.workflow) : undefined;
    if (plan === undefined) return undefined;
    const inside = { id, plan, depth: frame.depth + 1, caller: { frame, node: planned } };
    this.#frames.set(id, inside);
    return inside;
  }
}

function nodeIn(frame: Frame, { node }: PlannedNode): string {
  return `${frame.id}|${node.id}`;
}

/** The part of a literal object or list at a path, as far as the literal goes. */
function valueAtPath(expr: Expr, [key, ...rest]: Path): Expr {
  if (key === undefined) return expr;
  if (expr.kind === 'dict' && expr.entries.every((entry) => 'key' in entry)) {
    const value = entryOf(expr, String(key));
    return value === undefined ? { kind: 'literal' } : valueAtPath(value, rest);
  }
  if (expr.kind === 'list' && !expr.items.some(({ spread }) => spread)) {
    const item = expr.items[Number(key)];
    return item === undefined ? { kind: 'literal' } : valueAtPath(item.value, rest);
  }
  return expr;
}

export function valueIn(entry: DictEntry): Expr {
  return 'key' in entry ? entry.value : entry.spread;
}

/** The items of a loop if they are a literal list, otherwise the whole expression. */
function itemsIn(items: Expr): readonly Expr[] {
  if (items.kind !== 'list' || items.items.some(({ spread }) => spread)) return [items];
  return items.items.map(({ value }) => value);
}

function overlap(one: Path, other: Path): boolean {
  const shared = Math.min(one.length, other.length);
  return one.slice(0, shared).every((key, index) => String(key) === String(other[index]));
}
