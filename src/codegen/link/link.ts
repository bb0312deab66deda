import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import { GRAPH_VERSION, type Graph, type Input, type ResourceRef } from '../../graph/model.js';
import { isValidName } from '../../graph/names.js';
import { nodesOf } from '../../graph/nodes.js';
import { formatLocation } from '../../graph/source-location.js';
import type {
  ArgDeclaration,
  Declarations,
  LinkedWorkflow,
  Phase,
  StateDeclaration,
  StepDeclaration,
  WorkflowDeclaration,
} from '../declarations.js';
import { workingOn } from '../diagnostics.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, isChain } from '../verbs.js';
import { AfterOptions } from './after.js';
import { Functions, type Handles, handlesOf } from './handles.js';
import { type LinkedStates, linkInput, linkStates, withReads } from './inputs-and-state.js';
import { lowerGuidance } from './interpolation.js';
import {
  boundToNode,
  errorStrategyOf,
  finishNode,
  type NodeDetails,
  NodeIds,
  type NodeOrder,
  ownNode,
  type StepNode,
  type StepOutcome,
  settlingOf,
  withoutIdle,
  writtenId,
  writtenIds,
} from './nodes.js';
import { checkStepOptions, summaryOf, withResources } from './options.js';
import { WorkflowBindings } from './scope.js';
import { linkInitializer } from './steps.js';

/** The workflows that an earlier run has linked without a diagnostic. */
export interface KnownLinks {
  linked(declaration: WorkflowDeclaration): LinkedWorkflow | undefined;
  keepLinked(workflow: LinkedWorkflow): void;
  /** The names of a workflow's fields then. */
  formerNames(declaration: WorkflowDeclaration): readonly string[];
}

/**
 * Builds the graph of every workflow. A workflow with a reported fault has a graph of the rest, with an unknown value
 * for each faulty step or argument: later phases find further faults and no echoes.
 */
export function link(
  declarations: Declarations,
  existing?: KnownLinks,
  response?: Handles['response'],
): Phase<readonly LinkedWorkflow[]> {
  const diagnostics: Diagnostic[] = [];
  const report = (fault: Diagnostic): void => {
    // An expression that is too deep may have several parts that are.
    const isEcho = fault.code === 'SW9016' && diagnostics.some((each) => isSameFault(each, fault));
    if (!isEcho) diagnostics.push(fault);
  };
  const handles = handlesOf(declarations, report, response);
  const functions = new Functions(declarations.workflows, report);
  const states = linkStates(declarations.states, report);
  for (const { needsState = [] } of declarations.tools)
    for (const syntax of needsState) handles.state(syntax, 'needsState', syntax.place);
  for (const { verb, handle } of declarations.handles) handles.text(handle, verb);
  const linkOne = (declaration: WorkflowDeclaration): LinkedWorkflow => {
    const { graph, isWhole, runs } = new WorkflowLinker(
      declaration,
      handles,
      functions,
      states,
      report,
      existing?.formerNames(declaration) ?? [],
    ).link();
    const named = nodesOf(graph).flatMap((node) =>
      node.kind === 'compute' ? (node.function?.name ?? []) : [],
    );
    return { declaration, graph, functions: functions.named(named), runs, isWhole };
  };
  const linkNamed = (declaration: WorkflowDeclaration): LinkedWorkflow => {
    const former = existing?.linked(declaration);
    if (former?.functions.every((each) => functions.isNamed(each))) return former;
    const before = diagnostics.length;
    const linked = workingOn(declaration, () => linkOne(declaration));
    if (linked.isWhole && diagnostics.length === before) existing?.keepLinked(linked);
    return linked;
  };
  const value = declarations.workflows.map(linkNamed);
  checkRecursion(value, report);
  return { value, diagnostics };
}

function isSameFault(left: Diagnostic, right: Diagnostic): boolean {
  const [at, other] = [left, right].map(({ place }) => place && formatLocation(place));
  return left.code === right.code && at === other;
}

class WorkflowLinker {
  readonly #workflow: WorkflowDeclaration;
  readonly #handles: Handles;
  readonly #functions: Functions;
  readonly #report: Report;
  readonly #bindings: WorkflowBindings;
  readonly #inputs: Input[] = [];
  readonly #nodes: Node[] = [];
  /** The node that the next one follows. */
  #before: readonly string[] = [];
  readonly #states: LinkedStates;
  readonly #usedStates = new Set<StateDeclaration>();
  readonly #runs: LinkedWorkflow['runs'][number][] = [];
  #step: StepDeclaration | undefined;
  #isWhole: boolean;
  /** Node ids by step name. */
  readonly #idsByStep: ReadonlyMap<string, string>;
  readonly #ids: NodeIds;
  readonly #after: AfterOptions;
  /** The first node of each step. */
  readonly #firstNodes = new Map<string, string>();

