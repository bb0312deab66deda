import { type CheckEnvironment, environmentOf, GraphMemo, oncePerGraph } from '../../../check/environment.js';
import { schemaOf, typesOf } from '../../../check/value-type.js';
import { resultTypeOf } from '../../../check/values.js';
import type { Icon } from '../../../decorators/decorate.js';
import { defined } from '../../../graph/defined.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ownProperty,
} from '../../../graph/json.js';
import { kinds } from '../../../graph/kinds/kinds.js';
import type { Node } from '../../../graph/kinds/node.js';
import type { Graph, Input, TaskSupport } from '../../../graph/model.js';
import { didYouMeanSentence, isPortableName, nearestName } from '../../../graph/names.js';
import { bundle, isServerCall, nodesWithTasks } from '../../../graph/nodes.js';
import { rebased } from '../../../graph/part-schema.js';
import { clip } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { planOf } from '../../../plan/compile.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { lackingScopes, scopeFailure } from '../../runs/run/owner.js';
import { thrownText } from '../../tools/exceptions.js';
import {
  type FunctionEntry,
  isPrivateTool,
  type Registry,
  type WorkflowEntry,
} from '../../tools/registry.js';
import { NestedWorkflowError, type RegistrationProblem, ToolNameError } from '../registrations.js';
import { ENVELOPE_SCHEMA, RUN_TOOLS, type RunTraits, runToolsFor } from './run-tools.js';

/** What the names of workflows' tools begin with, unless the server says otherwise. */
export const DEFAULT_PREFIX = 'w_';

export interface ServedWorkflow extends RunTraits {
  /** With all workflows it runs among its tasks. */
  readonly graph: Graph;
  /** Identity of the graph: from the registry, or else worked out when it is first read. */
  readonly hash: string;
  /** How it is offered as a tool, where it is one. */
  readonly tool?: WorkflowTool;
  /** Other versions of it, without tools. */
  readonly earlier?: readonly ServedWorkflow[];
}

export type OfferedWorkflow = ServedWorkflow & { readonly tool: WorkflowTool };

export interface WorkflowTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  readonly output: OutputShape;
  readonly icons?: readonly Icon[];
  readonly meta?: JsonObject;
}

/** All workflows of a server by name, in the order of names, or what is wrong with them. */
export interface ServedWorkflows {
  readonly workflows: ReadonlyMap<string, ServedWorkflow>;
  readonly problems: readonly RegistrationProblem[];
}

/** What is known of the workflows of one registry, of which some are replaced: worked out once for each graph. */
export class ServedMemo {
  readonly bundled = new GraphMemo<Graph>();
  readonly output = new GraphMemo<OutputShape>();
  readonly inputSchema = oncePerGraph(inputSchemaOf);
  readonly traits: (graph: Graph) => Omit<RunTraits, 'tool' | 'earlier'>;

  constructor(registry: Registry) {
    this.traits = oncePerGraph((graph) => runTraitsOf(graph, registry));
  }
}

/**
 * Puts together what is needed to run workflows, and to offer them as tools.
 *
 * @param built those that a program or a file has beside the registry; they take the place of its workflows of the same
 *   names. A server refuses such names before (`register`).
 */
export function servedWorkflows(
  registry: Registry,
  built: readonly RunnableWorkflow[],
  prefix: string = DEFAULT_PREFIX,
  memo = new ServedMemo(registry),
): ServedWorkflows {
  const graphs = [...Object.values(registry.workflows), ...built].map(({ graph }) => graph);
  const byName = new Map(graphs.map((graph) => [graph.name, graph]));
  const all = [...byName.values()].sort((one, right) => (one.name < right.name ? -1 : 1));
  const problems: RegistrationProblem[] = [];
  const environment = environmentOf(registry, graphs);
  const whole = (graph: Graph): Graph => {
    try {
      return memo.bundled.get(graph, environment, () => bundle(graph, (name) => byName.get(name)));
    } catch (error) {
      problems.push(new NestedWorkflowError(graph.name, thrownText(error)));
      return graph;
    }
  };
  const bundled = all.map(whole);
  const others = new Map(
    built.map(({ graph: { name }, earlier }) => [
      name,
      earlier?.map(({ graph }) => servedOf(whole(graph), {}, memo)),
    ]),
  );
  const offered = bundled.filter((graph) => isOffered(graph, 'tool'));
  const otherTools = new Set(Object.keys(registry.tools));
  const named = toolNames(offered, otherTools, prefix);
  // A workflow that runs others is bundled into another graph, whose hash is worked out when it is first read.
  for (const { graph, hash } of Object.values(registry.workflows)) planOf(graph, hash);
  const workflows = new Map(
    bundled.map((graph) => {
      const name = named.names.get(graph.name);
      const tool =
        name === undefined
          ? {}
          : {
              tool: {
                name,
                // A server that has just started has no client yet.
                get inputSchema() {
                  return memo.inputSchema(graph);
                },
                get output() {
                  return memo.output.get(graph, environment, () => outputShapeOf(graph, environment));
                },
                ...listedAs(ownProperty(registry.workflows, graph.name)),
              },
            };
      const more = { ...tool, ...defined({ earlier: others.get(graph.name) }) };
      return [graph.name, servedOf(graph, more, memo)];
    }),
  );
  const hasRuns = runToolsFor([...workflows.values()]).length > 0;
  const clashes = hasRuns ? RUN_TOOLS.filter((tool) => otherTools.has(tool)) : [];
  return {
    workflows,
    problems: [
      ...problems,
      ...named.problems,
      ...clashes.map((tool) => new ToolNameError({ tool, reason: 'reserved' })),
    ],
  };
}

