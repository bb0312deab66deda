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
import { conditionOf, type StepNode, type StepOutcome } from './outcome.js';
import { errorStrategyOf } from './retry.js';
import { withoutIdle } from './settle.js';
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
    const { graph, isWhole } = new WorkflowLinker(declaration, handles, functions, report).link();
    const named = graph.nodes.flatMap((node) => (node.kind === 'compute' ? (node.function?.name ?? []) : []));
    return { declaration, graph, functions: functions.named(named), isWhole };
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
  /** Ids of values that were moved out of what names stand for. */
  readonly #settled = new Set<string>();
  #isWhole: boolean;
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
    this.#isWhole = workflow.faultyFields.length === 0;
    this.#report = (fault) => {
      this.#isWhole = false;
      report(fault);
    };
    this.#bindings = new WorkflowBindings(workflow, this.#report);
    this.#ids = new Map(workflow.steps.map((step) => [step.name, idOf(step)]));
    this.#ownIds = new Set(this.#ids.values());
  }

  link(): Pick<LinkedWorkflow, 'graph' | 'isWhole'> {
    const { name, options, place } = this.#workflow;
    const instructions = this.#instructions();
    const errorStrategy = errorStrategyOf(options.errorStrategy);
    const fields = [
      ...this.#workflow.args.map((arg) => ({ place: arg.place, link: () => this.#linkArg(arg) })),
      ...this.#workflow.steps.map((step) => ({ place: step.place, link: () => this.#linkStep(step) })),
    ];
    fields.sort((a, b) => a.place.span[0] - b.place.span[0] || a.place.span[1] - b.place.span[1]);
    for (const field of fields) field.link();
    const nodes = withoutIdle(this.#nodes, this.#settled);
    const linked = new Set(nodes.map(({ id }) => id));
    const graph: Graph = {
      graphVersion: GRAPH_VERSION,
      name,
      ...textProperty('title', options.title),
      description: typeof options.description === 'string' ? options.description : '',
      ...textProperty('domain', options.domain),
      ...textProperty('version', options.version),
      inputs: this.#inputs,
      instructions,
      // Nobody waits for a step that was left out.
      nodes: nodes.map((node) => ({ ...node, after: node.after.filter((id) => linked.has(id)) })),
      ...(errorStrategy === undefined ? {} : { errorStrategy }),
      ...(typeof options.failFast === 'boolean' ? { failFast: options.failFast } : {}),
      // The option's rule admits the names of exposures only.
      ...(Array.isArray(options.expose) ? { expose: options.expose } : {}),
      source: place,
    };
    return { graph, isWhole: this.#isWhole };
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
    const outcome = this.#outcome(step, id);
    const guidance = this.#text(step.optionSyntax.guidance);
    const after = this.#after(step);
    this.#bindings.bind(step.name, outcome?.bind([]) ?? { kind: 'faulty' });
    const summary = this.#text(step.optionSyntax.summary);
    if (outcome === undefined) {
      this.#isWhole = false;
      return;
    }
    checkStepOptions(step, outcome.nodes, this.#report);
    const last = outcome.nodes.findLast(({ settled }) => settled === undefined);
    const first = outcome.nodes.find(({ hoisted }) => hoisted === undefined);
    for (const [index, node] of outcome.nodes.entries()) {
      this.#add(node, index, isChain(step.initializer), after, {
        ...(node === last ? textProperty('title', step.options.title) : {}),
        ...(node === first && guidance !== undefined ? { guidance } : {}),
        ...(node === last ? summaryOf(step, node, summary) : {}),
      });
    }
  }

  /** Nothing for a step that is at fault itself, whose initializer is read for its other faults. */
  #outcome(step: StepDeclaration, id: string): StepOutcome | undefined {
    // A missing initializer has been reported.
    if (step.isFaulty && step.initializer.kind === 'undefined') return undefined;
    const outcome = linkInitializer({
      step,
      id,
      ownId: id,
      isTaken: (candidate) => this.#ownIds.has(candidate),
      source: step.place,
      bindings: this.#bindings,
      handles: this.#handles,
      functions: this.#functions,
      report: this.#report,
    });
    return step.isFaulty ? undefined : outcome;
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
    // Inside a chain each follows the one before it, whatever the step as a whole waits for; so does a settled value.
    const follows = index > 0 && (isChained || node.settled === true);
    if (node.settled) this.#settled.add(node.id);
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
      const known = [...this.#ids].filter(([name]) => name !== step.name).flat();
      const suggestion = nearestName(target, known);
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
