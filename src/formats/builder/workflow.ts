import type { Graph } from '../../graph/model.js';
import { type Compiled, type CompileResult, compile } from './compile.js';
import type { WorkflowDefinition } from './definition.js';
import type { WorkflowError } from './errors.js';
import type { ToolName, Uri } from './names.js';
import type { FunctionEntry, Registered } from './registered.js';

/** A workflow that was built: a graph without faults, and what it needs. */
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

  /** The functions its transforms name, by name, for the registry it becomes a part of. */
  get functions(): ReadonlyMap<string, FunctionEntry> {
    return this.#compiled.functions;
  }

  /** What is not wrong, but looks like a mistake. */
  get warnings(): readonly WorkflowError[] {
    return this.#compiled.warnings;
  }

  /** The tools it calls, each once, in the order of the first call. */
  requiredTools(): ToolName[] {
    const called = this.graph.nodes.flatMap((node) => (node.kind === 'call' ? [node.tool as ToolName] : []));
    return [...new Set(called)];
  }

  /** The resources it reads, each once: those of its instructions first, then in the order of the first read. */
  requiredResources(): Uri[] {
    const read = this.graph.nodes.flatMap((node) =>
      node.kind === 'resource' && node.uri.kind === 'literal' ? [String(node.uri.value)] : [],
    );
    return [...new Set([...this.graph.instructions.map(({ uri }) => uri), ...read])] as Uri[];
  }

  /**
   * Checks the workflow against what is registered beside it: tools, their inputs and outputs, resources, functions.
   * The graph that comes back names resources and functions as they are registered: those known by their URI alone, and
   * the hash that codegen made of a function's source.
   */
  checkAgainst(registered: Registered): CompileResult {
    return compile(this.#definition, registered);
  }
}
