import { schemaAt } from '../../check/schema-view.js';
import { readMetadata } from '../../decorators/metadata.js';
import { type Answerer, isAnswerer, isListOfAnswerers } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { readKey } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { JsonSchema } from '../../graph/json.js';
import type { Compensation, Node } from '../../graph/kinds/node.js';
import {
  type ComputeNode,
  GRAPH_VERSION,
  type Graph,
  type Input,
  type ResourceRef,
} from '../../graph/model.js';
import { isValidName, NAME_RULES } from '../../graph/names.js';
import { whenApproved } from '../../graph/nodes.js';
import type { SourceLocation } from '../../graph/source-location.js';
import {
  type Bare,
  type LoweringContext,
  lineOf,
  NodeList,
  Origins,
  Scope,
  type StepOrigin,
} from './context.js';
import {
  type AgentLike,
  type ArgumentDefinition,
  type AskDefinition,
  type CallDefinition,
  type DelegateDefinition,
  type ReadDefinition,
  type ResultDefinition,
  retryOf,
  type ShellDefinition,
  type StepDefinition,
  strategyOf,
  type WorkflowDefinition,
} from './definition.js';
import {
  DuplicateNameError,
  InvalidNameError,
  InvalidOptionError,
  MissingFieldError,
  optionReason,
  type WorkflowError,
} from './errors.js';
import {
  defaultReasons,
  type NamedFunction,
  schemaReasons,
  type Transform,
  transformed,
} from './expressions.js';
import { mappingError, nodeValue, ValueLowering } from './lower-values.js';
import { bindingError } from './names.js';
import { type DataSource, isDataSource } from './sources.js';
import {
  type FunctionEntry,
  Functions,
  type Registered,
  type ResourceLike,
  resolveResource,
  resolveTool,
  signatureOf,
} from './tools-and-resources.js';

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
  const instructions = definition.instructions.flatMap((resource) =>
    resourceRefs(resource, origins.place({ kind: 'instruction' }), { workflow: name, registered, report }),
  );
  const errorStrategy =
    strategy &&
    strategyOf(strategy, (reason) =>
      report(source, new InvalidOptionError({ owner: 'the error strategy', reason })),
    );

  const names = inputs.map((input) => input.name);
  const scope = new Scope(name, steps, names, registered);
  const nodes = new NodeList(strategy?.kind === 'collect' ? 'all_done' : 'none_failed');
  const lowering = new StepLowering({ workflow: name, registered, origins, report, scope, nodes });
  for (const [index, step] of steps.entries()) lowering.add(step, scope.ids[index] ?? '');
  if (result !== undefined) lowering.addResult(result);

  const { task, ...otherDetails } = details;
  const graph: Graph = {
    ...otherDetails,
    ...(task === true ? { task } : {}),
    graphVersion: GRAPH_VERSION,
    name,
    description,
    inputs,
    instructions,
    nodes: whenApproved(nodes.all),
    ...defined({ errorStrategy }),
    source,
  };
  const { transforms, functions, unresolvedTools, hasForeignParts } = lowering;
  const named = functions.named;
  return { graph, origins, transforms, functions: named, unresolvedTools, hasForeignParts, errors };
}

/** A resource by its registered name and URI; none if it cannot be resolved, which is reported. */
function resourceRefs(
  resource: ResourceLike,
  source: SourceLocation,
  { workflow, registered, report }: Pick<LoweringContext, 'workflow' | 'registered' | 'report'>,
): ResourceRef[] {
  const resolved = resolveResource(resource, workflow, registered);
  if (resolved.ok) return [{ resource: resolved.name, uri: resolved.uri, source }];
  report(source, resolved.error);
  return [];
}

function inputOf(
  definition: ArgumentDefinition,
  source: SourceLocation,
  report: (error: WorkflowError) => void,
): Input {
  const { name, description, required, title, secret, default: fallback } = definition;
  return {
    name,
    ...defined({ title }),
    description,
    ...valuesOf(definition, report),
    required: required === true && fallback === undefined,
    ...(secret === true ? { secret } : {}),
    source,
  };
}

