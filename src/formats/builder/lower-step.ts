import type { Expr } from '../../graph/expression/tree.js';
import type { ComputeNode, Node } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { ResultDefinition } from './definition.js';
import { DuplicateNameError, InvalidOptionError, reasons } from './errors.js';
import { Functions } from './functions.js';
import { transformed } from './lower-transform.js';
import { mappingError, nodeValue, type StepContext, ValueLowering } from './lower-values.js';
import { bindingError } from './names.js';
import type { StepOrigin } from './provenance.js';
import { resolveTool } from './resolve.js';
import { isDataSource } from './sources.js';
import type { StepDefinition } from './step.js';
import { retryOf } from './strategy.js';
import type { NamedFunction, Transform } from './transform.js';

/** What a transform comes to. */
type LoweredTransform =
  /** For a step without one, what the step gives; nothing for one that was reported. */
  | { readonly kind: 'value'; readonly value: Expr | undefined }
  | { readonly kind: 'function'; readonly name: string; readonly hash: string };

/** Makes nodes of steps, one step after the other. */
export class StepLowering {
  readonly transforms: Expr[] = [];
  readonly functions: Functions;
  readonly unresolvedTools: string[] = [];
  readonly #context: StepContext;
  readonly #values: ValueLowering;

  constructor(context: StepContext) {
    this.#context = context;
    this.functions = new Functions(context.workflow, context.registered);
    this.#values = new ValueLowering(context, this.functions);
  }

  get hasForeignParts(): boolean {
    return this.#values.hasForeignParts;
  }

  /** @param id of the node whose value the binding stands for. */
  add(definition: StepDefinition, id: string): void {
    const { nodes, provenance, report, scope, workflow } = this.#context;
    const origin: StepOrigin = { step: id, available: scope.available() };
    const source = provenance.place({ kind: 'step', ...origin });
    const { binding } = definition;
    this.#checkBinding(binding, source);
    const tool = resolveTool(definition.tool, workflow);
    if (!tool.ok) {
      this.unresolvedTools.push(tool.name);
      report(source, tool.error);
    }
    const attempts = this.#attempts(definition, origin, source);
    const guidance = this.#text('guidance', definition, origin);
    const entries = this.#values.entries(definition.args, origin);
    const transform = this.#transform(definition.transforms, id, origin);
    if (binding !== undefined) {
      scope.bind(binding, transform.kind === 'value' ? transform.value : nodeValue(id));
    }
    const details = {
      ...(definition.title === undefined ? {} : { title: definition.title }),
      ...this.#text('summary', definition, origin),
    };
    const input = { kind: 'dict', entries, at: source.span } as const;
    const call = { kind: 'call', tool: tool.name, input, ...guidance, ...attempts, source } as const;
    if (transform.kind === 'value') {
      nodes.add({ ...call, id, ...details });
      return;
    }
    const callId = scope.derive(`${id}.call`);
    nodes.add({ ...call, id: callId });
    const { name, hash } = transform;
    const value: ComputeNode['value'] = { kind: 'list', items: [{ value: nodeValue(callId) }] };
    const { timeoutMs } = attempts;
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    nodes.add({ kind: 'compute', id, value, function: { name, hash }, ...limit, ...details, source });
  }

  /** Ends the workflow with a value. */
  addResult({ value, id: given }: ResultDefinition): void {
    const { nodes, provenance, scope } = this.#context;
    const id = given ?? scope.derive('output');
    const origin: StepOrigin = { step: id, available: scope.available() };
    const source = provenance.place({ kind: 'step', ...origin });
    const result: Expr = isDataSource(value)
      ? this.#values.value(value, origin)
      : {
          kind: 'dict',
          entries: this.#values.entries(
            Object.entries(value).map(([name, member]) => ({ name, source: member })),
            origin,
          ),
          at: source.span,
        };
    nodes.add({ kind: 'return', id, value: result, source });
  }

  #checkBinding(binding: string | undefined, source: Place): void {
    if (binding === undefined) return;
    const { report, scope, workflow } = this.#context;
    const error = bindingError(binding);
    if (error !== undefined) report(source, error);
    // Two steps of one name are the checker's to find; it keeps arguments apart from steps, which guidance cannot.
    if (scope.args.includes(binding)) {
      const kinds = 'an argument and a step';
      report(source, new DuplicateNameError({ workflow, name: binding, kinds }, 'SW1008'));
    }
  }

  #attempts(
    { timeoutMs, retry }: StepDefinition,
    { step }: StepOrigin,
    source: Place,
  ): Pick<Node, 'timeoutMs' | 'retry'> {
    const refuse = (reason: string): void =>
      this.#context.report(source, new InvalidOptionError({ owner: `step '${step}'`, reason }));
    const isPositive = timeoutMs === undefined || (timeoutMs > 0 && Number.isFinite(timeoutMs));
    if (!isPositive) refuse(reasons.option('timeoutMs', timeoutMs, 'above 0'));
    const retries = retry && retryOf(retry, refuse);
    return {
      ...(timeoutMs === undefined || !isPositive ? {} : { timeoutMs }),
      ...(retries === undefined ? {} : { retry: retries }),
    };
  }

  #text<K extends 'guidance' | 'summary'>(
    key: K,
    definition: StepDefinition,
    origin: StepOrigin,
  ): { readonly [P in K]?: Expr } {
    const text = definition[key];
    const lowered = text === undefined ? {} : { [key]: this.#values.text(text, origin) };
    return lowered as { readonly [P in K]?: Expr };
  }

  #transform(transforms: readonly Transform[], id: string, origin: StepOrigin): LoweredTransform {
    const [transform, ...others] = transforms;
    const output = nodeValue(id);
    if (transform === undefined) return { kind: 'value', value: output };
    const place = this.#context.provenance.place({ kind: 'transform', ...origin });
    const refuse = (reason: string): void => this.#context.report(place, mappingError(origin, reason));
    if (others.length > 0) refuse(reasons.transformTwice());
    if (typeof transform === 'function') return this.#named(transform, refuse);
    const value = transformed(transform, output, place.span, refuse);
    if (value !== undefined) this.transforms.push(value);
    return { kind: 'value', value };
  }

  #named(given: NamedFunction, refuse: (reason: string) => void): LoweredTransform {
    const referred = this.functions.refer(given);
    if (referred.ok) return { kind: 'function', name: referred.name, hash: referred.hash };
    refuse(referred.reason);
    return { kind: 'value', value: undefined };
  }
}
