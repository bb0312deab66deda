import type { DictExpr, Expr } from '../../../graph/expression/tree.js';
import type { Arm, CallNode, Graph, Node, ParallelNode, Scope } from '../../../graph/model.js';
import type { NodeInstance, ScopeInstance } from '../../../plan/instances.js';
import { fieldOf } from '../../engine/read.js';
import { ITEMS_IN_FULL } from './foreach-log.js';
import { ABSENT, ANY_ITEM, LOST, literal, OpenNodes, residualId, residualKey } from './open-nodes.js';

type Base = Pick<CallNode, 'id' | 'after' | 'join' | 'executor' | 'when' | 'onError'>;

const YES = literal(true);
const NEVER = literal(false);
/** What cannot be evaluated. */
const FAILURE: Expr = { kind: 'get', of: literal(null), key: literal(null) };

/**
 * What is left to do of a run that stopped, as a graph. Nodes that have settled are the values they had. Whatever a host
 * answers is a call with one argument, `given`, and items of a loop stand side by side, their index in the ids of nodes.
 */
export class Residual extends OpenNodes {
  /** Nodes of the run by their keys in the residual graph. */
  readonly nodes = new Map<string, NodeInstance>();
  readonly #tasks: Graph[] = [];

  toGraph(): Graph {
    const main = this.#workflow(this.run.graph, this.run.ledger.instances.root);
    return { ...main, tasks: this.#tasks };
  }

  #workflow({ inputs, state, returns, errorStrategy, failFast }: Graph, root: ScopeInstance): Graph {
    const { node } = root.workflow;
    return {
      ...{ graphVersion: 1, name: residualKey(root.key), description: '', instructions: [] },
      inputs: node === undefined || this.standing(node) === 'pending' ? inputs : [],
      state: (state ?? []).map(({ initial, ...field }) => {
        const { value } = fieldOf(this.run.state, field.name) ?? { value: initial };
        return { ...field, ...(value === undefined ? {} : { initial: value }) };
      }),
      nodes: this.#nodesOf(root),
      // The result of the run is no call, and may fail.
      ...(returns === undefined || node === undefined ? {} : { returns: this.expr(returns, root) }),
      ...(errorStrategy?.kind === 'collect' ? { errorStrategy } : {}),
      ...(failFast === undefined ? {} : { failFast }),
      maxConcurrency: Number.MAX_SAFE_INTEGER,
    };
  }

