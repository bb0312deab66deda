import { sha256Hex } from '../../graph/canonical.js';
import type { CheckEnvironment } from '../../graph/check/check-graph.js';
import { exprSchema } from '../../graph/expression/schema.js';
import type { DictEntry, Expr, RefExpr } from '../../graph/expression/tree.js';
import type { ComputeNode, JoinRule, Node } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { FunctionEntry } from './compile.js';
import { constantExpr } from './constants.js';
import {
  DuplicateNameError,
  didYouMean,
  InvalidMappingError,
  InvalidNameError,
  InvalidOptionError,
  reasons,
  UnknownBindingError,
  type WorkflowError,
} from './errors.js';
import { lowerGuidance } from './guidance.js';
import { IDENTIFIER, isIdentifier, looseNameError, parsePath } from './names.js';
import type { Provenance, StepOrigin } from './provenance.js';
import { resolveResource, resolveTool } from './resolve.js';
import type { Scope } from './scope.js';
import type { DataSource } from './sources.js';
import type { StepDefinition } from './step.js';
import { retryOf } from './strategy.js';
import { applied, foreignReferences, type NamedFunction, readPath, type Transform } from './transform.js';

/** What steps are lowered against. */
export interface StepContext {
  readonly workflow: string;
  readonly registered: CheckEnvironment | undefined;
  readonly provenance: Provenance;
  readonly report: (place: Place, error: WorkflowError) => void;
  readonly scope: Scope;
  /** How a node joins with the one before it. */
  readonly join: JoinRule;
}

/** Stands for what has been reported. */
const ABSENT: Expr = { kind: 'literal' };

/** What a transform comes to. */
type LoweredTransform =
  /** For a step without one, what the step gives; nothing for one that was reported. */
  | { readonly kind: 'value'; readonly value: Expr | undefined }
  | { readonly kind: 'function'; readonly name: string; readonly entry: FunctionEntry };

/** Makes nodes of steps, one step after the other. */
export class StepLowering {
  readonly nodes: Node[] = [];
  readonly transforms: Expr[] = [];
  readonly functions = new Map<string, FunctionEntry>();
  readonly unresolvedTools: string[] = [];
  readonly #context: StepContext;

  constructor(context: StepContext) {
    this.#context = context;
  }

  /** @param id of the node whose value the binding stands for. */
  add(definition: StepDefinition, id: string): void {
    const { provenance, report, scope, workflow } = this.#context;
    const origin: StepOrigin = { step: id, definition, available: scope.available };
    const source = provenance.place({ kind: 'step', ...origin });
    this.#checkBinding(definition.binding, source);
    const tool = resolveTool(definition.tool, workflow);
    if (!tool.ok) {
      this.unresolvedTools.push(tool.name);
      report(source, tool.error);
    }
    const details = this.#details(definition, origin, source);
    const entries = this.#entries(definition, origin);
    const transform = this.#transform(definition.transforms, id, origin);
    const call = transform.kind === 'function' ? scope.derive(`${id}.call`) : id;
    const input = { kind: 'dict', entries, at: source.span } as const;
    this.#push({ kind: 'call', id: call, tool: tool.name, input, ...details, ...this.#common(), source });
    if (transform.kind === 'function') this.#compute(id, call, transform, source);
    if (definition.binding !== undefined) {
      scope.bind(definition.binding, transform.kind === 'value' ? transform.value : nodeValue(id));
    }
  }

