import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { GRAPH_VERSION, type Graph, type Input, type Node, type ResourceRef } from '../../graph/model.js';
import { nearestName } from '../../graph/suggest.js';
import type {
  ArgDeclaration,
  Declarations,
  LinkedWorkflow,
  Phase,
  StepDeclaration,
  WorkflowDeclaration,
} from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { isChain, unwrap } from '../verbs.js';
import { WorkflowBindings } from './bindings.js';
import { writtenId } from './call-options.js';
import { Functions } from './functions.js';
import { lowerGuidance } from './guidance.js';
import { type Handles, handlesOf } from './handles.js';
import { linkInput } from './inputs.js';
import { conditionOf, type StepNode } from './outcome.js';
import { errorStrategyOf } from './retry.js';
import { checkStepOptions, summaryOf } from './step-options.js';
import { linkInitializer } from './steps.js';

/**
 * Builds the graph of every workflow. Where something in a workflow was reported, its graph holds the rest: the steps
 * at fault and those that use their values are left out, so that later phases find further faults and no echoes.
 */
export function link(declarations: Declarations): Phase<readonly LinkedWorkflow[]> {
  const diagnostics: Diagnostic[] = [];
  const report = (fault: Diagnostic): void => void diagnostics.push(fault);
  const handles = handlesOf(declarations, report);
  const functions = new Functions(report);
  const linkOne = (declaration: WorkflowDeclaration): LinkedWorkflow => {
    const graph = new WorkflowLinker(declaration, handles, functions, report).link();
    const named = graph.nodes.flatMap((node) => (node.kind === 'compute' ? (node.function?.name ?? []) : []));
    return { declaration, graph, functions: functions.named(named) };
  };
  const value = declarations.workflows.map(linkOne);
  declarations.faultyWorkflows.forEach(linkOne);
  return { value, diagnostics };
}

class WorkflowLinker {
  readonly #workflow: WorkflowDeclaration;
  readonly #handles: Handles;
  readonly #functions: Functions;
  readonly #report: (fault: Diagnostic) => void;
  readonly #bindings: WorkflowBindings;
  readonly #inputs: Input[] = [];
  readonly #nodes: Node[] = [];
  /** Node ids by step name. */
  readonly #ids: ReadonlyMap<string, string>;
  readonly #ownIds: ReadonlySet<string>;

  constructor(
    workflow: WorkflowDeclaration,
    handles: Handles,
    functions: Functions,
    report: (fault: Diagnostic) => void,
  ) {
    this.#workflow = workflow;
    this.#handles = handles;
    this.#functions = functions;
    this.#report = report;
    this.#bindings = new WorkflowBindings(workflow, report);
    this.#ids = new Map(workflow.steps.map((step) => [step.name, idOf(step)]));
    this.#ownIds = new Set(this.#ids.values());
  }