/** What the decorator of a workflow says to the lists of clients. */
function listedAs({ icons, meta }: Partial<WorkflowEntry> = {}): Pick<WorkflowTool, 'icons' | 'meta'> {
  return { ...defined({ icons, meta }) };
}

function servedOf(
  graph: Graph,
  more: Pick<ServedWorkflow, 'tool' | 'earlier'>,
  memo: ServedMemo,
): ServedWorkflow {
  return {
    graph,
    get hash() {
      return planOf(graph).hash;
    },
    ...memo.traits(graph),
    ...more,
  };
}

/** What runs of a graph may need, apart from its tool. */
export function runTraitsOf(graph: Graph, { tools }: Registry): Omit<RunTraits, 'tool' | 'earlier'> {
  const nodes = nodesWithTasks(graph);
  const isPrivate = (node: Node) => {
    const entry = isServerCall(node) ? ownProperty(tools, node.tool) : undefined;
    return entry !== undefined && isPrivateTool(entry);
  };
  return {
    isExposed: isOffered(graph, 'prompt') || isOffered(graph, 'tool'),
    asks: nodes.some(({ kind }) => kind === 'ask'),
    needsAgent: nodes.some(isForAgent),
    hasChildren: nodes.some((node) => node.kind === 'foreach' && node.agent !== undefined),
    canWait: nodes.some((node) => kinds[node.kind].waits || isForAgent(node)),
    isTask: graph.task === true,
    // The reader of a conversation supplies values itself, with the calls that follow.
    outlastsRequest: nodes.some(
      (node) =>
        (kinds[node.kind].waits && !(node.kind === 'ask' && node.mode === 'model')) ||
        isForAgent(node) ||
        isPrivate(node),
    ),
  };
}

/** Whether a node is work for the agent that called, or for others that it starts. */
function isForAgent(node: Node): boolean {
  return node.executor === 'client' || (node.kind === 'foreach' && node.agent !== undefined);
}

/** The names of the tools of workflows, or everything that is wrong with them. */
export interface ToolNames {
  /** By workflow. */
  readonly names: ReadonlyMap<string, string>;
  readonly problems: readonly ToolNameError[];
}

/**
 * Names the tools of workflows: the prefix and the name; all that would have one name, another tool's among them, have
 * the domain before the name: `w_<domain>_<name>`.
 *
 * @param otherTools the names of the server's other tools.
 */
export function toolNames(
  workflows: readonly Pick<Graph, 'name' | 'domain'>[],
  otherTools: ReadonlySet<string>,
  prefix: string = DEFAULT_PREFIX,
): ToolNames {
  const shortName = (workflow: string): string => `${prefix}${workflow}`;
  const short = count(workflows.map(({ name }) => shortName(name)));
  const named = workflows.map(({ name, domain = 'default' }) => {
    const plain = shortName(name);
    const isAlone = short.get(plain) === 1 && !otherTools.has(plain);
    return { workflow: name, tool: isAlone ? plain : `${prefix}${domain}_${name}` };
  });
  const all = count(named.map(({ tool }) => tool));
  const problems = named.flatMap(({ workflow, tool }) => {
    if (!isPortableName(tool)) return [new ToolNameError({ workflow, tool, reason: 'unfit' })];
    return all.get(tool) === 1 && !otherTools.has(tool)
      ? []
      : [new ToolNameError({ workflow, tool, reason: 'taken' })];
  });
  return { names: new Map(named.map(({ workflow, tool }) => [workflow, tool])), problems };
}

