import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Place } from '../../graph/place.js';
import type { StepDeclaration } from '../declarations.js';
import type { ExpressionSyntax, FunctionSymbol } from '../syntax.js';
import {
  type CallSyntax,
  calleeName,
  functionOf,
  isChain,
  isStep,
  looksLikeVerb,
  outcomeCalls,
  type StepVerb,
  stepVerbOf,
  symbolOf,
  unwrap,
  verbOf,
} from '../verbs.js';
import { readArrow } from './arrows.js';
import type { Binding, Bindings } from './bindings.js';
import { type CallOptionsRead, readCallOptions } from './call-options.js';
import {
  type ExpressionScope,
  type Local,
  lowerCondition,
  lowerDict,
  lowerExpression,
} from './expressions.js';
import { fallbackFault, withFallback } from './fallback.js';
import type { Functions } from './functions.js';
import type { Handles } from './handles.js';
import { freeId } from './node-ids.js';
import { negateOnce } from './operators.js';
import {
  type Attempts,
  boundTo,
  boundToNode,
  guarded,
  type NodeCore,
  nodeValue,
  resourceText,
  type StepNode,
  type StepOutcome,
} from './outcome.js';
import { retryOf } from './retry.js';
import { settle } from './settle.js';
import { lowerAddress } from './uris.js';

/** What a step is linked against. */
export interface StepScope {
  readonly step: StepDeclaration;
  /** The id of the node to be made: the step's own, or one derived from it. */
  readonly id: string;
  /** What the ids of further nodes begin with, where that is not `id`: parts of a chain are numbered. */
  readonly prefix?: string;
  /** The id of the step's last node. */
  readonly ownId: string;
  /** Whether a step of the workflow has this id, so that no further node may take it. */
  readonly isTaken: (id: string) => boolean;
  /** Where the part stands whose node it is: the step's field, or an expression in its initializer. */
  readonly source: Place;
  readonly bindings: Bindings;
  readonly handles: Handles;
  readonly functions: Functions;
  readonly report: (diagnostic: Diagnostic) => void;
  /** The names that arrows around this part bind. */
  readonly locals?: ReadonlyMap<string, Local>;
}

/** Links a step's initializer; nothing where a part of it was reported, here or before. */
export function linkInitializer(scope: StepScope): StepOutcome | undefined {
  const linker = new StepLinker(scope);
  const outcome = linker.link(scope.step.initializer);
  return outcome && linker.settled(outcome);
}

type ConditionalSyntax = Extract<ExpressionSyntax, { kind: 'conditional' }>;

class StepLinker {
  readonly #scope: StepScope;
  readonly #hoisted: StepNode[] = [];
  /** The id of the call it makes. */
  #callId: string;

  constructor(scope: StepScope) {
    this.#scope = scope;
    this.#callId = scope.id;
  }

  link(syntax: ExpressionSyntax): StepOutcome | undefined {
    const inner = unwrap(syntax);
    if (inner.kind === 'undefined') {
      this.#scope.report(diagnostic('SW1018', this.#scope.step.place, { step: this.#scope.step.name }));
      return undefined;
    }
    if (inner.kind === 'conditional' && outcomeCalls(inner).some(isStep)) return this.#conditional(inner);
    if (inner.kind === 'call') {
      const verb = stepVerbOf(inner);
      if (verb !== undefined) return this.#verbs[verb](inner);
      const symbol = functionOf(inner);
      if (symbol !== undefined && !looksLikeVerb(inner))
        return this.#function(symbol, inner.args, inner.callee.place);
    }
    if (inner.kind === 'binary' && inner.operator === '??') {
      const right = unwrap(inner.right);
      if (right.kind === 'call' && verbOf(right) === 'fail') return this.#require(inner.left, right);
    }
    return isEmptyChoice(inner) ? this.link({ kind: 'undefined', place: inner.place }) : this.#compute(inner);
  }

