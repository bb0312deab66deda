import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { ForeachNode, Graph } from '../graph/model.js';
import { nodesOf, workExpressions } from '../graph/nodes.js';
import { locationOfExpr, locationOfNode, relatedLocation } from '../graph/source-location.js';
import { planOf } from '../plan/compile.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { type PlanSecrets, secretsOf } from '../plan/secrets.js';
import { checkCalls, checkResources } from './calls.js';
import { checkAttemptRanges, checkBranches, checkConstructs, checkDepth, checkState } from './constructs.js';
import { checkCycles, checkNesting, checkReachability, checkRoutes } from './control-flow.js';
import { type CheckEnvironment, reachableFrom, type ValueFault, withTasks } from './environment.js';
import { checkNames, checkReferences, checkUnused } from './names.js';
import { checkOutputPaths } from './output-paths.js';
import { checkSettledNodes } from './settled-nodes.js';
import { checkApprovals, checkNeverUndone, checkRetries, checkRollbacks } from './side-effects.js';
import { checkSkipped } from './skipped-steps.js';
import { namesOf } from './values.js';

export type { CheckEnvironment, ToolSignature } from './environment.js';

export interface CheckOptions {
  /**
   * False if faulty parts of the workflow were omitted. Then nothing is reported as unused, since they may use it.
   * Default true.
   */
  readonly isWhole?: boolean;
  /** Compares constants with the whole schema of their place. Default: their types and listed values are compared. */
  readonly valueFault?: ValueFault;
}

/**
 * Finds every fault of a graph that can be known before it runs. Never throws for a graph that `parseGraph` accepts. A
 * step may name earlier steps only: the order of `nodes` is the order of writing. The workflows among its tasks are checked
 * as well, each on its own, except for itself and for registered workflows, which are checked at registration.
 */
export function checkGraph(
  graph: Graph,
  registered: CheckEnvironment,
  { isWhole = true, valueFault = () => undefined }: CheckOptions = {},
): Diagnostic[] {
  const { main, tasks } = planOf(graph);
  const environment = withTasks(registered, graph);
  const own = [...tasks.values()].filter(
    ({ graph: { name } }) => name !== graph.name && !registered.workflows?.has(name),
  );
  return [main, ...own].flatMap((plan) =>
    checkWorkflow(plan, environment, { isWhole: isWhole || plan !== main, valueFault }),
  );
}

function checkWorkflow(
  plan: WorkflowPlan,
  environment: CheckEnvironment,
  { isWhole, valueFault }: Required<CheckOptions>,
): Diagnostic[] {
  const namesIn = namesOf(plan, environment);
  const references = checkReferences(plan);
  const cycles = checkCycles(plan);
  return [
    ...checkNames(plan),
    ...checkDepth(plan),
    ...references,
    ...checkRoutes(plan),
    ...cycles,
    ...checkCalls(plan, environment, namesIn, valueFault),
    ...checkResources(plan, environment),
    ...checkState(plan, namesIn, valueFault),
    ...checkConstructs(plan, namesIn),
    ...checkSecrets(plan, environment),
    ...checkRollbacks(plan, environment),
    ...checkNeverUndone(plan),
    ...checkTasks(plan),
    ...checkSkill(plan, environment),
    ...checkAgents(plan, environment),
    ...checkNesting(plan, environment),
    ...checkOutputPaths(plan, namesIn),
    ...checkSettledNodes(plan),
    ...checkAttemptRanges(plan),
    ...checkRetries(plan, environment),
    ...checkApprovals(plan),
    ...checkBranches(plan, namesIn),
    ...checkReachability(plan, cycles.length > 0),
    ...checkSkipped(plan, environment),
    // An unknown name may be a misspelt reference to what seems unused.
    ...(isWhole && references.length === 0 ? checkUnused(plan, environment) : []),
  ];
}

/** Reports SW4051: what is said of tasks in a workflow that clients do not start, or not by a tool. */
function checkTasks({ graph }: WorkflowPlan): Diagnostic[] {
  const { name, expose, task, taskSupport = 'forbidden' } = graph;
  if (expose === undefined || expose.includes('tool')) return [];
  const isTask = task === true && !expose.includes('prompt');
  if (!isTask && taskSupport === 'forbidden') return [];
  return [diagnostic('SW4051', graph.source, { workflow: name, lacks: isTask ? 'start' : 'tool' })];
}