function count(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The schema of a workflow's arguments: nothing else is taken, and nothing coerced. */
export function inputSchemaOf({ inputs }: Pick<Graph, 'inputs'>): JsonSchema {
  const required = inputs.filter((input) => input.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((input) => [input.name, argumentSchema(input)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function argumentSchema({
  name,
  title,
  description,
  schema,
  secret,
  default: defaultValue,
}: Input): JsonSchema {
  const about =
    secret === true ? `${description} (secret: its value is never shown)`.trimStart() : description;
  return {
    ...rebased(schema, `#/properties/${name}`),
    ...defined({ title }),
    ...(about === '' ? {} : { description: about }),
    ...(defaultValue === undefined || secret === true ? {} : { default: defaultValue }),
  };
}

/** What a workflow's tool gives as structured content. */
export interface OutputShape {
  /** The root of the result may be something else than an object: it is the member `result`. */
  readonly isWrapped: boolean;
  /** The result or the envelope. */
  readonly schema: JsonSchema;
}

/** A run that fails, waits or takes long answers with the envelope: what the tool gives is one of two. */
export function outputShapeOf(graph: Graph, registered: CheckEnvironment): OutputShape {
  const type = resultTypeOf(graph, registered);
  const types = typesOf(type);
  const isWrapped = types === undefined || types.size !== 1 || !types.has('object');
  const result = isWrapped
    ? {
        type: 'object',
        properties: { result: schemaOf(type, '#/anyOf/0/properties/result') },
        required: ['result'],
        additionalProperties: false,
      }
    : schemaOf(type, '#/anyOf/0');
  return {
    isWrapped,
    schema: {
      type: 'object',
      anyOf: [
        { ...result, description: 'The result of the workflow' },
        { ...ENVELOPE_SCHEMA, description: 'The state of the run, if it has no result' },
      ],
    },
  };
}

/** A workflow that can be run, wherever its graph comes from. */
export interface RunnableWorkflow extends Pick<WorkflowEntry, 'graph' | 'hash'> {
  /** Other versions of it. */
  readonly earlier?: readonly RunnableWorkflow[];
}

/** How a workflow is offered that does not say it. */
const DEFAULT_EXPOSE: NonNullable<Graph['expose']> = ['prompt', 'tool'];

export function isOffered({ expose = DEFAULT_EXPOSE }: Graph, way: 'prompt' | 'tool'): boolean {
  return expose.includes(way);
}

/** How the tool of a workflow may be called as a task. */
export function taskSupportOf({ task, taskSupport }: Pick<Graph, 'task' | 'taskSupport'>): TaskSupport {
  return taskSupport ?? (task === true ? 'optional' : 'forbidden');
}

/** What was registered, checked. */
export interface Registered {
  readonly workflows: readonly RunnableWorkflow[];
  /** Those of the registry and those of built workflows. */
  readonly functions: Readonly<Record<string, FunctionEntry>>;
  /** What is not wrong, but looks like a mistake; one sentence each. */
  readonly warnings: readonly string[];
}

/** A workflow to start, with its arguments. */
interface Choice {
  readonly workflow: ServedWorkflow;
  readonly args: JsonObject;
  readonly warnings: readonly RunWarning[];
}

/** What a call of `start_workflow` starts, or why it starts no run. */
export function chooseWorkflow(
  workflows: ReadonlyMap<string, ServedWorkflow>,
  input: JsonObject,
  request: IdentifiedRequest,
): Choice | { readonly failure: Failure } {
  const name = String(ownProperty(input, 'name'));
  const versions = versionsOf(workflows.get(name)).filter(({ isExposed }) => isExposed);
  const version = ownProperty(input, 'version');
  const workflow = versions.find(({ graph }) => version === undefined || version === graph.version);
  if (versions.length === 0) return unknownName(name, workflows);
  if (workflow === undefined) return otherVersion(name, versions, String(version));
  const missing = lackingScopes(workflow.graph.scopes, request);
  if (missing.length > 0) return { failure: scopeFailure(missing) };
  const inputs = ownProperty(input, 'inputs') ?? {};
  const args = objectIn(inputs);
  if (args === undefined)
    return invalid(`\`inputs\` of '${name}' must be an object: write { "inputs": { "name": value } }`);
  return { workflow, args, warnings: inputs === args ? [] : [STRINGIFIED] };
}

/** Why a name starts no run. */
export function unknownName(
  name: string,
  workflows: ReadonlyMap<string, ServedWorkflow>,
): { readonly failure: Failure } {
  const names = [...workflows].flatMap(([each, { isExposed }]) => (isExposed ? [each] : []));
  const near = didYouMeanSentence(nearestName(name, names));
  return invalid(
    `The server has no workflow '${clip(name)}'. ${near === undefined ? '' : `${near} `}Take a name from list_workflows`,
  );
}

function otherVersion(
  name: string,
  workflows: readonly ServedWorkflow[],
  requested: string,
): { readonly failure: Failure } {
  const versions = workflows.map(({ graph: { version = '0.0.0' } }) => version);
  return invalid(
    `The server has version ${versions.join(', ')} of workflow '${name}', not ${clip(requested)}: leave \`version\` out for ${versions[0]}, or send one of them`,
  );
}

/** All versions of a workflow, the one of its tool first. */
export function versionsOf(workflow: ServedWorkflow | undefined): readonly ServedWorkflow[] {
  return workflow === undefined ? [] : [workflow, ...(workflow.earlier ?? [])];
}

function invalid(message: string): { readonly failure: Failure } {
  return { failure: { code: 'E_INPUT_INVALID', message } };
}

function objectIn(value: Json): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return undefined;
  try {
    const parsed = JSON.parse(value) as Json;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const STRINGIFIED: RunWarning = {
  code: 'W_STRINGIFIED',
  message: '`inputs` came as text that holds JSON, and was read as such: send the JSON itself.',
};
