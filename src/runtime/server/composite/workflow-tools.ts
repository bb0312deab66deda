import { answererKey, describeAnswerers, isForOthers } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Graph, Input, TaskSupport } from '../../../graph/model.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
import { clip, clipText } from '../../../graph/printable-text.js';
import { failurePolicy } from '../../../print/failure-policy.js';
import { flowText } from '../../../print/flow.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import type { Envelope, RunAnswer } from '../../runs/run/envelope.js';
import type { TaskOrigin } from '../../runs/store/host-rows.js';
import { headOf, type ToolListing, type ToolResult } from '../wire.js';
import { RUN_TOOLS, type RunTool, runTools, runToolsFor } from './run-tools.js';
import { type OfferedWorkflow, type ServedWorkflow, taskSupportOf } from './served-workflows.js';
import type { WorkflowCalls, WorkflowCallsOptions } from './workflow-calls.js';

export interface WorkflowToolsOptions extends WorkflowCallsOptions {
  /** How much a listed tool says about its workflow. */
  readonly describe: 'short' | 'full';
  /** Whether the state of runs is shown. */
  readonly debug: boolean;
  /** Tools that look after runs of workflows that are no longer there. Default: none. */
  readonly earlierRunTools?: readonly RunTool[];
}

/**
 * Workflows as tools, and the tools that look after their runs. What calls them is loaded with the first call: a server
 * lists its tools without it.
 */
export class WorkflowTools {
  readonly runTools: readonly RunTool[];
  readonly #options: WorkflowToolsOptions;
  readonly #byTool: ReadonlyMap<string, OfferedWorkflow>;
  readonly #names: ReadonlySet<string>;
  #listings: readonly ToolListing[] | undefined;
  #calls: Promise<WorkflowCalls> | undefined;

