import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import {
  type ComputeNode,
  GRAPH_VERSION,
  type Graph,
  type Input,
  type ResourceRef,
} from '../../graph/model.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { SchemaCompiler } from '../json-schema/schema-compiler.js';
import { type LoweringContext, lineOf, NodeList, Origins, Scope, type StepOrigin } from './context.js';
import {
  type ArgumentDefinition,
  type ResultDefinition,
  retryOf,
  type StepDefinition,
  strategyOf,
  type WorkflowDefinition,
} from './definition.js';
import { type FunctionEntry, Functions, type Registered } from './environment.js';
import {
  DuplicateNameError,
  InvalidOptionError,
  MissingFieldError,
  reasons,
  type WorkflowError,
} from './errors.js';
import { constantExpr, type NamedFunction, type Transform, transformed } from './expressions.js';
import { mappingError, nodeValue, ValueLowering } from './lower-values.js';
import { bindingError } from './names.js';
import { isDataSource } from './sources.js';
import { resolveResource, resolveTool } from './tools-and-resources.js';

/** An error, and the number of the part that it is in. */
export interface LocatedError {
  readonly line: number;
  readonly error: WorkflowError;
}

/** A workflow as a graph for the checker. Parts with reported errors are left out, or are absent values. */
export interface Lowered {
  /** The places in it are those of `origins`. */
  readonly graph: Graph;
  readonly origins: Origins;
  /** The values that transforms with expressions make. */
  readonly transforms: readonly Expr[];
  readonly functions: ReadonlyMap<string, FunctionEntry>;
  /** The names in the graph of tools whose errors have been reported. */
  readonly unresolvedTools: readonly string[];
  /** Whether the graph has expressions, or texts of classes, that the builder did not make and check. */
  readonly hasForeignParts: boolean;
  /** The errors found while lowering. */
  readonly errors: readonly LocatedError[];
}

/** Makes the graph of a workflow. The checker finds errors in its meaning. */
export function lower(definition: WorkflowDefinition, registered: Registered | undefined): Lowered {
  const { name, description, details, steps, strategy, result } = definition;
  const origins = new Origins();
  const errors: LocatedError[] = [];
  const report = (place: SourceLocation, error: WorkflowError): void =>
    void errors.push({ line: lineOf(place), error });

  const source = origins.place({ kind: 'workflow' });
  if (steps.length === 0) report(source, new MissingFieldError({ workflow: name, field: 'steps' }, 'SW1009'));

  const inputs = definition.args.map((arg) => {
    const place = origins.place({ kind: 'argument', name: arg.name });
    return inputOf(arg, place, (problem) => report(place, problem));
  });
  const instructions = definition.instructions.flatMap((resource): ResourceRef[] => {
    const resolved = resolveResource(resource, name, registered);
    const place = origins.place({ kind: 'instruction' });
    if (resolved.ok) return [{ resource: resolved.name, uri: resolved.uri, source: place }];
    report(place, resolved.error);
    return [];
  });
  const errorStrategy =
    strategy &&
    strategyOf(strategy, (reason) =>
      report(source, new InvalidOptionError({ owner: 'the error strategy', reason })),
    );

  const scope = new Scope(
    name,
    steps,
    inputs.map((input) => input.name),
  );
  const nodes = new NodeList(strategy?.kind === 'collect' ? 'all_done' : 'none_failed');
  const lowering = new StepLowering({ workflow: name, registered, origins, report, scope, nodes });
  for (const [index, step] of steps.entries()) lowering.add(step, scope.ids[index] ?? '');
  if (result !== undefined) lowering.addResult(result);

  const graph: Graph = {
    ...details,
    graphVersion: GRAPH_VERSION,
    name,
    description,
    inputs,
    instructions,
    nodes: nodes.all,
    ...(errorStrategy === undefined ? {} : { errorStrategy }),
    source,
  };
  const { transforms, functions, unresolvedTools, hasForeignParts } = lowering;
  const named = functions.named;
  return { graph, origins, transforms, functions: named, unresolvedTools, hasForeignParts, errors };
}

function inputOf(
  definition: ArgumentDefinition,
  source: SourceLocation,
  report: (error: WorkflowError) => void,
): Input {
  const { name, description, required, title, secret, default: fallback } = definition;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    ...valuesOf(definition, report),
    required: required === true && fallback === undefined,
    ...(secret === true ? { secret } : {}),
    source,
  };
}