/** Reports SW4053: what a skill says of calls that may change something, which a model may then make by itself. */
function checkSkill({ graph, nodes }: WorkflowPlan, { tools }: CheckEnvironment): Diagnostic[] {
  if (graph.expose?.includes('skill') !== true) return [];
  return nodes.flatMap(({ node }) => {
    if (node.kind !== 'call' || node.guidance === undefined) return [];
    if (tools.get(node.tool)?.annotations?.readOnlyHint === true) return [];
    const params = { workflow: graph.name, step: node.id, tool: node.tool };
    return [diagnostic('SW4053', locationOfNode(node, graph), params)];
  });
}

/** Texts that leave the server: masked, they are of no use. */
interface Outgoing {
  readonly to: string;
  /** Expressions by the parameters that they are for. */
  readonly parameters: Readonly<Record<string, Expr | undefined>>;
}

/** SW4038: secrets in messages for a model and in work of the client. */
function checkSecrets({ graph, nodes }: WorkflowPlan, { tools }: CheckEnvironment): Diagnostic[] {
  const outgoing = nodes.map(({ node }) => ({ node, ...outgoingOf(node) }));
  if (outgoing.every(({ parameters }) => Object.keys(parameters).length === 0)) return [];
  const secrets = secretsOf(planOf(graph), (tool) => tools.get(tool)?.secret ?? []);
  if (!secrets.any) return [];
  return outgoing.flatMap(({ node, to, parameters }) =>
    Object.entries(parameters).flatMap(([parameter, expr]) => {
      const ref = expr && references(expr).find((each) => isSecret(each.ref, graph.name, secrets))?.ref;
      if (expr === undefined || ref === undefined) return [];
      const location = locationOfExpr(expr, locationOfNode(node, graph));
      return [diagnostic('SW4038', location, { step: node.id, parameter, secret: ref.path.join('.'), to })];
    }),
  );
}

function outgoingOf(node: Node): Outgoing {
  if (node.kind !== 'ask') {
    return { to: node.kind === 'delegate' ? 'an agent' : 'the client', parameters: workExpressions(node) };
  }
  return { to: 'a model', parameters: node.mode === 'model' ? { message: node.message } : {} };
}

function isSecret({ root, path: [name, ...path] }: RefExpr, workflow: string, secrets: PlanSecrets): boolean {
  if (root === 'inputs') return secrets.has(workflow, String(name));
  if (root !== 'steps') return false;
  // The text holds the secret if it names it, or a value around it or in it.
  return secrets
    .pathsOf(workflow, String(name))
    .some((secret) => secret.every((key, index) => index >= path.length || path[index] === key));
}

/**
 * Reports what an agent that drives the items of a loop cannot do: SW4049 questions to a person, SW4050 work for other agents,
 * unless the workflow allows it.
 */
function checkAgents({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  return nodes.flatMap(({ node }) => {
    if (node.kind !== 'foreach' || node.agent === undefined) return [];
    const { agent } = node;
    return stepsOfItem(node, graph, environment).flatMap(({ step, of }) => {
      const code = faultOf(step, graph);
      if (code === undefined) return [];
      const params = { step: step.id, loop: node.id, agent };
      const location = locationOfNode(step, of) ?? locationOfNode(node, graph);
      const related = relatedLocation('the loop is here', node.source);
      return [
        diagnostic(code, location, of === graph ? params : { ...params, workflow: of.name }, { related }),
      ];
    });
  });
}

/** The steps of an item, those of the workflows that it runs included. */
function stepsOfItem(
  { body }: ForeachNode,
  graph: Graph,
  environment: CheckEnvironment,
): { readonly step: Node; readonly of: Graph }[] {
  const { graphs } = reachableFrom(body, environment);
  return [
    ...nodesOf(body).map((step) => ({ step, of: graph })),
    ...graphs.flatMap((of) => nodesOf(of).map((step) => ({ step, of }))),
  ];
}

function faultOf(step: Node, { allowNestedAgents }: Graph): 'SW4049' | 'SW4050' | undefined {
  if (step.kind === 'ask') return step.mode === 'model' ? undefined : 'SW4049';
  if (allowNestedAgents === true) return undefined;
  const isHandedOn =
    (step.kind === 'foreach' && step.agent !== undefined) ||
    (step.kind === 'delegate' && step.agent !== null);
  return isHandedOn ? 'SW4050' : undefined;
}