  constructor(options: WorkflowToolsOptions) {
    this.#options = options;
    const offered = [...options.workflows.values()].filter(isOffered);
    this.#byTool = new Map(offered.map((workflow) => [workflow.tool.name, workflow]));
    const own = [...this.#byTool.keys()].sort();
    const needed = new Set<RunTool>([
      ...runToolsFor([...options.workflows.values()]),
      ...(options.earlierRunTools ?? []),
    ]);
    if (options.debug && needed.size > 0) needed.add('get_workflow_state');
    this.runTools = RUN_TOOLS.filter((name) => needed.has(name));
    this.#names = new Set([...own, ...this.runTools]);
  }

  /** In the order of names, the tools that look after runs last. */
  get listings(): readonly ToolListing[] {
    const { describe } = this.#options;
    const workflows = [...this.#byTool].sort(([one], [other]) => (one < other ? -1 : 1));
    this.#listings ??= [
      ...workflows.map(([, workflow]) => listingOf(workflow, describe)),
      ...this.runTools.map((name) => ({ ...runTools[name], ...executionOf(this.taskSupportOf(name)) })),
    ];
    return this.#listings;
  }

  get names(): Iterable<string> {
    return this.#names;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The workflow that one of {@link names} runs; nothing for a tool that manages runs. */
  workflowOf(name: string): string | undefined {
    return this.#byTool.get(name)?.graph.name;
  }

  /** What a client needs to call one of {@link names}. */
  scopesOf(name: string): readonly string[] | undefined {
    return this.#byTool.get(name)?.graph.scopes;
  }

  /** Calls one of {@link names}. A failure, a refused input among them, is a result with `isError`. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    request: IdentifiedRequest,
  ): Promise<ToolResult> {
    const calls = await this.#loaded();
    const workflow = this.#byTool.get(name);
    return workflow === undefined
      ? calls.callRunTool(name as RunTool, args as JsonObject, request)
      : calls.callWorkflow(workflow, args as JsonObject, request);
  }

  /** How a tool may be called as a task. Undefined for a tool that is not here. */
  taskSupportOf(name: string): TaskSupport | undefined {
    const workflow = this.#byTool.get(name);
    if (workflow !== undefined) return taskSupportOf(workflow.graph);
    if (!this.runTools.some((tool) => tool === name)) return undefined;
    const served = [...this.#options.workflows.values()];
    const isTask = served.some(({ graph, isExposed }) => isExposed && taskSupportOf(graph) !== 'forbidden');
    return name === 'start_workflow' && isTask ? 'optional' : 'forbidden';
  }

  /** As {@link call}, as a task: the answer comes when its run is stored. */
  async startTask(
    args: Readonly<Record<string, unknown>>,
    task: TaskOrigin,
    request: IdentifiedRequest,
  ): Promise<RunAnswer> {
    return (await this.#loaded()).startTask(this.#byTool.get(task.tool), args as JsonObject, task, request);
  }

  /** Starts a run of a workflow, offered or not. Resolves when it is stored. */
  async startRun(workflow: string, args: JsonObject, request: IdentifiedRequest): Promise<RunAnswer> {
    return (await this.#loaded()).startRun(workflow, args, request);
  }

  /** What the call of a tool returns that a run is for. Default: the tool of its workflow. */
  async taskResult(tool: string | undefined, envelope: Envelope): Promise<ToolResult> {
    const { name } = envelope.definition;
    const workflow =
      tool === undefined
        ? [...this.#byTool.values()].find(({ graph }) => graph.name === name)
        : this.#byTool.get(tool);
    return (await this.#loaded()).taskResult(workflow, envelope);
  }

  #loaded(): Promise<WorkflowCalls> {
    this.#calls ??= import('./workflow-calls.js').then(
      ({ WorkflowCalls }) => new WorkflowCalls(this.#options),
    );
    return this.#calls;
  }
}

function isOffered(workflow: ServedWorkflow): workflow is OfferedWorkflow {
  return workflow.tool !== undefined;
}

function listingOf({ graph, tool, canWait }: OfferedWorkflow, describe: 'short' | 'full'): ToolListing {
  return {
    ...headOf(tool.name, { ...tool, ...defined({ title: graph.title }) }),
    description: describe === 'full' ? describeWorkflow(graph, canWait) : describeShortly(graph, canWait),
    inputSchema: tool.inputSchema,
    outputSchema: tool.output.schema,
    ...executionOf(taskSupportOf(graph)),
  };
}

function executionOf(taskSupport: TaskSupport | undefined): Pick<ToolListing, 'execution'> {
  return taskSupport === undefined || taskSupport === 'forbidden' ? {} : { execution: { taskSupport } };
}

/** The longest description of a tool, in UTF-16 code units. */
const DESCRIPTION_LIMIT = 1_024;

/** A longer flow shows fewer levels, and is cut in the end. */
const FLOW_LIMIT = 400;

/** What a box that has to be short has left for its flow, and for its policy. */
const SHORT_LIMIT = 120;

/** How many levels of steps a flow shows. */
const ALL_LEVELS = Number.POSITIVE_INFINITY;

/** How much of a box is shown. */
interface Detail {
  readonly parameters: boolean;
  readonly levels: number;
  readonly limit: number;
}

/** From the whole box to what is always left of it: parameters are dropped first, then nested steps. */
const DETAILS: readonly Detail[] = [
  { parameters: true, levels: ALL_LEVELS, limit: FLOW_LIMIT },
  { parameters: false, levels: ALL_LEVELS, limit: FLOW_LIMIT },
  { parameters: false, levels: 2, limit: FLOW_LIMIT },
  { parameters: false, levels: 1, limit: FLOW_LIMIT },
  { parameters: false, levels: 1, limit: SHORT_LIMIT },
];

/**
 * The description of a workflow's tool: the author's, then a box with its flow, what happens on a failure, and its
 * parameters. Where that is too long, the box says less, and in the end the author's words are cut as well.
 *
 * @param canWait whether a run may be over only after the call is: it asks, or waits for a time.
 */
export function describeWorkflow(graph: Graph, canWait: boolean): string {
  for (const detail of DETAILS) {
    const described = `${graph.description}\n\n${boxOf(graph, canWait, detail)}`;
    if (described.length <= DESCRIPTION_LIMIT) return described;
  }
  const smallest = boxOf(graph, canWait, { parameters: false, levels: 1, limit: SHORT_LIMIT });
  return `${clipText(graph.description, DESCRIPTION_LIMIT - smallest.length - 2)}\n\n${smallest}`;
}

/** The description of a workflow's tool without the box: the author's, and whether a run may wait. */
export function describeShortly(graph: Graph, canWait: boolean): string {
  const note = canWait ? `\n\n${waitingNote(graph)}` : '';
  return `${clipText(graph.description, DESCRIPTION_LIMIT - note.length)}${note}`;
}

function boxOf(graph: Graph, canWait: boolean, { parameters, levels, limit }: Detail): string {
  const { inputs } = graph;
  const lines = [
    clipText(shownFlow(graph, levels), limit),
    clipText(`On failure: ${failurePolicy(graph)}`, limit),
    ...(canWait ? [waitingNote(graph)] : []),
    ...(inputs.length > 0 && parameters ? ['Params:'] : []),
    ...(parameters ? inputs.map((input) => `  ${input.name} (${notesOf(input).join(', ')})`) : []),
    ...(inputs.length > 0 && !parameters ? [`Params: ${inputs.length}, as the input schema says`] : []),
  ];
  const head = clipText(`Workflow: ${graph.name}`, SHORT_LIMIT);
  return [`┌─ ${head}`, ...lines.map((line) => `│ ${line}`), '└─'].join('\n');
}

/** As many levels of the flow as there is room for. */
function shownFlow(graph: Graph, levels: number): string {
  const flows = levels === ALL_LEVELS ? [levels, 2, 1] : [levels];
  const texts = flows.map((each) => flowText(graph, { depth: each }));
  return texts.find((flow) => flow.length <= FLOW_LIMIT) ?? texts.at(-1) ?? '';
}

/** What a run may wait for, by the steps of the workflow and of those it runs. */
function waitingNote(graph: Graph): string {
  const nodes = nodesWithTasks(graph);
  const asks = nodes.filter((node) => node.kind === 'ask');
  const others = asks.flatMap(({ answerBy }) => (isForOthers(answerBy) ? answerBy : []));
  if (others.length === 0 && nodes.some(({ executor }) => executor === 'client'))
    return 'May have work for you before it is done: do each action, and answer with submit_result.';
  if (asks.length === 0) return 'May wait for a time: get_workflow_status returns its state.';
  if (others.length === 0) return 'May ask a question before it is done: then answer with submit_result.';
  const unique = [...new Map(others.map((each) => [answererKey(each), each])).values()];
  const who = `only ${clip(describeAnswerers(unique))} may answer: get_workflow_status returns its state.`;
  return asks.every(({ answerBy }) => isForOthers(answerBy))
    ? `May ask a question before it is done, which ${who}`
    : `May ask questions before it is done: then answer with submit_result. Some ${who}`;
}

function notesOf({ schema, required, default: defaultValue, secret }: Input): string[] {
  return [
    typeof schema.type === 'string' ? schema.type : Array.isArray(schema.enum) ? 'one of a few' : 'any',
    required ? 'required' : 'optional',
    ...(defaultValue === undefined || secret === true ? [] : [`default ${JSON.stringify(defaultValue)}`]),
    ...(secret === true ? ['secret'] : []),
  ];
}