  constructor(
    workflow: WorkflowDeclaration,
    handles: Handles,
    functions: Functions,
    states: LinkedStates,
    report: Report,
    formerNames: readonly string[],
  ) {
    this.#workflow = workflow;
    this.#functions = functions;
    this.#states = states;
    this.#handles = {
      ...handles,
      state: (...named) => this.#use(handles.state(...named)),
      workflow: (...named) => this.#run(handles.workflow(...named)),
    };
    this.#isWhole = workflow.faultyFields.length === 0;
    this.#report = (fault) => {
      if (fault.severity === 'error') this.#isWhole = false;
      report(fault);
    };
    this.#bindings = new WorkflowBindings(workflow, this.#report, formerNames);
    this.#idsByStep = new Map(workflow.steps.map((step) => [step.name, idOf(step)]));
    const written = workflow.steps.flatMap(({ initializer }) => writtenIds(initializer));
    this.#ids = new NodeIds([...this.#idsByStep.values(), ...written]);
    this.#after = new AfterOptions(workflow, this.#idsByStep, this.#bindings, this.#report);
  }

  link(): Pick<LinkedWorkflow, 'graph' | 'isWhole' | 'runs'> {
    const { name, options, place } = this.#workflow;
    const instructions = this.#instructions();
    for (const syntax of this.#workflow.needsState) this.#handles.state(syntax, 'needsState', syntax.place);
    const errorStrategy = errorStrategyOf(options.errorStrategy);
    // The rules of the options admit nothing else. A description that is missing has been reported.
    const { title, description = name, domain, version, ...others } = options as Partial<Graph>;
    const { failFast, onFailure, maxConcurrency, taskSupport, expose, scopes } = others;
    const fields = [
      ...this.#workflow.args.map((arg) => ({ place: arg.place, link: () => this.#linkArg(arg) })),
      ...this.#workflow.steps.map((step) => ({ place: step.place, link: () => this.#linkStep(step) })),
    ];
    fields.sort((a, b) => a.place.span[0] - b.place.span[0] || a.place.span[1] - b.place.span[1]);
    for (const field of fields) field.link();
    const withIdle = this.#usedStates.size === 0 ? this.#nodes : withReads(this.#nodes);
    const nodes = withoutIdle(withIdle, this.#ids.settled);
    const linked = new Set(nodes.map(({ id }) => id));
    const graph: Graph = {
      graphVersion: GRAPH_VERSION,
      name,
      ...defined({ title }),
      description,
      ...defined({ domain, version }),
      inputs: this.#inputs,
      ...this.#stateFields(),
      instructions,
      // No node waits for a step that was left out.
      nodes: nodes.map((node) => ({ ...node, after: node.after.filter((id) => linked.has(id)) })),
      ...defined({ errorStrategy, failFast, onFailure, maxConcurrency }),
      ...(options.task === true ? { task: true as const } : {}),
      ...defined({ taskSupport }),
      ...(options.allowNestedAgents === true ? { allowNestedAgents: true as const } : {}),
      ...defined({ expose, scopes }),
      source: place,
    };
    return { graph, isWhole: this.#isWhole, runs: this.#runs };
  }

  #instructions(): readonly ResourceRef[] {
    return this.#resources(
      this.#workflow.instructions,
      'instructions',
      'instructions are resources with one address: read this one in a step',
    );
  }

  /** Resources with one address, as an option lists them. */
  #resources(
    handles: readonly ExpressionSyntax[],
    option: 'instructions' | 'resources',
    hint: string,
  ): readonly ResourceRef[] {
    return handles.flatMap((handle) => {
      const resource = this.#handles.resource(handle, option, handle.place);
      if (resource === undefined) return [];
      const [variable] = resource.variables ?? [];
      if (variable === undefined) return { resource: resource.name, uri: resource.uri, source: handle.place };
      const params = { resource: resource.name, verb: option, variable };
      this.#report(diagnostic('SW3009', handle.place, params, { hint }));
      return [];
    });
  }

  /** Records that the workflow uses a field of state; nothing for a faulty one, which has been reported. */
  #use(state: StateDeclaration | undefined): StateDeclaration | undefined {
    if (state === undefined || !this.#states.has(state)) return undefined;
    this.#usedStates.add(state);
    return state;
  }

  #run(workflow: WorkflowDeclaration | undefined): WorkflowDeclaration | undefined {
    if (workflow !== undefined && this.#step !== undefined)
      this.#runs.push({ step: this.#step, workflow: workflow.name });
    return workflow;
  }

  /** The fields of state that the workflow uses, by name. */
  #stateFields(): Pick<Graph, 'state'> {
    const fields = [...this.#usedStates].flatMap((state) => this.#states.get(state) ?? []);
    if (fields.length === 0) return {};
    return { state: fields.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  #linkArg(arg: ArgDeclaration): void {
    const { name, argument, place } = arg;
    const unknown: Input = { name: argument, description: name, schema: {}, required: false, source: place };
    this.#inputs.push(linkInput(arg, this.#report) ?? unknown);
    this.#bindings.bind(name, { kind: 'value', expr: { kind: 'ref', root: 'inputs', path: [argument] } });
  }

  #linkStep(step: StepDeclaration): void {
    this.#bindings.enter(step.name);
    this.#step = step;
    const id = this.#idsByStep.get(step.name) ?? step.name;
    const outcome = this.#withResources(step, this.#outcome(step, id) ?? this.#standIn(step, id));
    const guidance = this.#text(step.optionSyntax.guidance);
    this.#warnOfPrivateTools(step);
    const after = this.#after.ofStep(step);
    this.#bindings.bind(step.name, outcome?.bind([]) ?? { kind: 'faulty' });
    const summary = this.#text(step.optionSyntax.summary);
    if (outcome === undefined) return;
    this.#bindings.settles(step.name, settlingOf(outcome.nodes));
    if (!isStandIn(outcome)) checkStepOptions(step, outcome.nodes, this.#report);
    const own = ownNode(outcome.nodes);
    const first = outcome.nodes.find(({ hoisted }) => hoisted === undefined);
    const [start] = outcome.nodes;
    if (start !== undefined) this.#firstNodes.set(step.name, start.id);
    const orderOf = this.#orders(step, after, outcome);
    const { title } = step.options as { readonly title?: string };
    for (const [index, node] of outcome.nodes.entries()) {
      this.#add(node, orderOf(node, index), {
        ...(node === own ? defined({ title }) : {}),
        ...(node === first && guidance !== undefined ? { guidance } : {}),
        ...(node === own ? summaryOf(step, node, summary) : {}),
      });
    }
  }

  /** Gives the resources of a step to the node that acts first. */
  #withResources(step: StepDeclaration, outcome: StepOutcome | undefined): StepOutcome | undefined {
    const hint = 'these are resources with one address: read this one in a step of its own, before';
    const resources = this.#resources(step.resources, 'resources', hint);
    if (outcome === undefined || resources.length === 0) return outcome;
    // A step without such a node is reported with the other options.
    return { ...outcome, nodes: withResources(outcome.nodes, resources) ?? outcome.nodes };
  }

  /** Nothing for a faulty step, whose initializer is linked to find its other faults. */
  #outcome(step: StepDeclaration, id: string): StepOutcome | undefined {
    // A missing initializer has been reported.
    if (step.isFaulty && step.initializer.kind === 'undefined') return undefined;
    const scope = {
      step,
      id,
      ownId: id,
      ids: this.#ids,
      source: step.place,
      bindings: this.#bindings,
      handles: this.#handles,
      functions: this.#functions,
      report: this.#report,
      firstNodeOf: (name: string) => this.#firstNodes.get(name),
      alsoAfter: (call: CallSyntax, inside: string | undefined) => this.#after.ofPart(step, call, inside),
    };
    const outcome = linkInitializer(scope, standsAsOne(step));
    return step.isFaulty ? undefined : outcome;
  }

  /** An unknown value that replaces a faulty step, so that its uses are linked and checked as well. */
  #standIn({ place }: StepDeclaration, id: string): StepOutcome | undefined {
    this.#isWhole = false;
    if (!isValidName('step', id)) return undefined;
    const core = { kind: 'compute', value: UNKNOWN_VALUE } as const;
    return { nodes: [{ id, core, conditions: [], source: place }], bind: boundToNode(id) };
  }

  /** The reader of guidance may be asked to make the call. */
  #warnOfPrivateTools({ options, optionSyntax }: StepDeclaration): void {
    const { guidance } = options;
    if (typeof guidance !== 'string' || optionSyntax.guidance === undefined) return;
    for (const tool of this.#handles.privateToolsIn(guidance))
      this.#report(diagnostic('SW3017', optionSyntax.guidance.place, { tool }));
  }

  #text(syntax: ExpressionSyntax | undefined): Expr | undefined {
    return syntax && lowerGuidance(syntax, this.#bindings, this.#report);
  }

  #add(node: StepNode, order: NodeOrder, details: NodeDetails): void {
    this.#nodes.push(finishNode(node, order, details));
    if (!node.selected) this.#before = [node.id];
  }

  /**
   * What each node of a step waits for.
   * @param after what the option `after` of the step names.
   */
  #orders(
    { initializer, options }: StepDeclaration,
    after: readonly string[] | undefined,
    { nodes }: StepOutcome,
  ): (node: StepNode, index: number) => NodeOrder {
    const isChained = isChain(initializer);
    const join = options.join as NodeOrder['join'] | undefined;
    const before = this.#before;
    // A rule that may skip the step is asked for each of its nodes, of the same ones.
    const awaited = after ?? (join === undefined ? undefined : before);
    const ends = nodes.some(({ core }) => core.kind === 'error');
    return (node, index) => {
      if (node.selected) return { after: [], join: 'none_failed' };
      // Inside a chain each follows the one before it, whatever the step as a whole waits for; so does a settled value.
      if (index > 0 && (isChained || node.settled === true)) {
        const isPart = node.settled === true && join !== undefined && !ends;
        return {
          after: [...this.#before, ...(node.alsoAfter ?? [])],
          join: isPart ? 'all_success' : 'none_failed',
        };
      }
      // A step that collects failures goes on after one.
      const collects = after === undefined && this.#workflow.options.errorStrategy === 'collect';
      return { after: awaited ?? this.#before, join: join ?? (collects ? 'all_done' : 'none_failed') };
    };
  }
}

/** A value read by a computed key: the checker takes it as of any type. */
const UNKNOWN_VALUE: Expr = {
  kind: 'get',
  of: { kind: 'dict', entries: [] },
  key: { kind: 'text', style: 'display', parts: ['value'] },
};

function isStandIn({ nodes: [node] }: StepOutcome): boolean {
  return node?.core.kind === 'compute' && node.core.value === UNKNOWN_VALUE;
}

function idOf(step: StepDeclaration): string {
  const { name, options, initializer } = step;
  if (typeof options.id === 'string') return options.id;
  return (standsAsOne(step) ? undefined : writtenId(initializer)) ?? name;
}

/** Whether a chain becomes one node, which its join rule may skip as a whole. */
function standsAsOne({ options: { join }, initializer }: StepDeclaration): boolean {
  const maySkip = join !== undefined && join !== 'none_failed' && join !== 'all_done';
  return maySkip && isChain(initializer);
}

/** A step whose type is found out from that of another workflow's result. */
interface Inferred {
  readonly from: LinkedWorkflow;
  readonly step: StepDeclaration;
  readonly to: LinkedWorkflow;
}

/**
 * Reports workflows that run each other where none of the steps on the way round says what it gives: what a workflow
 * gives would follow from itself.
 */
function checkRecursion(workflows: readonly LinkedWorkflow[], report: Report): void {
  const byName = new Map(workflows.map((each) => [each.graph.name, each]));
  const edges = workflows.flatMap((from) => inferredFrom(from, byName));
  const visited = new Set<Inferred>();
  for (const edge of edges) {
    const way = visited.has(edge) ? undefined : wayBack(edge, edges);
    if (way === undefined) continue;
    for (const each of way) visited.add(each);
    const cycle = [...way.map(({ from }) => from.graph.name), edge.from.graph.name].join(' → ');
    const related = way.slice(1).map(({ step }) => ({ message: 'by way of this step', place: step.place }));
    report(diagnostic('SW3015', edge.step.place, { step: edge.step.name, cycle }, { related }));
  }
}

function inferredFrom(
  from: LinkedWorkflow,
  byName: ReadonlyMap<string, LinkedWorkflow>,
): readonly Inferred[] {
  return from.runs.flatMap(({ step, workflow }) => {
    const to = byName.get(workflow);
    return step.isAnnotated || to === undefined ? [] : [{ from, step, to }];
  });
}

/** The shortest way round that begins with an edge. */
function wayBack(edge: Inferred, edges: readonly Inferred[]): readonly Inferred[] | undefined {
  const ways: (readonly Inferred[])[] = [[edge]];
  const reached = new Set([edge.to]);
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1)?.to;
    if (last === edge.from) return way;
    for (const next of edges) {
      if (next.from !== last || reached.has(next.to)) continue;
      reached.add(next.to);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