  /** What is left of a scope, behind a node that has succeeded and one that was skipped: others may wait for them. */
  #nodesOf(scope: ScopeInstance): Node[] {
    const { instances } = this.run.ledger;
    const [yes, no] = anchorsOf(scope);
    const nodes = scope.plan.nodes.flatMap((planned) => {
      const node = instances.node(scope, planned);
      const standing = this.standing(node);
      if (standing === 'lost') this.nodes.set(residualKey(node.key), node);
      if (standing !== 'pending' && standing !== 'open') return [];
      this.nodes.set(residualKey(node.key), node);
      return [
        standing === 'open'
          ? this.#begun(node, { ...base(residualId(node)), after: [yes] })
          : this.#pending(node),
      ];
    });
    return [compute(yes, ABSENT), { ...compute(no, ABSENT), when: NEVER }, ...nodes];
  }

  #body(scope: ScopeInstance): Scope {
    const { value } = scope.plan;
    const nodes = this.#nodesOf(scope);
    return value === undefined ? { nodes } : { nodes, value: this.expr(value, scope) };
  }

  #begun(node: NodeInstance, given: Base): Node {
    const { node: model } = node.planned;
    const parts = [...(this.run.ledger.record(node)?.parts.values() ?? [])];
    switch (model.kind) {
      case 'workflow':
        return this.#runs(node, given, dictOf({}));
      case 'foreach': {
        const open = parts.filter(({ status }) => status !== 'succeeded').slice(0, ITEMS_IN_FULL);
        const done = new Map(
          parts.map(({ status, value, scope }) => [
            scope.part,
            status === 'succeeded' ? literal(value ?? null) : LOST,
          ]),
        );
        return this.#loop(node, given, [...open.map(({ scope }) => scope.part), ...this.#left(node)], done);
      }
      case 'parallel':
        return this.#sideBySide(given, this.#branchesOf(node), model);
      default:
        return sole(given, parts[0] === undefined ? { nodes: [] } : this.#body(parts[0].scope));
    }
  }

  #pending(node: NodeInstance): Node {
    const { scope, planned } = node;
    const { node: model } = planned;
    const expr = (of: Expr): Expr => this.expr(of, scope);
    const found = this.finding(node);
    const isAgain = this.isAgain(node);
    const given: Base = {
      ...base(residualId(node)),
      ...{ after: this.#after(node), join: isAgain ? 'all_done' : model.join },
      ...(isAgain ? {} : { when: this.#inOrder(node, model.when === undefined ? YES : expr(model.when)) }),
      ...this.#rescue(node),
    };
    const never: Node = { ...given, kind: 'compute', value: ABSENT, when: this.#inOrder(node, NEVER) };
    if (!this.isReachable(node)) return never;
    if (found?.kind === 'refused') return { ...given, kind: 'compute', value: FAILURE };
    switch (model.kind) {
      case 'call':
        return asked(given, expr(model.input));
      case 'resource':
        return asked(given, expr(model.uri));
      case 'ask': {
        const { message, options } = model;
        return asked(given, dictOf({ message: expr(message), ...(options && { options: expr(options) }) }));
      }
      case 'compute': {
        const value = expr(model.value);
        if (model.function !== undefined) return asked(given, value);
        // Where a condition is not known, neither is the value.
        const { when: test } = given;
        if (test === undefined) return { ...given, kind: 'compute', value };
        return {
          ...given,
          kind: 'compute',
          // biome-ignore lint/suspicious/noThenProperty: the tree's own name for it
          value: { kind: 'conditional', test, truth: 'truthy.js', then: value },
        };
      }
      case 'wait':
        return { ...given, kind: 'compute', value: expr(model.durationMs ?? model.until ?? ABSENT) };
      case 'set': {
        const updates = model.updates.map(({ field, value }) => ({ field, value: expr(value) }));
        return { ...given, kind: 'set', updates };
      }
      case 'error':
        return found?.kind === 'ends' ? { ...model, ...given, message: expr(model.message) } : never;
      case 'return':
        return found?.kind === 'ends' ? { ...model, ...given, value: expr(model.value) } : never;
      case 'goto': {
        // Without a condition it goes back until it fails, whatever the calls give.
        const isEndless = model.when === undefined && model.onLimit === 'fail';
        return { ...given, kind: 'compute', value: isEndless ? FAILURE : ABSENT };
      }
      case 'compensate':
        return never;
      case 'workflow':
        return runsItself(node)
          ? { ...given, kind: 'compute', value: LOST }
          : this.#runs(node, given, expr(model.input) as DictExpr);
      case 'parallel':
        return this.#sideBySide(given, this.#branchesOf(node), model);
      case 'branch': {
        if (found?.kind !== 'arms') {
          const cases = model.cases.map((each) => ({ ...this.#arm(node, each), when: expr(each.when) }));
          const otherwise = model.else === undefined ? {} : { else: this.#arm(node, model.else) };
          return { ...given, kind: 'branch', cases, ...otherwise };
        }
        const ids = new Set(found.arms.map(({ id }) => id));
        const bodies = this.#branchesOf(node).filter(([arm]) => ids.has(arm));
        const nodes = [this.#sideBySide(base(`${given.id}~arms`), bodies, { onPartialFailure: 'continue' })];
        return sole(given, { nodes, value: literal(this.promised(node)) });
      }
      case 'foreach': {
        if (found?.kind === 'items') return this.#loop(node, given, this.#left(node));
        // The dry run finds out about its items.
        return asked(given, expr(model.items));
      }
    }
  }

  /** What stands in where a node fails whatever the calls give. */
  #rescue({ planned, scope }: NodeInstance): Pick<Base, 'onError'> {
    const { onError } = planned.node;
    if (onError === undefined) return {};
    if ('value' in onError) return { onError: { value: this.expr(onError.value, scope) } };
    const other = scope.workflow.plan.byId.get(onError.fallbackNode);
    const target = other && this.run.ledger.instances.node(scope, other);
    const isOpen = target !== undefined && this.standing(target) === 'pending';
    return isOpen ? { onError: { fallbackNode: residualId(target) } } : {};
  }

  /** What a node waits for: what its join looks at, and where it needs to be selected, who has done so. */
  #after(node: NodeInstance): string[] {
    const { planned, scope } = node;
    const [yes, no] = anchorsOf(scope);
    const selector = planned.needsSelection ? this.selector(node) : undefined;
    if (this.isAgain(node)) return [yes];
    if (planned.needsSelection && selector === undefined) return [];
    const by =
      selector === undefined ? [] : [this.finding(selector) === undefined ? yes : residualId(selector)];
    const joined = planned.joins.map((each) => {
      const before = this.run.ledger.instances.node(scope, each);
      const standing = this.standing(before);
      if (standing === 'pending' || standing === 'open') return residualId(before);
      return standing === 'skipped' ? no : yes;
    });
    return [...new Set([...by, ...joined])];
  }

  /** A condition of a node once all that comes before it has settled, whatever the residual graph reads of that. */
  #inOrder({ planned, scope }: NodeInstance, condition: Expr): Expr {
    const before = planned.orders.flatMap((each): Expr[] => {
      const node = this.run.ledger.instances.node(scope, each);
      const standing = this.standing(node);
      const isLeft = standing === 'pending' || standing === 'open';
      return isLeft ? [{ kind: 'ref', root: 'steps', path: [residualId(node)] }] : [];
    });
    if (before.length === 0) return condition;
    // What it names is waited for, and not looked at.
    const settled: Expr = { kind: 'or', truth: 'boolean', items: [YES, ...before] };
    return { kind: 'and', truth: 'truthy.js', items: [settled, condition] };
  }

  #arm(branch: NodeInstance, arm: Arm): Arm {
    if ('body' in arm) {
      const part = branch.planned.parts.findIndex((each) => each.arm === arm.id);
      return { id: arm.id, body: this.#body(this.run.ledger.instances.part(branch, part)) };
    }
    const { scope } = branch;
    const planned = scope.workflow.plan.byId.get(arm.goto);
    const target = planned && this.run.ledger.instances.node(scope, planned);
    const isOpen = target !== undefined && this.standing(target) === 'pending';
    return isOpen ? { id: arm.id, goto: residualId(target) } : { id: arm.id, body: { nodes: [] } };
  }

  #branchesOf(node: NodeInstance): [name: string, scope: ScopeInstance][] {
    const { instances } = this.run.ledger;
    return node.planned.parts.map(({ arm = '' }, part) => [arm, instances.part(node, part)]);
  }

  #sideBySide(
    given: Base,
    bodies: readonly (readonly [name: string, scope: ScopeInstance])[],
    { concurrency, onPartialFailure }: Pick<ParallelNode, 'concurrency' | 'onPartialFailure'>,
  ): Node {
    const branches = bodies.map(([id, scope]) => ({ id, body: this.#body(scope) }));
    const limit = concurrency === undefined ? {} : { concurrency };
    return { ...given, kind: 'parallel', branches, onPartialFailure, ...limit };
  }

  /** Items of a loop. @param done the values of those that have begun. */
  #loop(
    loop: NodeInstance,
    given: Base,
    items: readonly number[],
    done: ReadonlyMap<number, Expr> = new Map(),
  ): Node {
    const { node: model } = loop.planned;
    if (model.kind !== 'foreach') throw new Error(`'${loop.key}' is no loop`);
    const onPartialFailure = model.onItemError === 'fail' ? 'abort' : 'continue';
    const options = { concurrency: model.concurrency, onPartialFailure } as const;
    const bodies = items.map((item) => [`${item}`, this.run.ledger.instances.part(loop, item)] as const);
    const all = this.#sideBySide(base(`${given.id}~items`), bodies, options);
    const values = new Map(done);
    for (const item of items) values.set(item, { kind: 'ref', root: 'steps', path: [all.id, `${item}`] });
    const list = [...values].sort(([one], [other]) => one - other).map(([, value]) => ({ value }));
    const value: Expr = items.includes(ANY_ITEM)
      ? literal(this.promised(loop))
      : { kind: 'list', items: list };
    return sole(given, { nodes: [all], value });
  }

  /** The items of a loop that have not begun: a few each by itself, many as one. */
  #left(loop: NodeInstance): number[] {
    const items = this.itemsOf(loop);
    const from = this.firstLeft(loop);
    if (items === undefined || items.length - from > ITEMS_IN_FULL) return [ANY_ITEM];
    return items.slice(from).map((_item, index) => from + index);
  }

  #runs(node: NodeInstance, given: Base, input: DictExpr): Node {
    const root = this.run.ledger.instances.part(node, 0);
    const task = this.#workflow(root.workflow.plan.graph, root);
    this.#tasks.push(task);
    return { ...given, kind: 'workflow', workflow: task.name, input };
  }
}

function anchorsOf({ key, workflow }: ScopeInstance): readonly [yes: string, no: string] {
  const scope = residualKey(key.slice(workflow.prefix.length)).replaceAll(/[/:]/g, '~');
  return [`${scope}~yes`, `${scope}~no`];
}

/** A workflow that runs itself is told once. */
function runsItself({ planned: { node }, scope }: NodeInstance): boolean {
  for (let { workflow } = scope; node.kind === 'workflow'; { workflow } = workflow.node.scope) {
    if (workflow.plan.graph.name === node.workflow) return true;
    if (workflow.node === undefined) return false;
  }
  return false;
}

function base(id: string): Base {
  return { id, after: [], join: 'all_done', executor: 'server' };
}

function compute(id: string, value: Expr): Node {
  return { ...base(id), kind: 'compute', value };
}

/** What a host answers. */
function asked(given: Base, expr: Expr): Node {
  return { ...given, kind: 'call', tool: '', input: dictOf({ given: expr }) };
}

/** Nodes that belong together. */
function sole(given: Base, body: Scope): Node {
  return { ...given, kind: 'branch', cases: [{ id: 'all', when: YES, body }] };
}

function dictOf(values: Readonly<Record<string, Expr>>): DictExpr {
  return { kind: 'dict', entries: Object.entries(values).map(([key, value]) => ({ key, value })) };
}
