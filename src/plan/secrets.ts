import type { Expr, RefExpr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { Input } from '../graph/model.js';
import { compensationsOf, isServerCall } from '../graph/nodes.js';
import { bindsName } from './instances.js';
import type { Plan, PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';

/** The names of a tool's secret inputs. */
export type SecretInputsOf = (tool: string) => readonly string[];

/** The secrets of a plan that are known before it runs. */
export interface PlanSecrets {
  /** Whether an input of a workflow is secret: declared so, or passed on to a secret input. */
  readonly has: (workflow: string, input: string) => boolean;
  /** The paths of an answer, or of a call's result, that are passed on to secret inputs. */
  readonly pathsOf: (workflow: string, node: string) => readonly RefExpr['path'][];
  /** The arguments of secret inputs of calls and workflows. */
  readonly arguments: ReadonlySet<Expr>;
  /** The declarations of secret inputs. */
  readonly inputs: readonly Input[];
  /** Whether a run can have a secret, as far as the graph shows. */
  readonly any: boolean;
}

const NONE: PlanSecrets = {
  has: () => false,
  pathsOf: () => [],
  arguments: new Set(),
  inputs: [],
  any: false,
};

const cache = new WeakMap<Plan, WeakMap<SecretInputsOf, PlanSecrets>>();

/**
 * Finds every secret input of a plan's workflows, once for each plan and set of tools. An input that is passed on to a secret
 * input of a tool or another workflow, as a whole or item by item, is secret as well. So is a part of an answer or a
 * result that is passed on.
 */
export function secretsOf(plan: Plan, inputsOf: SecretInputsOf): PlanSecrets {
  const byTools = cache.get(plan) ?? new WeakMap<SecretInputsOf, PlanSecrets>();
  cache.set(plan, byTools);
  const secrets = byTools.get(inputsOf) ?? findSecrets([plan.main, ...plan.tasks.values()], inputsOf);
  byTools.set(inputsOf, secrets);
  return secrets;
}

function findSecrets(workflows: readonly WorkflowPlan[], inputsOf: SecretInputsOf): PlanSecrets {
  if (!workflows.some((workflow) => mayHaveSecrets(workflow, inputsOf))) return NONE;
  const inputKeys = new Set<string>();
  const paths = new Map<string, RefExpr['path'][]>();
  const args = new Set<Expr>();
  const keyOf = (workflow: string, name: string): string => JSON.stringify([workflow, name]);
  for (const { graph } of workflows) {
    for (const { name, secret } of graph.inputs) if (secret === true) inputKeys.add(keyOf(graph.name, name));
  }
  const inputsIn = ({ graph }: WorkflowPlan): readonly Input[] =>
    graph.inputs.filter(({ name }) => inputKeys.has(keyOf(graph.name, name)));
  const wanted = ({ node }: PlannedNode): readonly string[] => {
    if (isServerCall(node)) return inputsOf(node.tool);
    const task = workflows.find(({ graph }) => node.kind === 'workflow' && graph.name === node.workflow);
    return task === undefined ? [] : inputsIn(task).map(({ name }) => name);
  };
  const give = (expr: Expr, { scope }: PlannedNode): void => {
    const { graph, byId } = scope.workflow;
    const source = inputName(expr, scope);
    if (source !== undefined) inputKeys.add(keyOf(graph.name, source));
    const [step, ...path] = args.has(expr) ? [] : stepPath(expr);
    args.add(expr);
    const giver = step === undefined ? undefined : byId.get(String(step))?.node;
    if (giver === undefined || !givesText(giver)) return;
    const key = keyOf(graph.name, giver.id);
    paths.set(key, [...(paths.get(key) ?? []), path]);
  };
  for (let size = -1; size !== inputKeys.size; ) {
    size = inputKeys.size;
    for (const planned of workflows.flatMap(({ nodes }) => nodes)) {
      const { node } = planned;
      if (node.kind !== 'call' && node.kind !== 'workflow') continue;
      for (const name of wanted(planned)) {
        const expr = entryOf(node.input, name);
        if (expr !== undefined) give(expr, planned);
      }
    }
  }
  return {
    any: true,
    has: (workflow, input) => inputKeys.has(keyOf(workflow, input)),
    pathsOf: (workflow, node) => paths.get(keyOf(workflow, node)) ?? [],
    arguments: args,
    inputs: workflows.flatMap(inputsIn),
  };
}

function mayHaveSecrets({ graph, nodes }: WorkflowPlan, inputsOf: SecretInputsOf): boolean {
  return (
    graph.inputs.some(({ secret }) => secret === true) ||
    nodes.some(({ node }) => [node, ...compensationsOf(node)].some(takesSecret))
  );
  function takesSecret(call: Node | { readonly tool: string }): boolean {
    return 'tool' in call && inputsOf(call.tool).length > 0;
  }
}

/** The workflow input that an expression reads, as a whole or in part, if it computes nothing else. */
export function inputName(expr: Expr | undefined, scope?: ScopePlan): string | undefined {
  if (expr?.kind === 'get') return inputName(expr.of, scope);
  if (expr?.kind !== 'ref') return undefined;
  const name = String(expr.path[0]);
  if (expr.root === 'inputs') return name;
  const loop = expr.root === 'item' && scope !== undefined ? loopNamed(scope, name) : undefined;
  return loop?.node.kind === 'foreach' && loop.node.as === name
    ? inputName(loop.node.items, loop.scope)
    : undefined;
}

/** The innermost loop around a scope whose item has this name. */
export function loopNamed({ loops }: ScopePlan, name: string): PlannedNode | undefined {
  for (let index = loops.length - 1; index >= 0; index -= 1) {
    const loop = loops[index];
    if (loop !== undefined && bindsName(loop.node, 'item', name)) return loop;
  }
  return undefined;
}

/** Whether the value of a node comes from outside and can be a secret; a confirmation cannot. */
function givesText(node: Node): boolean {
  return node.kind === 'call' || (node.kind === 'ask' && node.mode !== 'info' && node.mode !== 'confirm');
}

/** The step that an expression refers to and the path in its value, up to the first computed key. */
function stepPath(expr: Expr): RefExpr['path'] | readonly [] {
  if (expr.kind === 'ref') return expr.root === 'steps' ? expr.path : [];
  if (expr.kind !== 'get') return [];
  const base = stepPath(expr.of);
  const key = expr.key.kind === 'literal' ? expr.key.value : undefined;
  const isConstantKey = typeof key === 'string' || typeof key === 'number';
  return base.length > 0 && isConstantKey && isWhole(expr.of) ? [...base, key] : base;
}

function isWhole(expr: Expr): boolean {
  return expr.kind === 'ref' || (expr.kind === 'get' && expr.key.kind === 'literal' && isWhole(expr.of));
}

/** The path into the workflow's inputs that an expression reads, if it computes nothing else: `card.number`. */
export function inputPath(expr: Expr): RefExpr['path'] | undefined {
  if (expr.kind === 'ref') return expr.root === 'inputs' ? expr.path : undefined;
  if (expr.kind !== 'get' || expr.key.kind !== 'literal') return undefined;
  const { value: key } = expr.key;
  const base = inputPath(expr.of);
  return base === undefined || (typeof key !== 'string' && typeof key !== 'number')
    ? undefined
    : [...base, key];
}

/** The value of a literal object under a key. */
export function entryOf(expr: Expr, key: string): Expr | undefined {
  if (expr.kind !== 'dict') return undefined;
  let value: Expr | undefined;
  for (const entry of expr.entries) if ('key' in entry && entry.key === key) value = entry.value;
  return value;
}
