import { references } from '../graph/expression/references.js';
import type { DictEntry, Expr, RefExpr } from '../graph/expression/tree.js';
import { hasDerivedValue } from '../graph/kinds/kinds.js';
import { MAX_WORKFLOW_DEPTH } from '../graph/limits.js';
import type { Input } from '../graph/model.js';
import { unreachable } from '../graph/unreachable.js';
import type { Plan, PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';
import { entryOf, loopNamed } from './secrets.js';

type Path = readonly (string | number)[];

/** Names bound around an expression that stand for what derives from a secret. */
export type Locals = ReadonlySet<string>;
export const NO_LOCALS: Locals = new Set();

/** A workflow by the nodes that run it: all items of a loop around it are one. */
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

/** A scope of a run. */
export interface ScopePosition {
  readonly plan: ScopePlan;
  readonly workflow: WorkflowPosition;
}

/** Where an expression stands. */
interface Place {
  readonly frame: Frame;
  readonly scope: ScopePlan;
}

/** Which inputs and values of steps are secret. */
export interface SecretInputs {
  /** Of the workflow the run was started on. */
  readonly ofRun: (name: string) => boolean;
  /** Of a workflow that it runs. Default: those that are declared so. */
  readonly ofTask?: (workflow: string, name: string) => boolean;
  /** Of what a call or a person gives to a workflow, by the paths. Default: nothing is. */
  readonly ofStep?: (workflow: string, node: string) => readonly Path[];
}

/**
 * Follows secrets through the expressions of a graph: into inputs of other workflows, items of loops, fields of the
 * state, and the values of whatever is made of these. Nothing is evaluated.
 */
export class SecretFlow {
  readonly #plan: Plan;
  readonly #inputs: SecretInputs;
  readonly #main: Frame;
  readonly #frames = new Map<string, Frame>();
  readonly #known = new Map<string, boolean>();
  /** Fields of the state that hold what derives from a secret, or once did. */
  readonly #fields = new Set<string>();
  /** Nodes whose results must not be shown, by workflow and id. */
  readonly #hidden = new Set<string>();
  /** Changes whenever something derives from a secret that did not before. */
  version = 0;

  constructor(plan: Plan, inputs: SecretInputs) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#main = { id: '', plan: plan.main, depth: 1 };
  }

  /** Whether a secret goes into the value of an expression. */
  mentions(expr: Expr, at: ScopePosition, locals: Locals = NO_LOCALS): boolean {
    return this.#mentions(expr, this.#placeOf(at), locals);
  }

  /** Whether a secret goes into the value of a node, or into what stands there at a path. */
  reaches(node: PlannedNode, at: ScopePosition, path: Path = []): boolean {
    return this.#reachesNode(this.#frameOf(at.workflow), node, path);
  }

  /** Whether an input of the workflow at hand is secret. */
  isInput(name: string, at: ScopePosition): boolean {
    return this.#reachesInput(this.#frameOf(at.workflow), name);
  }

  /** A field of the state was written with what derives from a secret. */
  taint(field: string): void {
    if (this.#fields.has(field)) return;
    this.#fields.add(field);
    this.#forget();
  }

  /** What a call, a read or a question of this node gives may repeat a secret that no search can find. */
  hideResult(node: PlannedNode, at: ScopePosition): void {
    const key = nodeIn(this.#frameOf(at.workflow), node);
    if (this.#hidden.has(key)) return;
    this.#hidden.add(key);
    this.#forget();
  }

  /** Which workflow an expression belongs to, by the nodes that run it. */
  frameAt(at: ScopePosition): string {
    return this.#frameOf(at.workflow).id;
  }

  #forget(): void {
    this.#known.clear();
    this.version += 1;
  }

  /** The inputs of the run that the value behind a reference is made of, secret ones and others. */
  inputsBehind(ref: RefExpr, at: ScopePosition): readonly string[] {
    const found = new Set<string>();
    this.#collect(ref, this.#placeOf(at), found, new Set());
    return [...found];
  }

  #mentions(expr: Expr, place: Place, locals: Locals = NO_LOCALS): boolean {
    return references(expr).some(({ ref }) => this.#reachesRef(ref, place, locals));
  }

  #reachesRef({ root, path: [first, ...rest] }: RefExpr, place: Place, locals: Locals): boolean {
    const name = String(first);
    switch (root) {
      case 'inputs':
        return this.#reachesInput(place.frame, name);
      case 'local':
        return locals.has(name);
      case 'state':
        return this.#fields.has(name);
      case 'item':
        return this.#reachesItem(place, name, rest);
      case 'steps': {
        const node = place.frame.plan.byId.get(name);
        return node !== undefined && this.#reachesNode(place.frame, node, rest);
      }
      case 'index':
      case 'error':
      case 'run':
        return false;
      default:
        return root satisfies never;
    }
  }

  #reachesInput(frame: Frame, name: string): boolean {
    const { caller, plan } = frame;
    if (caller === undefined) return this.#inputs.ofRun(name);
    const { ofTask = () => isDeclaredSecret(plan.graph.inputs, name) } = this.#inputs;
    if (ofTask(plan.graph.name, name)) return true;
    return this.#remembered(`${frame.id}|inputs|${name}`, () => {
      const { node } = caller.node;
      if (node.kind !== 'workflow') return false;
      const given = partAt(node.input, [name]);
      return this.#mentions(given, { frame: caller.frame, scope: caller.node.scope });
    });
  }

  #reachesItem({ frame, scope }: Place, name: string, path: Path): boolean {
    const loop = loopNamed(scope, name);
    if (loop?.node.kind !== 'foreach') return false;
    const { id, items } = loop.node;
    return this.#remembered(`${frame.id}|item|${id}|${JSON.stringify(path)}`, () => {
      const around = { frame, scope: loop.scope };
      return itemsIn(items).some((item) =>
        this.#mentions(item === items ? item : partAt(item, path), around),
      );
    });
  }

  #reachesNode(frame: Frame, planned: PlannedNode, path: Path): boolean {
    if (this.#hidden.has(nodeIn(frame, planned))) return true;
    if (this.#secretPaths(frame, planned).some((secret) => overlap(secret, path))) return true;
    const key = `${frame.id}|steps|${planned.node.id}|${JSON.stringify(path)}`;
    return this.#remembered(key, () =>
      this.#valuesOf(frame, planned, path).some(({ expr, place }) => this.#mentions(expr, place)),
    );
  }

  /** What in the value of a node is secret although nothing that is known derives it from a secret. */
  secretPathsOf(node: PlannedNode, at: ScopePosition): readonly Path[] {
    return this.#secretPaths(this.#frameOf(at.workflow), node);
  }

  #secretPaths(frame: Frame, { node }: PlannedNode): readonly Path[] {
    return this.#inputs.ofStep?.(frame.plan.graph.name, node.id) ?? [];
  }

  /** The expressions that the value of a node, or the part of it at a path, is made of. */
  #valuesOf(
    frame: Frame,
    planned: PlannedNode,
    path: Path,
  ): { readonly expr: Expr; readonly place: Place }[] {
    const { node, scope, parts } = planned;
    const here = { frame, scope };
    const [key, ...rest] = path;
    const bodies = (of: readonly ScopePlan[], at: Path) =>
      of.flatMap((part) =>
        part.value === undefined ? [] : [{ expr: partAt(part.value, at), place: { frame, scope: part } }],
      );
    // What a tool or a person answers derives from nothing.
    if (!hasDerivedValue(node)) return [];
    switch (node.kind) {
      case 'call':
        return [];
      case 'compute':
        return [{ expr: node.function === undefined ? partAt(node.value, path) : node.value, place: here }];
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
          .map(({ value }) => ({ expr: partAt(value, rest), place: here }));
      default:
        return unreachable(node);
    }
  }

  #resultsOf(frame: Frame, planned: PlannedNode, path: Path) {
    const inside = this.#frameInside(frame, planned);
    if (inside === undefined || inside.depth > MAX_WORKFLOW_DEPTH) return [];
    const { root, byId, graph } = inside.plan;
    const ends = [...byId.values()].flatMap(({ node, scope }) =>
      node.kind === 'return' ? [{ expr: partAt(node.value, path), place: { frame: inside, scope } }] : [],
    );
    if (graph.returns === undefined) return ends;
    return [{ expr: partAt(graph.returns, path), place: { frame: inside, scope: root } }, ...ends];
  }

  #collect(ref: RefExpr, place: Place, found: Set<string>, seen: Set<string>): void {
    const { root, path } = ref;
    const { frame, scope } = place;
    const name = String(path[0]);
    const key = `${frame.id}|${root}|${name}`;
    if (root === 'inputs' && frame.caller === undefined) found.add(name);
    if (seen.has(key)) return;
    seen.add(key);
    const follow = (expr: Expr, from: Place): void => {
      for (const { ref: next } of references(expr)) this.#collect(next, from, found, seen);
    };
    if (root === 'inputs' && frame.caller?.node.node.kind === 'workflow') {
      const { node, frame: outer } = frame.caller;
      follow(partAt(frame.caller.node.node.input, [name]), { frame: outer, scope: node.scope });
    } else if (root === 'item') {
      const loop = loopNamed(scope, name);
      if (loop?.node.kind === 'foreach') follow(loop.node.items, { frame, scope: loop.scope });
    } else if (root === 'steps') {
      const node = frame.plan.byId.get(name);
      for (const value of node === undefined ? [] : this.#valuesOf(frame, node, [])) {
        follow(value.expr, value.place);
      }
    }
  }

  #remembered(key: string, find: () => boolean): boolean {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // What waits for itself never has a value.
    this.#known.set(key, false);
    const reaches = find();
    this.#known.set(key, reaches);
    return reaches;
  }

  #placeOf({ workflow, plan }: ScopePosition): Place {
    return { frame: this.#frameOf(workflow), scope: plan };
  }

  #frameOf({ node }: WorkflowPosition): Frame {
    if (node === undefined) return this.#main;
    return this.#frameInside(this.#frameOf(node.scope.workflow), node.planned) ?? this.#main;
  }

  #frameInside(frame: Frame, planned: PlannedNode): Frame | undefined {
    const id = `${frame.id}${planned.node.id}/`;
    const known = this.#frames.get(id);
    if (known !== undefined) return known;
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