  #push(node: Node): void {
    this.nodes.push(node);
  }

  /** What every node has: it follows the one before it. */
  #common(): Pick<Node, 'after' | 'join' | 'executor'> {
    const after = this.nodes.slice(-1).map(({ id }) => id);
    return { after, join: this.#context.join, executor: 'server' };
  }

  #checkBinding(binding: string | undefined, source: Place): void {
    if (binding === undefined) return;
    const { report, scope, workflow } = this.#context;
    const error = looseNameError('binding', binding);
    if (error !== undefined) report(source, error);
    // Two steps of one name are the checker's to find; it keeps arguments apart from steps, which guidance cannot.
    if (scope.args.includes(binding)) {
      const kinds = 'an argument and a step';
      report(source, new DuplicateNameError({ workflow, name: binding, kinds }, 'SW1008'));
    }
  }

  #details(
    { guidance, timeoutMs, retry }: StepDefinition,
    origin: StepOrigin,
    source: Place,
  ): Pick<Node, 'guidance' | 'timeoutMs' | 'retry'> {
    const refuse = (reason: string): void =>
      this.#context.report(source, new InvalidOptionError({ owner: `step '${origin.step}'`, reason }));
    const isPositive = timeoutMs === undefined || (timeoutMs > 0 && Number.isFinite(timeoutMs));
    if (!isPositive) refuse(reasons.option('timeoutMs', timeoutMs, 'above 0'));
    const retries = retry && retryOf(retry, refuse);
    return {
      ...(guidance === undefined ? {} : { guidance: this.#guidance(guidance, origin) }),
      ...(timeoutMs === undefined || !isPositive ? {} : { timeoutMs }),
      ...(retries === undefined ? {} : { retry: retries }),
    };
  }

  #guidance(text: string, origin: StepOrigin): Expr {
    const { provenance, report, scope } = this.#context;
    const place = provenance.place({ kind: 'guidance', ...origin });
    const find = (name: string): Expr | undefined => {
      if (scope.isBound(name)) return scope.valueOf(name);
      if (scope.args.includes(name)) return { kind: 'ref', root: 'inputs', path: [name] };
      const known = [...scope.args, ...origin.available];
      const because = didYouMean(name, known) ?? reasons.literalBraces();
      report(place, new UnknownBindingError({ ...origin, binding: name }, 'SW3006', because));
      return undefined;
    };
    return lowerGuidance(text, find, place.span);
  }

  #entries({ args }: StepDefinition, origin: StepOrigin): DictEntry[] {
    const { provenance, report } = this.#context;
    const entries: DictEntry[] = [];
    for (const { name, source } of args) {
      const place = provenance.place({ kind: 'input', argument: name, source, ...origin });
      if (name === '__proto__') {
        report(place, new InvalidNameError({ kind: 'argument', name, rule: IDENTIFIER.source }));
      } else if (entries.some((entry) => 'key' in entry && entry.key === name)) {
        report(place, this.#mapping(origin, reasons.givenTwice(name)));
      } else {
        entries.push({ key: name, value: this.#value(source, name, origin, place) });
      }
    }
    return entries;
  }

  #value(source: DataSource, argument: string, origin: StepOrigin, place: Place): Expr {
    const at = place.span;
    switch (source.kind) {
      case 'argument':
        return { kind: 'ref', root: 'inputs', path: [source.name], at };
      case 'step':
        return this.#fromStep(source, origin, place);
      case 'constant':
        if ('value' in source) return { ...source.value, at };
        this.#context.report(place, this.#mapping(origin, reasons.constant(source.fault)));
        return ABSENT;
      case 'resource':
        return this.#read(source, argument, origin, place);
      default:
        return source satisfies never;
    }
  }

  #fromStep(
    { binding, path = undefined }: Extract<DataSource, { kind: 'step' }>,
    origin: StepOrigin,
    place: Place,
  ): Expr {
    const { report, scope } = this.#context;
    const keys = path === undefined ? [] : parsePath(path);
    if (keys === undefined) {
      report(place, this.#mapping(origin, reasons.fieldPath(path ?? '')));
      return ABSENT;
    }
    if (scope.isBound(binding)) {
      const value = scope.valueOf(binding);
      return value === undefined ? ABSENT : readPath(value, keys, place.span);
    }
    // A step that comes later is the checker's to find. What goes by an id alone it would take for bound.
    if (scope.hasBinding(binding)) return readPath(nodeValue(binding), keys, place.span);
    const because = scope.isUnbound(binding) ? reasons.noBinding(binding) : undefined;
    report(place, new UnknownBindingError({ ...origin, binding }, 'SW3001', because));
    return ABSENT;
  }

  /** The text of a resource, by a node of its own before the step. */
  #read(
    { resource }: Extract<DataSource, { kind: 'resource' }>,
    argument: string,
    origin: StepOrigin,
    place: Place,
  ): Expr {
    const { registered, report, scope, workflow } = this.#context;
    const resolved = resolveResource(resource, workflow, registered);
    if (!resolved.ok) {
      report(place, resolved.error);
      return ABSENT;
    }
    const at = place.span;
    const id = scope.derive(`${origin.step}.${argument.replace(/[^\p{ID_Continue}$-]/gu, '-')}`);
    const uri: Expr = { kind: 'literal', value: resolved.uri, at };
    this.#push({ kind: 'resource', id, resource: resolved.name, uri, ...this.#common(), source: place });
    return { kind: 'get', of: { ...nodeValue(id), at }, key: { kind: 'literal', value: 'text', at }, at };
  }

  #transform(transforms: readonly Transform[], id: string, origin: StepOrigin): LoweredTransform {
    const [transform, ...others] = transforms;
    if (transform === undefined) return { kind: 'value', value: nodeValue(id) };
    const place = this.#context.provenance.place({ kind: 'transform', ...origin });
    const refuse = (reason: string): undefined => {
      this.#context.report(place, this.#mapping(origin, reason));
      return undefined;
    };
    if (others.length > 0) refuse(reasons.transformTwice());
    if (typeof transform === 'function') {
      return this.#namedFunction(transform, place, refuse) ?? { kind: 'value', value: undefined };
    }
    const value =
      typeof transform === 'string'
        ? pathTransform(transform, id, place, refuse)
        : exprTransform(transform, id, place, refuse);
    if (value !== undefined) this.transforms.push(value);
    return { kind: 'value', value };
  }

  #namedFunction(
    given: NamedFunction,
    place: Place,
    refuse: (reason: string) => undefined,
  ): LoweredTransform | undefined {
    const { report, workflow } = this.#context;
    const { name } = given;
    if (!isIdentifier(name)) return refuse(reasons.functionName());
    const source = Function.prototype.toString.call(given);
    // What a bound or native function does cannot be told from its text.
    if (/\{\s*\[native code\]\s*\}\s*$/.test(source)) return refuse(reasons.functionSource(name));
    const known = this.functions.get(name);
    const entry = { function: given, hash: sha256Hex(source) };
    if (known !== undefined && known.function !== given) {
      report(place, new DuplicateNameError({ workflow, name, kinds: 'two functions' }, 'SW1004'));
      return undefined;
    }
    this.functions.set(name, entry);
    return { kind: 'function', name, entry };
  }

  #compute(
    id: string,
    call: string,
    { name, entry: { hash } }: Extract<LoweredTransform, { kind: 'function' }>,
    source: Place,
  ): void {
    const value: ComputeNode['value'] = { kind: 'list', items: [{ value: nodeValue(call) }] };
    this.#push({ kind: 'compute', id, value, function: { name, hash }, ...this.#common(), source });
  }

  #mapping({ step }: StepOrigin, reason: string): WorkflowError {
    return new InvalidMappingError({ step, reason }, 'SW4011');
  }
}

/** The value of a node, by its id. */
function nodeValue(id: string): RefExpr {
  return { kind: 'ref', root: 'steps', path: [id] };
}

function pathTransform(
  path: string,
  id: string,
  { span }: Place,
  refuse: (reason: string) => undefined,
): Expr | undefined {
  const keys = parsePath(path);
  return keys === undefined ? refuse(reasons.fieldPath(path)) : readPath(nodeValue(id), keys, span);
}

function exprTransform(
  transform: Expr,
  id: string,
  { span }: Place,
  refuse: (reason: string) => undefined,
): Expr | undefined {
  // A tree of a program's making may be anything, also a cycle.
  const plain = constantExpr(transform);
  if ('fault' in plain) return refuse(reasons.transformShape(plain.fault));
  const lowered = applied(transform, nodeValue(id), span);
  const parsed = exprSchema.safeParse(lowered);
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    return refuse(reasons.transformShape(`/${path.map(String).join('/')}: ${message}`));
  }
  const foreign = foreignReferences(lowered, nodeValue(id));
  for (const name of foreign) refuse(reasons.transformRef(name));
  return foreign.length > 0 ? undefined : lowered;
}
