import { type CheckEnvironment, checkGraph } from '../../check/check-graph.js';
import { withoutPlaces } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { DictExpr, Expr, ListExpr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph, TaskSupport } from '../../graph/model.js';
import { compensationsOf, ownResources } from '../../graph/nodes.js';
import { parseGraph } from '../../graph/schema/parse-graph.js';
import { valueFault } from '../json-schema/schema-compiler.js';
import {
  type ArgumentOptions,
  type ResultValue,
  type StepDefinition,
  type StrategyOptions,
  shapeErrors,
  type WorkflowDefinition,
  type WorkflowDetails,
} from './definition.js';
import { findingsOf } from './diagnostic-errors.js';
import { WorkflowBuildError, type WorkflowError, within } from './errors.js';
import { type Lowered, lower } from './lower.js';
import type { Naming, ToolName, Uri } from './names.js';
import {
  type FunctionEntry,
  type Registered,
  type ResourceLike,
  resolveTool,
  signatureOf,
  UNKNOWN,
} from './tools-and-resources.js';

/** A built workflow: a graph without errors, and the functions it refers to. */
export class Workflow {
  readonly #definition: WorkflowDefinition;
  readonly #compiled: Compiled;

  /** @internal Made by `SequentialBuilder.build`. */
  constructor(definition: WorkflowDefinition, compiled: Compiled) {
    this.#definition = definition;
    this.#compiled = compiled;
  }

  get name(): string {
    return this.#compiled.graph.name;
  }

  get description(): string {
    return this.#compiled.graph.description;
  }

  get graph(): Graph {
    return this.#compiled.graph;
  }

  /** The functions that the graph refers to, by name. */
  get functions(): ReadonlyMap<string, FunctionEntry> {
    return this.#compiled.functions;
  }

  /** Warnings about likely mistakes, in the order of the calls of the builder. */
  get warnings(): readonly WorkflowError[] {
    return this.#compiled.warnings;
  }

  /** Returns the names of the tools it calls, each once, in the order of the first call. */
  requiredTools(): ToolName[] {
    const called = this.graph.nodes.flatMap((node) => (node.kind === 'call' ? [node.tool as ToolName] : []));
    return [...new Set(called)];
  }

  /**
   * Returns the URIs of its instructions and of the resources with one address that its steps show or read, each once,
   * instructions first.
   */
  requiredResources(): Uri[] {
    const ids = this.graph.nodes.flatMap((node) => [
      ...ownResources(node).map(({ uri }) => uri),
      ...(node.kind === 'resource' && node.uri.kind === 'literal' ? [String(node.uri.value)] : []),
    ]);
    return [...new Set([...this.graph.instructions.map(({ uri }) => uri), ...ids])] as Uri[];
  }

  /**
   * Checks the workflow against registered tools with their inputs and outputs, resources and functions. The graph in
   * the result has the registered names of resources that were given by URI, and the registered names and hashes of
   * functions.
   */
  checkAgainst(registered: Registered): CompileResult {
    return compile(this.#definition, registered);
  }
}

/** A built workflow, or all its errors in the order of the calls of the builder. */
export type BuildResult =
  | { readonly ok: true; readonly workflow: Workflow }
  | { readonly ok: false; readonly problems: readonly WorkflowError[] };

/**
 * Builds a workflow whose steps run in order, each after the one before it. Every method returns a new builder and
 * leaves this one unchanged.
 */
export class SequentialBuilder {
  readonly #definition: WorkflowDefinition;

  /** @internal Use {@link sequential}. */
  constructor(definition: WorkflowDefinition) {
    this.#definition = definition;
  }

  /**
   * Adds an argument, which the caller supplies. It is text unless `schema` gives another type.
   *
   * @param options whether it is required, or `{ required, schema, default, title, secret }`.
   */
  argument(
    name: Naming<'argument'>,
    description: string,
    options: boolean | ArgumentOptions,
  ): SequentialBuilder {
    // Any other value is reported when the workflow is built.
    const more = typeof options === 'object' && options !== null ? options : { required: options };
    return this.#with({ args: [...this.#definition.args, { name, description, ...more }] });
  }

  /** Adds a resource that a reader should know before the first step. */
  instruction(resource: ResourceLike): SequentialBuilder {
    return this.#with({ instructions: [...this.#definition.instructions, resource] });
  }