/** The part of a literal object or list at a path, as far as it can be followed. */
function partAt(expr: Expr, [key, ...rest]: Path): Expr {
  if (key === undefined) return expr;
  if (expr.kind === 'dict' && expr.entries.every((entry) => 'key' in entry)) {
    const value = entryOf(expr, String(key));
    return value === undefined ? { kind: 'literal' } : partAt(value, rest);
  }
  if (expr.kind === 'list' && !expr.items.some(({ spread }) => spread)) {
    const item = expr.items[Number(key)];
    return item === undefined ? { kind: 'literal' } : partAt(item.value, rest);
  }
  return expr;
}

/** The value of an entry, or what is poured in. */
export function valueIn(entry: DictEntry): Expr {
  return 'key' in entry ? entry.value : entry.spread;
}

/** The items of a loop, as far as they are written out. */
function itemsIn(items: Expr): readonly Expr[] {
  if (items.kind !== 'list' || items.items.some(({ spread }) => spread)) return [items];
  return items.items.map(({ value }) => value);
}

function isDeclaredSecret(inputs: readonly Input[], name: string): boolean {
  return inputs.some((input) => input.name === name && input.secret === true);
}

/** Whether one path leads to the other one, or into it. */
function overlap(one: Path, other: Path): boolean {
  const shared = Math.min(one.length, other.length);
  return one.slice(0, shared).every((key, index) => String(key) === String(other[index]));
}
