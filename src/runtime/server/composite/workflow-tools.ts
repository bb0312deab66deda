import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { headOf, type ToolListing, type ToolResult } from '../wire.js';
import { describeShortly, describeWorkflow } from './description.js';
import { RUN_TOOLS, type RunTool, runTools, runToolsFor } from './run-tools.js';
import type { OfferedWorkflow, ServedWorkflow } from './served-workflows.js';
import type { WorkflowCalls, WorkflowCallsOptions } from './workflow-calls.js';

export interface WorkflowToolsOptions extends WorkflowCallsOptions {
  /** How much a listed tool says about its workflow. */
  readonly describe: 'short' | 'full';
  /** Tools that look after runs of workflows that are no longer there. Default: none. */
  readonly earlierRunTools?: readonly RunTool[];
}

/**
 * Workflows as tools, and the tools that look after their runs. What calls them is loaded with the first call: a server
 * lists its tools without it.
 */
export class WorkflowTools {
  /** In the order of names, the tools that look after runs last. */
  readonly listings: readonly ToolListing[];
  readonly runTools: readonly RunTool[];
  readonly #options: WorkflowToolsOptions;
  readonly #byTool: ReadonlyMap<string, OfferedWorkflow>;
  readonly #names: ReadonlySet<string>;
  #calls: Promise<WorkflowCalls> | undefined;

  constructor(options: WorkflowToolsOptions) {
    this.#options = options;
    const offered = [...options.workflows.values()].filter(isOffered);
    this.#byTool = new Map(offered.map((workflow) => [workflow.tool.name, workflow]));
    const own = [...this.#byTool.keys()].sort();
    const needed = new Set([
      ...runToolsFor([...options.workflows.values()]),
      ...(options.earlierRunTools ?? []),
    ]);
    this.runTools = RUN_TOOLS.filter((name) => needed.has(name));
    this.listings = [
      ...own.flatMap((name) => {
        const workflow = this.#byTool.get(name);
        return workflow === undefined ? [] : [listingOf(workflow, options.describe)];
      }),
      ...this.runTools.map((name) => runTools[name]),
    ];
    this.#names = new Set(this.listings.map(({ name }) => name));
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
    this.#calls ??= this.#load();
    const calls = await this.#calls;
    const workflow = this.#byTool.get(name);
    return workflow === undefined
      ? calls.callRunTool(name as RunTool, args as JsonObject, request)
      : calls.callWorkflow(workflow, args as JsonObject, request);
  }

  async #load(): Promise<WorkflowCalls> {
    const { WorkflowCalls } = await import('./workflow-calls.js');
    return new WorkflowCalls(this.#options);
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
  };
}