  /** Adds a step, which runs after those before it. */
  step(step: { readonly definition: StepDefinition }): SequentialBuilder {
    // A value that is not a step is reported when the workflow is built.
    const definition = step?.definition;
    return this.#with({ steps: [...this.#definition.steps, definition] });
  }

  /**
   * Sets the result of the workflow: the value of a source, or an object of values of sources. Without it the workflow
   * has no result.
   *
   * @param id the id of the result's node. Default: `output`, with a number if that is taken.
   * @example
   * ```ts
   * sequential('add', 'add a line').step(step(AddLine).bind('line')).returns({ at: fromStep('line', 'number') })
   * ```
   */
  returns(value: ResultValue, id?: Naming<'step'>): SequentialBuilder {
    return this.#with({ result: { value, ...defined({ id }) } });
  }

  /** Sets what a failed step means for the others. Default: `failFast()`. */
  errorStrategy(strategy: StrategyOptions): SequentialBuilder {
    return this.#with({ strategy });
  }

  /** Makes its runs tasks: a step that fails waits for its result, or for another attempt. As the detail `task`. */
  withTaskSupport(): SequentialBuilder {
    return this.#with({ details: { ...this.#definition.details, task: true } });
  }

  /** Sets whether clients may, or must, call the tool of the workflow as an MCP task. As the detail `taskSupport`. */
  taskSupport(taskSupport: TaskSupport): SequentialBuilder {
    return this.#with({ details: { ...this.#definition.details, taskSupport } });
  }

