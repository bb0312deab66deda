import { defined } from '../../graph/defined.js';
import { childrenOf, dataPath } from '../../graph/expression/traversal.js';
import type { DictExpr, Expr } from '../../graph/expression/tree.js';
import type { Graph } from '../../graph/model.js';
import { compensationsOf, expressionsOf, isServerCall } from '../../graph/nodes.js';
import { locationOfNode, type SourceLocation } from '../../graph/source-location.js';
import { planOf } from '../../plan/compile.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../../plan/plan.js';

/** Keys from a value; a number is any item of a list. */
export type Path = readonly (string | number)[];

/** What a workflow reads of the result of a call. */
export interface OutputUse {
  readonly path: Path;
  /** False where only the fact is used that the value is a list or an object: what is in it is read by other paths. */
  readonly isWhole: boolean;
}

/** What one step needs of a tool. */
export interface ToolUse {
  readonly workflow: string;
  readonly step: string;
  /** The name of the tool in the registry. */
  readonly tool: string;
  readonly input: DictExpr;
  readonly reads: readonly OutputUse[];
  /** The location of the step, if the front end recorded it. */
  readonly source?: SourceLocation;
}

/**
 * The calls of a graph and of its tasks, with what is read of their results. A value that passes through a branch, a
 * loop, a `parallel` or a computed path is followed; one that goes anywhere else counts as read as a whole.
 *
 * @param isUsed whether the calls of a tool are of interest.
 */
export function usesOf(graph: Graph, isUsed: (tool: string) => boolean): readonly ToolUse[] {
  const { main, tasks } = planOf(graph);
  return [main, ...tasks.values()].flatMap((plan) => new Contract(plan).uses(isUsed));
}

/** Where a value comes from: keys of the results of steps. */
type Origin = readonly { readonly step: string; readonly path: Path }[];

class Contract {
  readonly #reads = new Map<string, OutputUse[]>();

  constructor(readonly plan: WorkflowPlan) {}

  uses(isUsed: (tool: string) => boolean): ToolUse[] {
    const { plan } = this;
    for (const planned of plan.nodes) {
      const { node, scope } = planned;
      // What only passes a value on reads it where the value is read.
      const passed = node.kind === 'compute' && node.function === undefined ? node.value : undefined;
      const items = node.kind === 'foreach' ? node.items : undefined;
      for (const expr of expressionsOf(node)) {
        if (expr === passed && dataPath(expr)?.complete === true) continue;
        if (expr === items) this.#list(expr, scope);
        else this.#read(expr, scope, new Map());
      }
    }
    for (const scope of plan.scopes) {
      if (scope.value === undefined) continue;
      if (scope.container === undefined || dataPath(scope.value)?.complete !== true)
        this.#read(scope.value, scope, new Map());
    }
    return plan.nodes.flatMap(({ node }) => {
      const source = locationOfNode(node, plan.graph);
      const common = {
        workflow: plan.graph.name,
        step: node.id,
        ...defined({ source }),
      };
      const use = (tool: string, input: DictExpr, reads: readonly OutputUse[]): ToolUse[] =>
        isUsed(tool) ? [{ ...common, tool, input, reads }] : [];
      return [
        ...(isServerCall(node) ? use(node.tool, node.input, this.#reads.get(node.id) ?? []) : []),
        ...compensationsOf(node).flatMap(({ tool, input }) => use(tool, input, [])),
      ];
    });
  }

  #note(origin: Origin, isWhole: boolean): void {
    for (const { step, path } of origin) {
      const reads = this.#reads.get(step) ?? [];
      reads.push({ path, isWhole });
      this.#reads.set(step, reads);
    }
  }

  #read(expr: Expr, scope: ScopePlan, locals: ReadonlyMap<string, Origin>): void {
    const origin = this.#originOf(expr, scope, locals);
    if (origin !== undefined) this.#note(origin, true);
    if (expr.kind === 'each') {
      const items = this.#list(expr.in, scope, locals);
      this.#read(expr.body, scope, new Map([...locals, [expr.as, items]]));
      return;
    }
    if (expr.kind === 'let') {
      const value = this.#originOf(expr.value, scope, locals);
      if (value === undefined) this.#read(expr.value, scope, locals);
      this.#read(expr.body, scope, new Map([...locals, [expr.name, value ?? []]]));
      return;
    }
    if (origin !== undefined && expr.kind === 'ref') return;
    if (origin !== undefined && expr.kind === 'get') {
      // Of a chain only computed keys are left.
      for (let link: Expr = expr; link.kind === 'get'; link = link.of) this.#read(link.key, scope, locals);
      return;
    }
    for (const child of childrenOf(expr)) this.#read(child.expr, scope, locals);
  }

  /** Notes that an expression is a list, and returns where its items come from. */
  #list(expr: Expr, scope: ScopePlan, locals: ReadonlyMap<string, Origin> = new Map()): Origin {
    const origin = this.#originOf(expr, scope, locals);
    if (origin === undefined) {
      this.#read(expr, scope, locals);
      return [];
    }
    this.#note(origin, false);
    return origin.map(({ step, path }) => ({ step, path: [...path, 0] }));
  }

  /** Where the value of a path comes from; nothing for another expression, or a path of something else. */
  #originOf(expr: Expr, scope: ScopePlan, locals: ReadonlyMap<string, Origin>): Origin | undefined {
    const data = dataPath(expr);
    if (data === undefined) return undefined;
    const { ref, segments } = data;
    const path = segments.map(({ key }) => key);
    const name = String(ref.path[0]);
    switch (ref.root) {
      case 'steps':
        return this.#resolved(this.plan.byId.get(name), path);
      case 'local':
        return locals.get(name)?.map((base) => ({ ...base, path: [...base.path, ...path] }));
      case 'item': {
        const loop = scope.loops.findLast(({ node }) => node.kind === 'foreach' && node.as === name);
        if (loop?.node.kind !== 'foreach') return undefined;
        const items = this.#originOf(loop.node.items, loop.scope, new Map());
        return items?.map((base) => ({ ...base, path: [...base.path, 0, ...path] }));
      }
      default:
        return undefined;
    }
  }

  /** Where a key of the value of a step comes from. */
  #resolved(planned: PlannedNode | undefined, path: Path): Origin | undefined {
    if (planned === undefined) return undefined;
    const { node, parts, scope } = planned;
    const [first, ...rest] = path;
    const inParts = (keys: Path, wanted = parts): Origin =>
      wanted.flatMap((part) => {
        const value = part.value && this.#originOf(part.value, part, new Map());
        return (value ?? []).map((base) => ({ ...base, path: [...base.path, ...keys] }));
      });
    switch (node.kind) {
      case 'call':
        return [{ step: node.id, path }];
      case 'compute': {
        if (node.function !== undefined) return undefined;
        const value = this.#originOf(node.value, scope, new Map());
        return value?.map((base) => ({ ...base, path: [...base.path, ...path] }));
      }
      case 'branch':
        return inParts(path);
      case 'foreach':
        return inParts(rest);
      case 'parallel':
        return inParts(
          rest,
          parts.filter(({ arm }) => first === undefined || arm === first),
        );
      default:
        return undefined;
    }
  }
}
