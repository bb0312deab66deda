import type { CheckEnvironment } from '../../../check/environment.js';
import { bundle } from '../../../graph/bundle.js';
import type { JsonSchema } from '../../../graph/json.js';
import { kinds } from '../../../graph/kinds/kinds.js';
import type { Graph } from '../../../graph/model.js';
import { isPortableName } from '../../../graph/names.js';
import { nodesOf } from '../../../graph/node-expressions.js';
import { planOf } from '../../../plan/plan.js';
import { thrownText } from '../../tools/exceptions.js';
import type { Registry } from '../../tools/registry.js';
import type { RunnableWorkflow } from '../offers.js';
import { NestedWorkflowError, type RegistrationProblem, ToolNameError } from '../registration-problems.js';
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

/** The names of the tools of workflows, or everything that is wrong with them. */
export interface ToolNames {
  /** By workflow. */
  readonly names: ReadonlyMap<string, string>;
  readonly problems: readonly ToolNameError[];
}

/**
 * Names the tools of workflows: `w_<name>`; all that would have one name, another tool's among them, `w_<domain>_<name>`.
 *
 * @param taken the names of the server's other tools.
 */
export function toolNames(
  workflows: readonly Pick<Graph, 'name' | 'domain'>[],
  taken: ReadonlySet<string>,
): ToolNames {
  const short = count(workflows.map(({ name }) => shortName(name)));
  const named = workflows.map(({ name, domain = 'default' }) => {
    const plain = shortName(name);
    const isAlone = short.get(plain) === 1 && !taken.has(plain);
    return { workflow: name, tool: isAlone ? plain : `w_${domain}_${name}` };
  });
  const all = count(named.map(({ tool }) => tool));
  const problems = named.flatMap(({ workflow, tool }) => {
    if (!isPortableName(tool)) return [new ToolNameError({ workflow, tool, reason: 'unfit' })];
    return all.get(tool) === 1 && !taken.has(tool)
      ? []
      : [new ToolNameError({ workflow, tool, reason: 'taken' })];
  });
  return { names: new Map(named.map(({ workflow, tool }) => [workflow, tool])), problems };
}

function shortName(workflow: string): string {
  return `w_${workflow}`;
}

function count(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