/** The schema of an argument without one. */
const TEXT: JsonSchema = { type: 'string' };

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
  const schemaProblems = schema === TEXT ? [] : schemaReasons(schema);
  const isUsable = schemaProblems.length === 0;
  const misfits = fallback === undefined || !isUsable ? [] : defaultReasons(fallback, schema);
  for (const reason of [...schemaProblems, ...misfits]) report(new InvalidOptionError({ owner, reason }));
  if (!isUsable) return { schema: {} };
  return { schema, ...(fallback === undefined || misfits.length > 0 ? {} : { default: fallback }) };
}

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
    const { origins, scope } = this.#context;
    const origin: StepOrigin = { step: id, available: scope.available() };
    const source = origins.place({ kind: 'step', ...origin });
    this.#checkBinding(definition.binding, source);
    switch (definition.kind) {
      case 'call':
        this.#call(definition, id, origin, source);
        return;
      case 'read':
        this.#read(definition, id, origin, source);
        return;
      case 'ask':
        this.#ask(definition, id, origin, source);
        return;
      case 'shell':
      case 'delegate':
        this.#action(definition, id, origin, source);
        return;
      default:
        definition satisfies never;
    }
  }

  #action(
    definition: ShellDefinition | DelegateDefinition,
    id: string,
    origin: StepOrigin,
    source: SourceLocation,
  ): void {
    const { nodes, scope } = this.#context;
    const { binding } = definition;
    const attempts = this.#attempts(definition, origin, source);
    const guidance = this.#text('guidance', definition, origin);
    const core =
      definition.kind === 'shell'
        ? lowerShell(definition, this.#values, origin)
        : lowerDelegate(definition, this.#context, this.#values, origin, source);
    if (binding !== undefined)
      scope.bind(binding, core.kind === 'shell' ? nodeValue(id) : property(id, 'response', source));
    nodes.add({ ...core, id, ...guidance, ...attempts, ...this.#details(definition, origin), source });
  }

  #call(definition: CallDefinition, id: string, origin: StepOrigin, source: SourceLocation): void {
    const { nodes, scope, registered } = this.#context;
    const { binding } = definition;
    const tool = this.#tool(definition, source);
    const attempts = this.#attempts(definition, origin, source);
    const guidance = this.#text('guidance', definition, origin);
    const resources = this.#resources(definition, source);
    const { inputSchema } = registered?.tools.get(tool.name) ?? signatureOf(definition.tool);
    const first = nodes.size;
    const entries = this.#values.entries(definition.args, origin, (name) => schemaAt(inputSchema, [name]));
    const transform = this.#transform(definition.transforms, id, origin);
    if (binding !== undefined) {
      scope.bind(binding, transform.kind === 'value' ? transform.value : nodeValue(id));
    }
    const details = this.#details(definition, origin);
    const compensate = definition.compensate && this.#compensation(definition.compensate, id, source);
    const input = { kind: 'dict', entries, at: source.span } as const;
    const callId = transform.kind === 'value' ? id : scope.derive(`${id}.call`);
    const { timeoutMs } = attempts;
    const limit = defined({ timeoutMs });
    const isShown = resources.resources === undefined || this.#giveToModel(first, resources.resources);
    this.#finishModelValues(first, callId, limit);
    const own = { ...(isShown ? {} : resources), ...defined({ compensate }) };
    const executor = definition.isOnClient === true ? ({ executor: 'client' } as const) : {};
    const call = {
      kind: 'call',
      ...executor,
      tool: tool.name,
      input,
      ...own,
      ...guidance,
      ...attempts,
      source,
    } as const;
    if (transform.kind === 'value') {
      nodes.add({ ...call, id, ...details });
      return;
    }
    nodes.add({ ...call, id: callId });
    const { name, hash } = transform;
    const value: ComputeNode['value'] = { kind: 'list', items: [{ value: nodeValue(callId) }] };
    nodes.add({ kind: 'compute', id, value, function: { name, hash }, ...limit, ...details, source });
  }

  #tool({ tool }: CallDefinition, source: SourceLocation): { readonly name: string } {
    const resolved = resolveTool(tool, this.#context.workflow);
    if (resolved.ok) return resolved;
    this.unresolvedTools.push(resolved.name);
    this.#context.report(source, resolved.error);
    return resolved;
  }

  /** The call that undoes: it may read the value of its step. */
  #compensation(undo: CallDefinition, id: string, source: SourceLocation): Compensation {
    const origin: StepOrigin = { step: id, available: this.#context.scope.available() };
    const { name } = this.#tool(undo, source);
    const entries = this.#values.entries(undo.args, origin);
    return { tool: name, input: { kind: 'dict', entries, at: source.span } };
  }

  /** The model that supplies an argument has the resources before it is asked. */
  #giveToModel(first: number, resources: readonly ResourceRef[]): boolean {
    return this.#context.nodes.change(first, (node) =>
      node.kind === 'ask' ? { ...node, resources } : undefined,
    );
  }

  /** Values of models name the call that they are for, and have its time limit. */
  #finishModelValues(first: number, id: string, limit: Pick<Node, 'timeoutMs'>): void {
    const { nodes } = this.#context;
    const isUnfinished = (node: Node) =>
      node.kind === 'ask' && (node.feeds?.node !== id || limit.timeoutMs !== node.timeoutMs);
    const finished = (node: Node): Node | undefined =>
      node.kind === 'ask' && node.feeds !== undefined && isUnfinished(node)
        ? { ...node, ...limit, feeds: { ...node.feeds, node: id } }
        : undefined;
    while (nodes.change(first, finished));
  }

  #read(definition: ReadDefinition, id: string, origin: StepOrigin, source: SourceLocation): void {
    const { nodes, origins, scope } = this.#context;
    const attempts = this.#attempts(definition, origin, source);
    const guidance = this.#text('guidance', definition, origin);
    const resources = this.#resources(definition, source);
    const place = origins.place({ kind: 'input', source: definition.source, ...origin });
    const addressed = this.#values.address(definition.source, 'read', origin, place);
    if (definition.binding !== undefined) scope.bind(definition.binding, property(id, 'text', place));
    const details = this.#details(definition, origin);
    if (addressed === undefined) return;
    const { name: resource, uri } = addressed;
    nodes.add({
      kind: 'resource',
      id,
      resource,
      uri,
      ...resources,
      ...guidance,
      ...attempts,
      ...details,
      source,
    });
  }

  #ask(definition: AskDefinition, id: string, origin: StepOrigin, source: SourceLocation): void {
    const { nodes, scope } = this.#context;
    const { mode, binding, schema, remindAfterMs, approves } = definition;
    const attempts = this.#attempts(definition, origin, source);
    const guidance = this.#text('guidance', definition, origin);
    const resources = this.#resources(definition, source);
    const message = this.#values.value(definition.message, origin);
    const options = definition.options && { options: this.#values.value(definition.options, origin) };
    const expects = schema && { expects: this.#schema(schema, id, source) };
    const answerBy = this.#answerers('answerBy', definition, id, source);
    const escalateTo = this.#answerers('escalateTo', definition, id, source);
    const answering = defined({ answerBy, remindAfterMs, escalateTo, approves });
    if (binding !== undefined) scope.bind(binding, answerOf(mode, id, source));
    const details = this.#details(definition, origin);
    const more = { ...resources, ...guidance, ...attempts, ...details, source };
    nodes.add({ kind: 'ask', id, mode, message, ...options, ...expects, ...answering, ...more });
  }

  /** Programs in JavaScript may name none. */
  #answerers(
    option: 'answerBy' | 'escalateTo',
    definition: AskDefinition,
    id: string,
    place: SourceLocation,
  ): readonly Answerer[] | undefined {
    const answerers = definition[option];
    if (answerers === undefined || (answerers.every(isAnswerer) && isListOfAnswerers(answerers)))
      return answerers;
    const reason = `\`${option}\` must be owner(), role(name), or a list of at least one and none twice`;
    this.#context.report(place, new InvalidOptionError({ owner: `step '${id}'`, reason }));
    return undefined;
  }

  #schema(schema: JsonSchema, id: string, place: SourceLocation): JsonSchema {
    const reasonsOfSchema = schemaReasons(schema);
    const owner = `step '${id}'`;
    for (const reason of reasonsOfSchema)
      this.#context.report(place, new InvalidOptionError({ owner, reason }));
    return reasonsOfSchema.length === 0 ? schema : {};
  }

  #resources(
    { resources }: StepDefinition,
    place: SourceLocation,
  ): { readonly resources?: readonly ResourceRef[] } {
    const refs = resources.flatMap((resource) => resourceRefs(resource, place, this.#context));
    return refs.length === 0 ? {} : { resources: refs };
  }

  #details(definition: StepDefinition, origin: StepOrigin): Pick<Node, 'title' | 'summary'> {
    const { title } = definition;
    return { ...defined({ title }), ...this.#text('summary', definition, origin) };
  }

  /** Adds the node of the workflow's result. */
  addResult({ value, id: ownId }: ResultDefinition): void {
    const { nodes, origins, scope } = this.#context;
    const id = ownId ?? scope.derive('output');
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
    if (!isPositive) refuse(optionReason('timeoutMs', timeoutMs, 'above 0'));
    const retries = retry && retryOf(retry, refuse);
    return {
      ...(timeoutMs === undefined || !isPositive ? {} : { timeoutMs }),
      ...defined({ retry: retries }),
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
    if (others.length > 0) refuse('The output is transformed twice. One transform can do the work of both');
    if (typeof transform === 'function') return this.#named(transform, refuse);
    const value = transformed(transform, output, place.span, refuse);
    if (value !== undefined) this.transforms.push(value);
    return { kind: 'value', value };
  }

  #named(target: NamedFunction, refuse: (reason: string) => void): LoweredTransform {
    const referred = this.functions.refer(target);
    if (referred.ok) return { kind: 'function', name: referred.name, hash: referred.hash };
    refuse(referred.reason);
    return { kind: 'value', value: undefined };
  }
}

function property(id: string, key: string, { span: at }: SourceLocation): Expr {
  return readKey(nodeValue(id), { kind: 'literal', value: key, at }, { at });
}

/** The value of a question. */
function answerOf(mode: AskDefinition['mode'], id: string, place: SourceLocation): Expr {
  switch (mode) {
    case 'info':
      return { kind: 'literal' };
    case 'confirm':
      return property(id, 'confirmed', place);
    case 'text':
      return property(id, 'input', place);
    case 'choice':
      return property(id, 'selected', place);
    case 'yield':
    case 'model':
      return nodeValue(id);
    default:
      return mode satisfies never;
  }
}

/** The part of a node that its kind decides. */
type Own<K extends 'shell' | 'delegate'> = Omit<Extract<Bare, { kind: K }>, 'id' | 'source'>;

/** A command, with its values quoted as `shell` of classes quotes them. */
function lowerShell(
  { command, argv, env, failOnError }: ShellDefinition,
  values: ValueLowering,
  origin: StepOrigin,
): Own<'shell'> {
  const lowered = (source: DataSource): Expr => values.value(source, origin);
  const items = argv?.map((source) => ({ value: lowered(source) }));
  const variables = env && Object.entries(env).map(([key, source]) => ({ key, value: lowered(source) }));
  return {
    kind: 'shell',
    executor: 'client',
    command: quoted(lowered(command)),
    ...(items === undefined ? {} : { argv: { kind: 'list', items } }),
    ...(variables === undefined ? {} : { env: { kind: 'dict', entries: variables } }),
    ...(failOnError === true ? { failOnError } : {}),
  };
}

function quoted(command: Expr): Expr {
  if (command.kind !== 'text') return command;
  const parts = command.parts.map((part) =>
    typeof part === 'string'
      ? part
      : ({ kind: 'call', ...defined({ at: part.at }), fn: 'filter.shq.py', args: [part] } as const),
  );
  return { ...command, parts };
}

/** The task of an agent. A name that no agent can have is reported. */
function lowerDelegate(
  { agent, instructions, schema, tools }: DelegateDefinition,
  { report, workflow }: Pick<LoweringContext, 'report' | 'workflow'>,
  values: ValueLowering,
  origin: StepOrigin,
  source: SourceLocation,
): Own<'delegate'> {
  const name = agentName(agent);
  if (name !== null && !isValidName('agent', name))
    report(source, new InvalidNameError({ kind: 'agent', name, rule: NAME_RULES.agent.source }));
  const names = tools?.map((tool) => {
    const resolved = resolveTool(tool, workflow);
    if (!resolved.ok) report(source, resolved.error);
    return resolved.name;
  });
  const prompt = values.value(instructions, origin);
  return {
    kind: 'delegate',
    executor: 'client',
    agent: name,
    prompt,
    ...defined({ tools: names, responseSchema: schema }),
  };
}

function agentName(agent: AgentLike): string | null {
  if (typeof agent !== 'function') return agent === null ? null : String(agent);
  const metadata = readMetadata(agent);
  return metadata?.kind === 'agent' ? metadata.options.name : agent.name;
}
