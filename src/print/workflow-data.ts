import { references } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import type { Json, JsonObject } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type { Arm, Graph } from '../graph/model.js';
import { bodiesOf, expressionsOf, nodesOf } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import { routesOf } from '../plan/edges.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { describeNode } from './describe.js';
import { printExpr } from './expression.js';
import { sourcesOf } from './shapes.js';

/**
 * A workflow as data for a model that reads it: its steps with the tools that they call, what they wait for, and where
 * their inputs come from. `$user` is an argument of the workflow, `$search.flight_id` an output of a step, and `$.id` a
 * place in the result of the step itself. `on_failure` is the step that takes over from one that fails. It is made to be
 * read, and not accepted as a workflow.
 */
export function workflowData(graph: Graph): JsonObject {
  const context: Context = { plan: planOf(graph).main, outputs: outputsOf(graph) };
  return {
    workflow: graph.name,
    description: graph.description,
    ...(graph.inputs.length === 0
      ? {}
      : {
          params: Object.fromEntries(
            graph.inputs.map(({ name, description, required }) => [name, { description, required }]),
          ),
        }),
    steps: graph.nodes.map((node) => stepData(node, context)),
    ...(graph.returns === undefined ? {} : { returns: valueData(graph.returns, context) }),
  };
}

interface Context {
  readonly plan: WorkflowPlan;
  readonly outputs: Outputs;
}

/** The paths that are read of the result of each step, with a name for each. */
type Outputs = ReadonlyMap<string, ReadonlyMap<string, string>>;

function stepData(node: Node, context: Context): JsonObject {
  const planned = context.plan.byId.get(node.id);
  const before = planned === undefined ? [] : sourcesOf(planned).map((source) => source.node.id);
  const takesOver = routesOf(node).find(({ kind }) => kind !== 'goto')?.target;
  const named = [...(context.outputs.get(node.id) ?? [])].filter(([path]) => path !== '');
  return {
    id: node.id,
    ...(node.kind === 'call' ? { tool: node.tool } : { kind: node.kind, does: describeNode(node) }),
    ...(before.length === 0 ? {} : { depends_on: before }),
    ...(node.when === undefined ? {} : { condition: printExpr(node.when) }),
    ...('input' in node && node.input.entries.length > 0 ? { inputs: valueData(node.input, context) } : {}),
    ...(named.length === 0
      ? {}
      : { outputs: Object.fromEntries(named.map(([path, name]) => [name, `$${path}`])) }),
    ...(takesOver === undefined ? {} : { on_failure: takesOver }),
    ...bodiesData(node, context),
  };
}

/** The steps inside a node: of a branch by its cases, of others by their names. */
function bodiesData(node: Node, context: Context): JsonObject {
  const stepsIn = (nodes: readonly Node[]) => nodes.map((each) => stepData(each, context));
  if (node.kind === 'branch') {
    const armData = (arm: Arm): JsonObject => ({
      case: arm.id,
      ...('goto' in arm ? { goto: arm.goto } : { steps: stepsIn(arm.body.nodes) }),
    });
    const cases = [
      ...node.cases.map((arm) => ({ condition: printExpr(arm.when), ...armData(arm) })),
      ...(node.else === undefined ? [] : [armData(node.else)]),
    ];
    return { cases };
  }
  const [first, ...others] = bodiesOf(node);
  if (first === undefined) return {};
  if (first.arm === undefined && others.length === 0) return { steps: stepsIn(first.scope.nodes) };
  return {
    branches: [first, ...others].map(({ arm = '', scope }) => ({ id: arm, steps: stepsIn(scope.nodes) })),
  };
}

/** A value: data as it is, references as `$…`, and anything else in the notation of JavaScript. */
function valueData(expr: Expr, context: Context, key?: string): Json {
  switch (expr.kind) {
    case 'literal':
      return expr.value ?? null;
    case 'ref':
      return referenceText(expr, context.outputs, key);
    case 'list':
      return expr.items.some(({ spread }) => spread)
        ? printExpr(expr)
        : expr.items.map(({ value }) => valueData(value, context));
    case 'dict': {
      const entries = expr.entries.flatMap((entry) =>
        'key' in entry ? [[entry.key, entry.value] as const] : [],
      );
      if (entries.length < expr.entries.length) return printExpr(expr);
      return Object.fromEntries(entries.map(([name, value]) => [name, valueData(value, context, name)]));
    }
    default:
      return printExpr(expr);
  }
}

function referenceText(expr: RefExpr, outputs: Outputs, key: string | undefined): string {
  const [name, ...rest] = expr.path;
  if (expr.root === 'inputs') {
    return rest.length === 0 && name === key ? '$user' : `$user.${expr.path.join('.')}`;
  }
  if (expr.root === 'nodes') return `$steps.${expr.path.join('.')}`;
  if (expr.root !== 'steps' || typeof name !== 'string') return printExpr(expr);
  const output = outputs.get(name)?.get(pathText(rest));
  return output === undefined || output === '' ? `$${name}` : `$${name}.${output}`;
}

function outputsOf(graph: Graph): Outputs {
  const outputs = new Map<string, Map<string, string>>();
  const exprs = [
    ...nodesOf(graph).flatMap(expressionsOf),
    ...(graph.returns === undefined ? [] : [graph.returns]),
  ];
  for (const { ref } of exprs.flatMap(references)) {
    const [id, ...rest] = ref.path;
    if (ref.root !== 'steps' || typeof id !== 'string') continue;
    const known = outputs.get(id) ?? new Map<string, string>();
    outputs.set(id, known);
    const path = pathText(rest);
    if (known.has(path)) continue;
    const taken = new Set(known.values());
    const texts = rest.filter((each): each is string => typeof each === 'string');
    const names = texts.map((_, index) => texts.slice(texts.length - 1 - index).join('_'));
    known.set(path, names.find((each) => !taken.has(each)) ?? rest.join('_'));
  }
  return outputs;
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
}
