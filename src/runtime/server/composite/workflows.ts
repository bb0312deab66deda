import type { CheckEnvironment } from '../../../check/environment.js';
import { bundle } from '../../../graph/bundle.js';
import type { JsonSchema } from '../../../graph/json.js';
import { kinds } from '../../../graph/kinds/kinds.js';
import type { Graph } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/node-expressions.js';
import { planOf } from '../../../plan/plan.js';
import type { Registry } from '../../catalogue/registry.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { RunnableWorkflow } from '../offers.js';
import { NestedWorkflowError, type RegistrationProblem, ToolNameError } from '../registration-problems.js';
import { toolNames } from './names.js';
import { inputSchemaOf, type OutputShape, outputShapeOf } from './schemas.js';

/** A workflow as runs of it are started. */
export interface ServedWorkflow {
  /** With all workflows it runs among its tasks. */
  readonly graph: Graph;
  /** Identity of the graph: from the registry, or else worked out when it is first read. */
  readonly hash: string;
  /** It may ask for something, or wait for a time. */
  readonly canWait: boolean;
  /** How it is offered as a tool, where it is one. */
  readonly tool?: WorkflowTool;
}

export interface WorkflowTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  readonly output: OutputShape;
}

/** All workflows of a server by name, in the order of names, or what is wrong with them. */
export interface ServedWorkflows {
  readonly workflows: ReadonlyMap<string, ServedWorkflow>;
  readonly problems: readonly RegistrationProblem[];
}

/** Names of the tools that look after runs, in the order they are listed. */
export const RUN_TOOLS = [
  'submit_result',
  'get_workflow_status',
  'cancel_workflow',
  'list_workflows',
] as const;

/** Puts together what is needed to run workflows, and to offer them as tools. */
export function servedWorkflows(registry: Registry, built: readonly RunnableWorkflow[]): ServedWorkflows {
  const all = [...Object.values(registry.workflows), ...built]
    .map(({ graph }) => graph)
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  const byName = new Map(all.map((graph) => [graph.name, graph]));
  const problems: RegistrationProblem[] = [];
  const bundled = all.map((graph) => {
    try {
      return bundle(graph, (name) => byName.get(name));
    } catch (error) {
      problems.push(new NestedWorkflowError(graph.name, thrownText(error)));
      return graph;
    }
  });
  const offered = bundled.filter(isTool);
  const taken = new Set(Object.keys(registry.tools));
  const named = toolNames(offered, taken);
  const environment: CheckEnvironment = {
    tools: new Map(Object.entries(registry.tools)),
    resources: new Map(Object.entries(registry.resources)),
    workflows: byName,
  };
  // A workflow that runs others is bundled into another graph, whose hash is worked out when it is first read.
  for (const { graph, hash } of Object.values(registry.workflows)) planOf(graph, hash);
  const workflows = new Map(
    bundled.map((graph) => {
      const name = named.names.get(graph.name);
      const tool =
        name === undefined
          ? {}
          : { tool: { name, inputSchema: inputSchemaOf(graph), output: outputShapeOf(graph, environment) } };
      return [graph.name, servedOf(graph, tool)];
    }),
  );
  const clashes = hasRuns(workflows.values()) ? RUN_TOOLS.filter((tool) => taken.has(tool)) : [];
  return {
    workflows,
    problems: [
      ...problems,
      ...named.problems,
      ...clashes.map((tool) => new ToolNameError({ tool, reason: 'reserved' })),
    ],
  };
}

function servedOf(graph: Graph, tool: Pick<ServedWorkflow, 'tool'>): ServedWorkflow {
  return {
    graph,
    get hash() {
      return planOf(graph).hash;
    },
    canWait: canWait(graph),
    ...tool,
  };
}

/** Whether runs of these can outlast the request that begins them. */
export function hasRuns(workflows: Iterable<ServedWorkflow>): boolean {
  return [...workflows].some(({ tool, canWait }) => tool !== undefined || canWait);
}

function isTool({ expose = [] }: Graph): boolean {
  return expose.includes('tool');
}

function canWait(graph: Graph): boolean {
  return [graph, ...(graph.tasks ?? [])].some((each) => nodesOf(each).some(({ kind }) => kinds[kind].waits));
}
