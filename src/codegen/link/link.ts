import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
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
import { unwrap } from '../verbs.js';
import { WorkflowBindings } from './bindings.js';
import { lowerGuidance } from './guidance.js';
import { type Handles, handlesOf } from './handles.js';
import { linkInput } from './inputs.js';
import { linkInitializer, type StepOutcome } from './steps.js';

/**
 * Builds the graph of every workflow. Where something in a workflow was reported, its graph holds the rest: the steps
 * at fault and those that use their values are left out, so that later phases find further faults and no echoes.
 */
export function link(declarations: Declarations): Phase<readonly LinkedWorkflow[]> {
  const diagnostics: Diagnostic[] = [];
  const report = (fault: Diagnostic): void => void diagnostics.push(fault);
  const handles = handlesOf(declarations, report);
  const linkOne = (declaration: WorkflowDeclaration): LinkedWorkflow => ({
    declaration,
    graph: new WorkflowLinker(declaration, handles, report).link(),
  });
  const value = declarations.workflows.map(linkOne);
  declarations.faultyWorkflows.forEach(linkOne);
  return { value, diagnostics };
}

class WorkflowLinker {
  readonly #workflow: WorkflowDeclaration;
  readonly #handles: Handles;
  readonly #report: (fault: Diagnostic) => void;
  readonly #bindings: WorkflowBindings;
  readonly #inputs: Input[] = [];
  readonly #nodes: Node[] = [];
  /** Node ids by step name. */
  readonly #ids: ReadonlyMap<string, string>;
  readonly #ownIds: ReadonlySet<string>;

  constructor(workflow: WorkflowDeclaration, handles: Handles, report: (fault: Diagnostic) => void) {
    this.#workflow = workflow;
    this.#handles = handles;
    this.#report = report;
    this.#bindings = new WorkflowBindings(workflow, report);
    this.#ids = new Map(workflow.steps.map((step) => [step.name, idOf(step)]));
    this.#ownIds = new Set(this.#ids.values());
  }

  link(): Graph {
    const { name, options, place } = this.#workflow;
    const instructions = this.#instructions();
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
      ...(typeof options.failFast === 'boolean' ? { failFast: options.failFast } : {}),
      // The option's rule admits the names of exposures only.
      ...(Array.isArray(options.expose) ? { expose: options.expose } : {}),
      source: place,
    };
  }

  #instructions(): readonly ResourceRef[] {
    return this.#workflow.instructions.flatMap((handle) => {
      const resource = this.#handles.resource(handle, 'instructions', handle.place);
      return resource === undefined
        ? []
        : { resource: resource.name, uri: resource.uri, source: handle.place };
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
    const id = idOf(step);
    const outcome = linkInitializer({
      step,
      id,
      bindings: this.#bindings,
      handles: this.#handles,
      report: this.#report,
    });
    const guidanceSyntax = step.optionSyntax.guidance;
    const guidance = guidanceSyntax && lowerGuidance(guidanceSyntax, this.#bindings, this.#report);
    const after = this.#after(step);
    this.#bindings.bind(step.name, outcome?.binding ?? { kind: 'faulty' });
    if (outcome === undefined) return;
    const { title, timeoutMs } = step.options;
    this.#add(id, step, outcome, after, {
      ...textProperty('title', title),
      ...(guidance === undefined ? {} : { guidance }),
      ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
    });
  }

  /** Adds the reads that were moved out of a step, then its node. They share its condition and what it waits for. */
  #add(
    id: string,
    step: StepDeclaration,
    { core, when, hoisted }: StepOutcome,
    after: readonly string[] | undefined,
    details: Pick<Node, 'title' | 'guidance' | 'timeoutMs'>,
  ): void {
    const order = () => ({
      after: after ?? this.#nodes.slice(-1).map((node) => node.id),
      join: 'none_failed' as const,
    });
    const condition = when === undefined ? {} : { when };
    for (const read of hoisted) {
      this.#nodes.push({
        ...read.core,
        id: read.id,
        ...order(),
        ...condition,
        executor: 'server',
        source: read.source,
      });
    }
    this.#nodes.push({
      ...core,
      id,
      ...details,
      ...order(),
      ...condition,
      executor: 'server',
      source: step.place,
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

function idOf({ name, options }: StepDeclaration): string {
  return typeof options.id === 'string' ? options.id : name;
}

function textProperty<K extends string>(key: K, value: unknown): { readonly [P in K]?: string } {
  return (typeof value === 'string' ? { [key]: value } : {}) as { readonly [P in K]?: string };
}