  /**
   * Builds the workflow.
   *
   * @param registered what the workflow may use, for example `registeredIn(registry)`. Without it every tool and
   *   resource is assumed to exist. Inputs and outputs are then checked only against the schemas of tool classes; see
   *   `Workflow.checkAgainst`.
   * @throws WorkflowBuildError with all errors.
   */
  build(registered?: Registered): Workflow {
    const result = this.tryBuild(registered);
    if (!result.ok) throw new WorkflowBuildError(this.#definition.name, result.problems);
    return result.workflow;
  }

  /** Builds the workflow, and returns the errors instead of throwing. See {@link build}. */
  tryBuild(registered?: Registered): BuildResult {
    const compiled = compile(this.#definition, registered);
    if (!compiled.ok) return compiled;
    return { ok: true, workflow: new Workflow(this.#definition, compiled) };
  }

  #with(change: Partial<WorkflowDefinition>): SequentialBuilder {
    return new SequentialBuilder({ ...this.#definition, ...change });
  }
}

/**
 * Begins a workflow whose steps run in order.
 *
 * @param name unique among the workflows and prompts of a registry; `^[A-Za-z][A-Za-z0-9_-]{0,61}$`.
 * @param details further options: `{ title, domain, version, expose, scopes, failFast, onFailure, task, taskSupport }`.
 * @example
 * ```ts
 * const addTask = sequential('add-task', 'add a task to a project')
 *   .argument('project', 'Project page, by name or alias', true)
 *   .instruction(LogseqIntro)
 *   .step(step(ListPages).bind('list'))
 *   .step(
 *     step(VerifyProject)
 *       .arg('project', promptArg('project'))
 *       .arg('available', fromStep('list', 'pages'))
 *       .guidance("Find the page that '{project}' means")
 *       .bind('page'),
 *   )
 *   .build();
 * ```
 */
export function sequential(
  name: string,
  description: string,
  details: WorkflowDetails = {},
): SequentialBuilder {
  return new SequentialBuilder({
    name,
    description,
    details: { ...details },
    args: [],
    instructions: [],
    steps: [],
  });
}

/** The graph of a workflow without errors. */
export interface Compiled {
  readonly graph: Graph;
  /** The functions that the graph refers to, by name. */
  readonly functions: ReadonlyMap<string, FunctionEntry>;
  readonly warnings: readonly WorkflowError[];
}

/** The graph of a workflow, or all its errors in the order of the calls of the builder. */
export type CompileResult =
  | ({ readonly ok: true } & Compiled)
  | { readonly ok: false; readonly problems: readonly WorkflowError[] };

/**
 * Makes the graph of a workflow, and checks it.
 *
 * @param registered what the workflow may use. Without it every tool and resource is assumed to exist.
 */
function compile(definition: WorkflowDefinition, registered?: Registered): CompileResult {
  const result = compiled(definition, registered);
  for (const error of result.ok ? result.warnings : result.problems) within(String(definition.name), error);
  return result;
}

function compiled(definition: WorkflowDefinition, registered?: Registered): CompileResult {
  const misshapen = shapeErrors(definition);
  if (misshapen.length > 0) return { ok: false, problems: misshapen };
  const lowered = lower(definition, registered);
  const environment = withUnresolved(registered ?? assumed(definition, lowered.graph), lowered);
  const parsed = parseGraph(lowered.hasForeignParts ? lowered.graph : withoutExpressions(lowered.graph));
  const { errors, warnings } = findingsOf(lowered, environment, [
    ...(parsed.ok ? [] : parsed.diagnostics),
    ...checkGraph(lowered.graph, environment, { valueFault }),
    ...checkTransforms(lowered, environment),
  ]);
  if (errors.length > 0) return { ok: false, problems: errors };
  // The places serve only to translate diagnostics.
  const graph = withoutPlaces(lowered.graph);
  return { ok: true, graph, functions: lowered.functions, warnings };
}

const NO_VALUE: Expr = { kind: 'literal' };
const NO_INPUT: DictExpr = { kind: 'dict', entries: [] };
const NO_ITEMS: ListExpr = { kind: 'list', items: [] };

/**
 * The graph with trivial expressions. Those of the builder are well-formed, and to parse them takes most of the time.
 */
function withoutExpressions(graph: Graph): Graph {
  const bare = (node: Node): Node => {
    const { guidance: _guidance, summary: _summary, ...rest } = node;
    switch (rest.kind) {
      case 'call':
        return { ...rest, input: NO_INPUT };
      case 'resource':
        return { ...rest, uri: NO_VALUE };
      case 'compute':
        return { ...rest, value: NO_ITEMS };
      case 'return':
        return { ...rest, value: NO_VALUE };
      default:
        return node;
    }
  };
  return { ...graph, nodes: graph.nodes.map(bare) };
}

/** An environment in which every tool and resource exists, with the signatures that the classes of tools have. */
function assumed({ name, steps }: WorkflowDefinition, { nodes, instructions }: Graph): CheckEnvironment {
  const tools = nodes.flatMap((node) =>
    node.kind === 'call' ? [node, ...compensationsOf(node)].map(({ tool }) => [tool, UNKNOWN] as const) : [],
  );
  const calls = steps.flatMap((step) => (step.kind === 'call' ? [step, step.compensate ?? step] : []));
  const signatures = calls.map(({ tool }) => [resolveTool(tool, name).name, signatureOf(tool)] as const);
  const reads = nodes.flatMap((node) => [
    ...ownResources(node),
    ...(node.kind === 'resource'
      ? [{ resource: node.resource, uri: node.uri.kind === 'literal' ? String(node.uri.value) : '' }]
      : []),
  ]);
  return {
    // A handle of a tool does not hide the signature of its class.
    tools: new Map([...tools, ...signatures.filter(([, signature]) => signature !== UNKNOWN)]),
    resources: new Map([...instructions, ...reads].map(({ resource, uri }) => [resource, { uri }])),
  };
}

/** Adds the tools whose errors have been reported, so that the checker does not report them again. */
function withUnresolved(environment: CheckEnvironment, { unresolvedTools }: Lowered): CheckEnvironment {
  if (unresolvedTools.length === 0) return environment;
  const unresolved = unresolvedTools.map((name) => [name, UNKNOWN] as const);
  return { ...environment, tools: new Map([...unresolved, ...environment.tools]) };
}

/** Checks the transforms as if they were the result, since otherwise only those that a step reads are checked. */
function checkTransforms(
  { graph, transforms, origins }: Lowered,
  environment: CheckEnvironment,
): readonly Diagnostic[] {
  if (transforms.length === 0) return [];
  const returns: Expr = { kind: 'list', items: transforms.map((value) => ({ value })) };
  return checkGraph({ ...graph, returns }, environment).filter(
    ({ place }) => origins.at(place).kind === 'transform',
  );
}