  #conditional({ test, then, else: otherwise }: ConditionalSyntax): StepOutcome | undefined {
    const condition = lowerCondition(test, this.#values);
    const onlyThen = unwrap(otherwise).kind === 'undefined';
    if (onlyThen || unwrap(then).kind === 'undefined') {
      const outcome = this.link(onlyThen ? then : otherwise);
      if (outcome === undefined || condition === undefined) return undefined;
      return guarded(outcome, onlyThen ? condition : negateOnce(condition));
    }
    // Both sides are read for their own faults.
    for (const side of [then, otherwise]) {
      if (outcomeCalls(side).some(isStep)) new StepLinker(this.#scope).link(side);
      else lowerExpression(side, this.#values);
    }
    const [call] = [...outcomeCalls(otherwise), ...outcomeCalls(then)].filter(isStep);
    const hint =
      'a step does one thing or nothing: make it two steps, each with `undefined` as its other side';
    this.#scope.report(diagnostic('SW2003', otherwise.place, { verb: calleeName(call) }, { hint }));
    return undefined;
  }

  /** `value ?? fail('…')`: ends the run unless there is a value, which the name stands for from here on. */
  #require(required: ExpressionSyntax, fail: CallSyntax): StepOutcome | undefined {
    const expr = lowerExpression(required, this.#values);
    const failure = this.#verbs.fail(fail);
    if (expr === undefined || failure === undefined) return undefined;
    const isMissing: Expr = { kind: 'call', at: required.place.span, fn: 'isNullish', args: [expr] };
    return { nodes: guarded(failure, isMissing).nodes, bind: boundTo(expr) };
  }

  /** An initializer without a verb: a value that is computed once, when the step's turn comes. */
  #compute(syntax: ExpressionSyntax): StepOutcome | undefined {
    if (this.#isGuardedCall(syntax)) return undefined;
    const value = lowerExpression(syntax, this.#arguments);
    return value && this.#outcome({ kind: 'compute', value });
  }

  /** `condition && call(…)` would give the condition where it does not hold. */
  #isGuardedCall(syntax: ExpressionSyntax): boolean {
    const call = syntax.kind === 'binary' && syntax.operator === '&&' ? unwrap(syntax.right) : undefined;
    if (syntax.kind !== 'binary' || call?.kind !== 'call' || !isStep(call)) return false;
    lowerCondition(syntax.left, this.#values);
    const verb = calleeName(call);
    const hint = `write \`condition ? ${verb}(…) : undefined\``;
    this.#scope.report(diagnostic('SW2003', call.callee.place, { verb }, { hint }));
    return true;
  }

  /** Where reads cannot be moved out of an expression. */
  get #values(): ExpressionScope {
    const { bindings, handles, report, locals } = this.#scope;
    return { bindings, handles, report, ...(locals === undefined ? {} : { locals }) };
  }

  /** Where they can: in what a verb is given. */
  get #arguments(): ExpressionScope {
    return { ...this.#values, hoist: (read, path) => this.#hoist(read, path) };
  }

  #outcome(core: NodeCore, more: Partial<StepNode> = {}, bind = boundToNode(this.#scope.id)): StepOutcome {
    const { id, source } = this.#scope;
    const node: StepNode = { id, core, conditions: [], source, ...more };
    return { nodes: [...this.#hoisted, node], bind };
  }

  #hoist(read: CallSyntax, path: readonly (string | number)[]): Expr | undefined {
    const core = this.#readCore(read);
    if (core === undefined) return undefined;
    const keys = path.map((key) => String(key).replace(/[^\p{ID_Continue}$-]/gu, '-'));
    const base = [this.#prefix, ...(keys.length === 0 ? ['read'] : keys)].join('.');
    const id = freeId(base, [...this.#hoisted, { id: this.#callId }], this.#scope.isTaken);
    this.#hoisted.push({ id, core, conditions: [], source: read.place, hoisted: true });
    // It shares the condition of the step it belongs to.
    return { ...resourceText(id, false), at: read.place.span };
  }

  /** See `settle`. */
  settled(outcome: StepOutcome): StepOutcome {
    const id = freeId(`${this.#prefix}.value`, outcome.nodes, this.#scope.isTaken);
    return settle(outcome, id, this.#scope.source);
  }

  #readCore(read: CallSyntax): Extract<NodeCore, { kind: 'resource' }> | undefined {
    const addressed = lowerAddress(read, 'read', this.#scope, (part) => lowerExpression(part, this.#values));
    return addressed && { kind: 'resource', resource: addressed.resource.name, uri: addressed.uri };
  }

  get #prefix(): string {
    return this.#scope.prefix ?? this.#scope.id;
  }

  /** The options of the step, for the nodes that make attempts; those of the call win. */
  #attempts(own: Attempts = {}): Attempts {
    const { timeoutMs } = this.#scope.step.options;
    const retry = own.retry ?? retryOf(this.#scope.step.options.retry);
    const limit = own.timeoutMs ?? (typeof timeoutMs === 'number' ? timeoutMs : undefined);
    return {
      ...(retry === undefined ? {} : { retry }),
      ...(limit === undefined ? {} : { timeoutMs: limit }),
    };
  }

  /** By verb, what it makes. */
  readonly #verbs: Readonly<Record<StepVerb, (call: CallSyntax) => StepOutcome | undefined>> = {
    call: (call) => this.#call(call),
    read: (call) => {
      const core = this.#readCore(call);
      const { id } = this.#scope;
      return (
        core &&
        this.#outcome(core, this.#attempts(), (conditions) => ({
          kind: 'value',
          expr: resourceText(id, conditions.length > 0),
        }))
      );
    },
    fail: ({ args, callee }) => {
      const message = this.#argument(args[0], callee.place);
      return message && this.#outcome({ kind: 'error', message }, {}, boundTo({ kind: 'literal' }));
    },
    done: ({ args, callee }) => {
      const value = this.#argument(args[0], callee.place);
      return value && this.#outcome({ kind: 'return', value }, {}, () => ({ kind: 'end' }));
    },
    chain: (call) => this.#chain(call),
    attempt: (call) => this.#attempt(call),
  };

  #argument(syntax: ExpressionSyntax | undefined, at: Place): Expr | undefined {
    if (syntax === undefined) return { kind: 'literal', at: at.span };
    return lowerExpression(syntax, this.#arguments);
  }

  #call({ args, callee, place }: CallSyntax): StepOutcome | undefined {
    const [handle, input, given] = args;
    const { id, report } = this.#scope;
    const tool = this.#scope.handles.tool(handle, 'call', callee.place);
    const options = readCallOptions(given, report);
    const transform = options?.transform && unwrap(options.transform);
    const named = transform && symbolOf(transform);
    const isNamed = named?.kind === 'function';
    const callId = options?.id ?? (isNamed ? `${this.#prefix}.call` : id);
    this.#callId = callId;
    const dict: Expr | undefined =
      input === undefined || input.kind === 'undefined'
        ? { kind: 'dict', at: place.span, entries: [] }
        : lowerDict(input, this.#arguments);
    if (options === undefined || this.#isGivenTwice(options)) return undefined;
    const bind =
      transform === undefined || isNamed ? boundToNode(callId) : this.#transformed(transform, callId);
    if (tool === undefined || dict?.kind !== 'dict' || bind === undefined) return undefined;
    const core = { kind: 'call', tool: tool.name, input: dict } as const;
    const source = isNamed ? place : this.#scope.source;
    const called = this.#outcome(core, { ...this.#attempts(options), id: callId, source }, bind);
    if (transform === undefined || !isNamed) return called;
    const reference = this.#scope.functions.refer(named, transform.place);
    if (reference === undefined) return undefined;
    const at = transform.place.span;
    const value: Expr = { kind: 'list', at, items: [{ value: { ...nodeValue(callId), at } }] };
    const computed: StepNode = {
      id,
      core: { kind: 'compute', value, function: reference },
      conditions: [],
      source: this.#scope.source,
      ...this.#limit(),
    };
    return { nodes: [...called.nodes, computed], bind: boundToNode(id) };
  }

  /** `transform: (out) => …`: the name stands for the expression over the output. */
  #transformed(transform: ExpressionSyntax, callId: string): StepOutcome['bind'] | undefined {
    const arrow = readArrow(transform, 'transform', 1, this.#scope.report);
    const body = arrow && this.#inside(arrow, { kind: 'value', expr: nodeValue(callId) });
    return body && boundTo(body);
  }

  /** The body of an arrow as a value, its parameter bound. */
  #inside(
    { names, body }: { readonly names: readonly string[]; readonly body: ExpressionSyntax },
    parameter: Local,
  ): Expr | undefined {
    return lowerExpression(body, { ...this.#values, locals: this.#withLocal(names[0], parameter) });
  }

  #withLocal(name: string | undefined, local: Local): ReadonlyMap<string, Local> {
    return new Map([...(this.#scope.locals ?? []), ...(name === undefined ? [] : [[name, local] as const])]);
  }

  #limit(): Attempts {
    const { retry: _, ...limit } = this.#attempts();
    return limit;
  }

  /** An option of a step's own call may stand beside the call or in @Step, once. */
  #isGivenTwice({ syntax }: CallOptionsRead): boolean {
    const { step, report, id, ownId } = this.#scope;
    // Inside a chain the step's own options are what its calls fall back on.
    const isAlone = !isChain(step.initializer);
    const twice = Object.entries(syntax).filter(
      ([option]) => id === ownId && (isAlone || option === 'id') && Object.hasOwn(step.optionSyntax, option),
    );
    for (const [option, { place }] of twice) {
      const other = step.optionSyntax[option]?.place ?? step.place;
      const related = [{ message: 'the other one is here', place: other }];
      report(
        diagnostic('SW1020', place, { what: `\`${option}\``, first: '`call`', second: '@Step' }, { related }),
      );
    }
    return twice.length > 0;
  }

  /** An exported function: the host calls it with the values of its arguments. */
  #function(symbol: FunctionSymbol, args: readonly ExpressionSyntax[], at: Place): StepOutcome | undefined {
    const reference = this.#scope.functions.refer(symbol, at);
    const values = args.map((arg) => lowerExpression(arg, this.#arguments));
    if (reference === undefined || !values.every((value) => value !== undefined)) return undefined;
    const value: Expr = { kind: 'list', at: at.span, items: values.map((each) => ({ value: each })) };
    return this.#outcome({ kind: 'compute', value, function: reference }, this.#limit());
  }

  /** One node after the other, each given the value of the one before. */
  #chain({ args, callee }: CallSyntax): StepOutcome | undefined {
    const { id, report } = this.#scope;
    const [first, ...rest] = args;
    if (first === undefined)
      return this.#refuse(callee.place, 'a `chain` without steps', '`chain(call(…), (value) => call(…))`');
    const prefixAt = (index: number): string => `${this.#prefix}.${index + 1}`;
    const idAt = (index: number): string => (index === rest.length ? id : prefixAt(index));
    const outcomes = [this.#part(first, idAt(0), prefixAt(0))];
    for (const [index, each] of rest.entries()) {
      const value = outcomes.at(-1)?.bind([]) ?? ({ kind: 'faulty' } as const);
      outcomes.push(this.#link(each, idAt(index + 1), prefixAt(index + 1), value));
    }
    const last = outcomes.at(-1);
    if (last === undefined || !outcomes.every((outcome) => outcome !== undefined)) return undefined;
    const early = outcomes.slice(0, -1).findIndex((outcome) => outcome.bind([]).kind === 'end');
    if (early !== -1) {
      const hint = 'nothing follows the end of the run: make it the last one';
      report(diagnostic('SW2003', (args[early] ?? first).place, { verb: 'done' }, { hint }));
      return undefined;
    }
    return { nodes: outcomes.flatMap(({ nodes }) => nodes), bind: last.bind };
  }

  /** A link of a chain: an arrow that gives a step, or an exported function. */
  #link(syntax: ExpressionSyntax, id: string, prefix: string, value: Binding): StepOutcome | undefined {
    const symbol = symbolOf(unwrap(syntax));
    if (symbol?.kind === 'function') {
      const reference = this.#scope.functions.refer(symbol, syntax.place);
      if (reference === undefined || value.kind !== 'value') return undefined;
      const at = syntax.place.span;
      const args: Expr = { kind: 'list', at, items: [{ value: { ...value.expr, at } }] };
      const core: NodeCore = { kind: 'compute', value: args, function: reference };
      const source = id === this.#scope.id ? this.#scope.source : syntax.place;
      return this.#outcome(core, { ...this.#limit(), id, source }, boundToNode(id));
    }
    const arrow = readArrow(syntax, 'chain', 1, this.#scope.report);
    return arrow && this.#part(arrow.body, id, prefix, this.#withLocal(arrow.names[0], value));
  }

  #part(
    syntax: ExpressionSyntax,
    id: string,
    prefix: string,
    locals = this.#scope.locals,
  ): StepOutcome | undefined {
    const source = id === this.#scope.id ? this.#scope.source : syntax.place;
    const inner = { ...this.#scope, id, prefix, source, ...(locals === undefined ? {} : { locals }) };
    const linker = new StepLinker(inner);
    const outcome = linker.link(syntax);
    return outcome && id !== this.#scope.id ? linker.settled(outcome) : outcome;
  }

  /** `attempt(step, (error) => …)`: a value stands in for the step's own when it has failed for good. */
  #attempt({ args, callee }: CallSyntax): StepOutcome | undefined {
    const [step, fallback] = args;
    const example = '`attempt(call(…), (error) => …)`';
    if (step === undefined) return this.#refuse(callee.place, 'an `attempt` without a step', example);
    const outcome = this.#part(step, this.#scope.id, this.#prefix);
    const arrow = fallback && readArrow(fallback, 'attempt', 1, this.#scope.report);
    if (fallback === undefined) return this.#refuse(callee.place, 'an `attempt` without a fallback', example);
    const value = arrow && this.#inside(arrow, { kind: 'error' });
    if (outcome === undefined || value === undefined) return undefined;
    const fault = fallbackFault(outcome, step);
    if (fault !== undefined) this.#scope.report(fault);
    return fault === undefined ? withFallback(outcome, value) : undefined;
  }

  #refuse(at: Place, what: string, example: string): undefined {
    this.#scope.report(diagnostic('SW2001', at, { what }, { hint: `write ${example}` }));
    return undefined;
  }
}

/** A choice between nothing and nothing. */
function isEmptyChoice(syntax: ExpressionSyntax): boolean {
  if (syntax.kind === 'undefined') return true;
  if (syntax.kind !== 'conditional') return false;
  return isEmptyChoice(unwrap(syntax.then)) && isEmptyChoice(unwrap(syntax.else));
}