  link(): Graph {
    const { name, options, place } = this.#workflow;
    const instructions = this.#instructions();
    const errorStrategy = errorStrategyOf(options.errorStrategy);
    const fields = [
      ...this.#workflow.args.map((arg) => ({ place: arg.place, link: () => this.#linkArg(arg) })),
      ...this.#workflow.steps.map((step) => ({ place: step.place, link: () => this.#linkStep(step) })),
    ];
    fields.sort((a, b) => a.place.span[0] - b.place.span[0] || a.place.span[1] - b.place.span[1]);
    for (const field of fields) field.link();
    const linked = new Set(this.#nodes.map(({ id }) => id));
    return {
      graphVersion: GRAPH_VERSION,
      name,
      ...textProperty('title', options.title),
      description: typeof options.description === 'string' ? options.description : '',
      ...textProperty('domain', options.domain),
      ...textProperty('version', options.version),
      inputs: this.#inputs,
      instructions,
      // Nobody waits for a step that was left out.
      nodes: this.#nodes.map((node) => ({ ...node, after: node.after.filter((id) => linked.has(id)) })),
      ...(errorStrategy === undefined ? {} : { errorStrategy }),
      ...(typeof options.failFast === 'boolean' ? { failFast: options.failFast } : {}),
      // The option's rule admits the names of exposures only.
      ...(Array.isArray(options.expose) ? { expose: options.expose } : {}),
      source: place,
    };
  }

  #instructions(): readonly ResourceRef[] {
    return this.#workflow.instructions.flatMap((handle) => {
      const resource = this.#handles.resource(handle, 'instructions', handle.place);
      if (resource === undefined) return [];
      const [variable] = resource.variables ?? [];
      if (variable === undefined) return { resource: resource.name, uri: resource.uri, source: handle.place };
      const hint = 'instructions are resources with one address: read this one in a step';
      const params = { resource: resource.name, verb: 'instructions', variable };
      this.#report(diagnostic('SW3009', handle.place, params, { hint }));
      return [];
    });
  }

  #linkArg(arg: ArgDeclaration): void {
    const input = linkInput(arg, this.#report);
    if (input !== undefined) this.#inputs.push(input);
    this.#bindings.bind(
      arg.name,
      input === undefined
        ? { kind: 'faulty' }
        : { kind: 'value', expr: { kind: 'ref', root: 'inputs', path: [arg.name] } },
    );
  }

  #linkStep(step: StepDeclaration): void {
    this.#bindings.enter(step.name);
    const id = this.#ids.get(step.name) ?? step.name;
    const outcome = linkInitializer({
      step,
      id,
      ownId: id,
      source: step.place,
      bindings: this.#bindings,
      handles: this.#handles,
      functions: this.#functions,
      report: this.#report,
    });
    const guidance = this.#text(step.optionSyntax.guidance);
    const after = this.#after(step);
    this.#bindings.bind(step.name, outcome?.bind([]) ?? { kind: 'faulty' });
    const summary = this.#text(step.optionSyntax.summary);
    if (outcome === undefined) return;
    checkStepOptions(step, outcome.nodes, this.#report);
    const last = outcome.nodes.at(-1);
    const first = outcome.nodes.find(({ hoisted }) => hoisted === undefined);
    for (const [index, node] of outcome.nodes.entries()) {
      this.#add(node, index, isChain(step.initializer), after, {
        ...(node === last ? textProperty('title', step.options.title) : {}),
        ...(node === first && guidance !== undefined ? { guidance } : {}),
        ...(node === last ? summaryOf(step, node, summary) : {}),
      });
    }
  }

  #text(syntax: ExpressionSyntax | undefined): Expr | undefined {
    return syntax && lowerGuidance(syntax, this.#bindings, this.#report);
  }

  /**
   * @param index the node's place in its step.
   * @param after what the step waits for by its own word.
   */
  #add(
    node: StepNode,
    index: number,
    isChained: boolean,
    after: readonly string[] | undefined,
    details: Pick<Node, 'title' | 'guidance' | 'summary'>,
  ): void {
    const before = this.#nodes.slice(-1).map(({ id }) => id);
    // Inside a chain each follows the one before it, whatever the step as a whole waits for.
    const follows = index > 0 && isChained;
    const isImplied = after === undefined && !follows;
    const { id, core, retry, timeoutMs, onError, source } = node;
    this.#nodes.push({
      ...core,
      id,
      ...details,
      after: follows ? before : (after ?? before),
      // A step that collects failures goes on after one.
      join: isImplied && this.#workflow.options.errorStrategy === 'collect' ? 'all_done' : 'none_failed',
      ...conditionOf(node),
      ...(retry === undefined ? {} : { retry }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(onError === undefined ? {} : { onError }),
      executor: 'server',
      source,
    });
  }

  /** The ids a step waits for by its own word; nothing where it follows the step before it. */
  #after(step: StepDeclaration): readonly string[] | undefined {
    const syntax = step.optionSyntax.after;
    const list = syntax && unwrap(syntax);
    // A value of another shape has been reported with the options.
    if (list?.kind !== 'array' || step.options.after === undefined) return undefined;
    return list.items.flatMap(({ value }) => {
      const literal = unwrap(value);
      const target = literal.kind === 'literal' ? String(literal.value) : '';
      const id = this.#ids.get(target) ?? (this.#ownIds.has(target) ? target : undefined);
      if (id !== undefined) return id;
      if (this.#workflow.faultyFields.includes(target)) return [];
      const suggestion = nearestName(target, this.#ids.keys());
      this.#report(diagnostic('SW3005', value.place, { step: step.name, target, suggestion }));
      return [];
    });
  }
}

function idOf({ name, options, initializer }: StepDeclaration): string {
  return typeof options.id === 'string' ? options.id : (writtenId(initializer) ?? name);
}

function textProperty<K extends string>(key: K, value: unknown): { readonly [P in K]?: string } {
  return (typeof value === 'string' ? { [key]: value } : {}) as { readonly [P in K]?: string };
}