/** The schema of an argument without one. */
const TEXT: JsonSchema = { type: 'string' };

/** Shared, since it is expensive to compile a schema again. */
const schemas = new SchemaCompiler();

/**
 * Makes the schema and the default of an argument. An invalid schema is replaced by `{}`, and a default without a valid
 * schema or that does not fit it is left out.
 *
 * @param report receives the errors of the schema and the default.
 */
function valuesOf(
  { name, schema = TEXT, default: fallback }: ArgumentDefinition,
  report: (error: WorkflowError) => void,
): Pick<Input, 'schema' | 'default'> {
  const owner = `argument '${name}'`;
  const found = schema === TEXT ? [] : schemaReasons(schema);
  const isUsable = found.length === 0;
  const misfits = fallback === undefined || !isUsable ? [] : defaultReasons(fallback, schema);
  for (const reason of [...found, ...misfits]) report(new InvalidOptionError({ owner, reason }));
  if (!isUsable) return { schema: {} };
  return { schema, ...(fallback === undefined || misfits.length > 0 ? {} : { default: fallback }) };
}

function schemaReasons(schema: JsonSchema): string[] {
  // Programs may pass any value, even one with cycles.
  const plain = constantExpr(schema);
  if ('fault' in plain) return [reasons.schema('', `is not JSON: ${plain.fault}`)];
  if (plain.value.kind !== 'dict') return [reasons.schema('', 'is not an object')];
  return schemas.faults(schema).map(({ pointer, problem }) => reasons.schema(pointer, problem));
}

function defaultReasons(fallback: Json, schema: JsonSchema): string[] {
  const plain = constantExpr(fallback);
  if ('fault' in plain) return [reasons.default(`it is not JSON: ${plain.fault}`)];
  return schemas
    .check(schema, fallback)
    .map(({ instancePath, message = 'is not valid' }) =>
      reasons.default(`${instancePath === '' ? 'it' : `'${instancePath}'`} ${message}`),
    );
}

/** The result of lowering a transform. */
type LoweredTransform =
  /** The value of the step: its output if there is no transform, `undefined` for an invalid one. */
  | { readonly kind: 'value'; readonly value: Expr | undefined }
  | { readonly kind: 'function'; readonly name: string; readonly hash: string };

/** Makes the nodes of steps, in order. */
class StepLowering {
  readonly transforms: Expr[] = [];
  readonly functions: Functions;
  readonly unresolvedTools: string[] = [];
  readonly #context: LoweringContext;
  readonly #values: ValueLowering;

  constructor(context: LoweringContext) {
    this.#context = context;
    this.functions = new Functions(context.workflow, context.registered);
    this.#values = new ValueLowering(context, this.functions);
  }

  get hasForeignParts(): boolean {
    return this.#values.hasForeignParts;
  }

  /** @param id the id of the node that the binding refers to. */
  add(definition: StepDefinition, id: string): void {
    const { nodes, origins, report, scope, workflow } = this.#context;
    const origin: StepOrigin = { step: id, available: scope.available() };
    const source = origins.place({ kind: 'step', ...origin });
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

  /** Adds the node of the workflow's result. */
  addResult({ value, id: given }: ResultDefinition): void {
    const { nodes, origins, scope } = this.#context;
    const id = given ?? scope.derive('output');
    const origin: StepOrigin = { step: id, available: scope.available() };
    const source = origins.place({ kind: 'step', ...origin });
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

  #checkBinding(binding: string | undefined, source: SourceLocation): void {
    if (binding === undefined) return;
    const { report, scope, workflow } = this.#context;
    const error = bindingError(binding);
    if (error !== undefined) report(source, error);
    // The checker reports two steps with one name. An argument and a step may share one there, but not in guidance.
    if (scope.args.includes(binding)) {
      const kinds = 'an argument and a step';
      report(source, new DuplicateNameError({ workflow, name: binding, kinds }, 'SW1008'));
    }
  }

  #attempts(
    { timeoutMs, retry }: StepDefinition,
    { step }: StepOrigin,
    source: SourceLocation,
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
    const place = this.#context.origins.place({ kind: 'transform', ...origin });
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
