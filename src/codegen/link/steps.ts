import { defined } from '../../graph/defined.js';
import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { kinds } from '../../graph/kinds/kinds.js';
import type { Scope } from '../../graph/kinds/node.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ExpressionSyntax } from '../syntax.js';
import {
  bodyOf,
  type CallSyntax,
  calleeName,
  functionOf,
  isFail,
  isFunctionSyntax,
  isNothing,
  isOneNode,
  isRequirement,
  isStep,
  looksLikeVerb,
  makesSteps,
  onlySide,
  optionOf,
  outcomeCalls,
  type StepVerb,
  stepReadFrom,
  stepVerbOf,
  unwrap,
} from '../verbs.js';
import { lowerCondition, lowerExpression } from './expressions.js';
import {
  type Attempts,
  boundTo,
  boundToNode,
  guarded,
  idPart,
  inSequence,
  type NodeCore,
  ownNode,
  readsState,
  retryOf,
  type StepNode,
  type StepOutcome,
  settle,
} from './nodes.js';
import { negateOnce } from './operators-and-methods.js';
import {
  type Arrow,
  type ExpressionScope,
  type Local,
  localsOf,
  type StepScope,
  type SyntaxOf,
} from './scope.js';
import { linkDelegate, linkOnClient, linkShell } from './verbs/agents.js';
import { linkAttempt } from './verbs/attempt.js';
import { linkCall, linkFunction, linkRead, linkRun, linkSet } from './verbs/calls.js';
import {
  ALWAYS,
  linkBranch,
  linkChain,
  linkDone,
  linkFail,
  linkForEach,
  linkGoto,
  linkMatch,
  linkParallel,
} from './verbs/control-flow.js';
import type { BodyOptions, Linker, PartOptions } from './verbs/linker.js';
import { HoistedNodes, linkValue } from './verbs/values.js';
import { linkAsk, linkWait } from './verbs/waiting.js';

/** Links a step's initializer; nothing where a part of it was reported, here or before. */
export function linkInitializer(scope: StepScope, isWrapped: boolean): StepOutcome | undefined {
  const linker = new StepLinker(scope);
  const { initializer } = scope.step;
  const outcome = isWrapped ? linker.wrapped(initializer) : linker.link(initializer);
  return outcome && linker.settled(outcome);
}

class StepLinker implements Linker {
  readonly scope: StepScope;
  readonly #hoisted = new HoistedNodes(this);

  constructor(scope: StepScope) {
    this.scope = scope;
  }

  link(syntax: ExpressionSyntax): StepOutcome | undefined {
    const inner = unwrap(syntax);
    if (isNothing(inner)) {
      this.scope.report(diagnostic('SW1018', this.scope.step.place, { step: this.scope.step.name }));
      return undefined;
    }
    if (inner.kind === 'conditional' && makesSteps(inner)) return this.#conditional(inner);
    if (inner.kind === 'call') {
      const verb = stepVerbOf(inner);
      if (verb !== undefined) return linkVerb(this, verb, inner);
      const symbol = functionOf(inner);
      if (symbol !== undefined && !looksLikeVerb(inner)) return linkFunction(this, symbol, inner);
    }
    if (inner.kind === 'binary' && inner.operator === '??' && makesSteps(inner.right))
      return isFail(inner.right) ? this.#require(inner.left, inner.right) : this.#provide(inner);
    if ((inner.kind === 'property' || inner.kind === 'element') && stepReadFrom(inner) !== undefined)
      return this.#access(inner);
    return this.#compute(syntax);
  }

  /** `() => call(…)`, which nothing would call. */
  #isFunction(syntax: ExpressionSyntax): boolean {
    if (!isFunctionSyntax(syntax)) return false;
    const body = bodyOf(syntax);
    const verb = body && outcomeCalls(body).find((call) => stepVerbOf(call) !== undefined);
    const hint = verb && `write the step itself, without an arrow: \`${calleeName(verb)}(…)\``;
    const params = { taker: 'a step', takes: 'the call of a verb, or a value', actual: 'a function' };
    const instead = 'write the expression itself, without a function around it';
    this.scope.report(diagnostic('SW2008', syntax.place, params, { hint: hint ?? instead }));
    return true;
  }

  #conditional(syntax: SyntaxOf<'conditional'>): StepOutcome | undefined {
    if (isRequirement(syntax)) return this.#certain(syntax);
    const side = onlySide(syntax);
    if (side === undefined) return linkBranch(this, syntax);
    const condition = lowerCondition(syntax.test, this.values);
    // A condition is asked for each of the nodes, and one over state may be answered otherwise by then.
    if (condition !== undefined && readsState(condition) && !isOneNode(side)) return linkBranch(this, syntax);
    const outcome = this.link(side);
    if (outcome === undefined || condition === undefined) return undefined;
    return guarded(outcome, side === syntax.then ? condition : negateOnce(condition));
  }

  /** `condition ? value : fail('…')`: ends the run unless the condition holds. */
  #certain({ test, then, else: otherwise }: SyntaxOf<'conditional'>): StepOutcome | undefined {
    const condition = lowerCondition(test, this.values);
    const [fail, value] = isFail(then) ? [then, otherwise] : [otherwise, then];
    const expr = lowerExpression(value, this.values);
    const failure = this.link(fail);
    if (condition === undefined || expr === undefined || failure === undefined) return undefined;
    const { nodes } = guarded(failure, fail === then ? condition : negateOnce(condition));
    return { nodes, bind: boundTo(expr) };
  }

  /** `value ?? fail('…')`: ends the run unless there is a value, which is the meaning of the name from here on. */
  #require(required: ExpressionSyntax, fail: ExpressionSyntax): StepOutcome | undefined {
    const expr = lowerExpression(required, this.values);
    const failure = this.link(fail);
    if (expr === undefined || failure === undefined) return undefined;
    const isMissing: Expr = { kind: 'call', at: required.place.span, fn: 'isNullish', args: [expr] };
    return { nodes: guarded(failure, isMissing).nodes, bind: boundTo(expr) };
  }

  /** `value ?? call(…)`: a step that runs where the value is missing. */
  #provide({ left, right, place }: SyntaxOf<'binary'>): StepOutcome | undefined {
    const expr = lowerExpression(left, this.values);
    const outcome = this.link(right);
    if (expr === undefined || outcome === undefined) return undefined;
    const isMissing: Expr = { kind: 'call', at: left.place.span, fn: 'isNullish', args: [expr] };
    const { nodes } = guarded(outcome, isMissing);
    const provided = outcome.bind([isMissing]);
    if (provided.kind !== 'value') return { nodes, bind: boundTo(expr) };
    const args = [expr, provided.expr];
    return { nodes, bind: boundTo({ kind: 'call', at: place.span, fn: 'coalesce', args }) };
  }

  /** `run(…).a.b`: what is read from the value of a step. */
  #access(syntax: SyntaxOf<'property' | 'element'>): StepOutcome | undefined {
    const step = stepReadFrom(syntax);
    const outcome = step && this.link(step);
    if (step === undefined || outcome === undefined) return undefined;
    const bound = outcome.bind([]);
    const expr =
      bound.kind === 'value'
        ? lowerExpression(syntax, { ...this.values, given: new Map([[step, bound.expr]]) })
        : undefined;
    return expr && { nodes: outcome.nodes, bind: boundTo(expr) };
  }

  /** An initializer without a verb: a value that is computed once, when the step is ready. */
  #compute(syntax: ExpressionSyntax): StepOutcome | undefined {
    const inner = unwrap(syntax);
    if (this.#isFunction(inner) || this.#isGuardedCall(inner)) return undefined;
    const value = lowerExpression(syntax, this.arguments);
    return value && this.outcome({ kind: 'compute', value });
  }

  /** `condition && call(…)` would give the condition where it does not hold, `condition || call(…)` where it does. */
  #isGuardedCall(syntax: ExpressionSyntax): boolean {
    const isLogic = syntax.kind === 'binary' && (syntax.operator === '&&' || syntax.operator === '||');
    const call = isLogic ? unwrap(syntax.right) : undefined;
    if (syntax.kind !== 'binary' || call?.kind !== 'call' || !isStep(call)) return false;
    lowerCondition(syntax.left, this.values);
    const verb = calleeName(call);
    const hint =
      syntax.operator === '&&'
        ? `write \`condition ? ${verb}(…) : undefined\``
        : `write \`condition ? undefined : ${verb}(…)\`, or \`value ?? ${verb}(…)\``;
    this.scope.report(diagnostic('SW2003', call.callee.place, { verb }, { hint }));
    return true;
  }

  get values(): ExpressionScope {
    const { bindings, handles, report, locals } = this.scope;
    return { bindings, handles, report, ...defined({ locals }) };
  }

  get arguments(): ExpressionScope {
    return { ...this.values, hoist: (call, path) => this.#hoisted.add(call, path) };
  }

  get prefix(): string {
    return this.scope.prefix ?? this.scope.id;
  }

  outcome(
    core: NodeCore,
    more: Partial<StepNode> = {},
    bind = boundToNode(more.id ?? this.scope.id),
  ): StepOutcome {
    const { id, source } = this.scope;
    const node: StepNode = { id, core, conditions: [], source, ...more };
    return { nodes: [...this.#hoisted.before(core, node.id), node], bind };
  }

  settled(outcome: StepOutcome): StepOutcome {
    const { ids, source } = this.scope;
    return settle(outcome, () => ids.nextSettled(`${this.prefix}.value`), source);
  }

  attempts(own: Attempts = {}): Attempts {
    const { retry: always, timeoutMs } = this.scope.isBody ? {} : this.scope.step.options;
    const retry = own.retry ?? retryOf(always);
    const limit = own.timeoutMs ?? (typeof timeoutMs === 'number' ? timeoutMs : undefined);
    return defined({ retry, timeoutMs: limit });
  }

  limit(): Attempts {
    const { retry: _, ...limit } = this.attempts();
    return limit;
  }

  argument(syntax: ExpressionSyntax | undefined, at: SourceLocation): Expr | undefined {
    if (syntax === undefined) return { kind: 'literal', at: at.span };
    return lowerExpression(syntax, this.arguments);
  }

  inside(arrow: Arrow, ...parameters: readonly Local[]): Expr | undefined {
    return lowerExpression(arrow.body, { ...this.values, locals: this.withLocals(arrow, ...parameters) });
  }

  withLocals(arrow: Omit<Arrow, 'body'>, ...parameters: readonly Local[]): ReadonlyMap<string, Local> {
    return localsOf(arrow, parameters, this.scope.locals, (value, locals) =>
      lowerExpression(value, { ...this.values, locals }),
    );
  }

  part(syntax: ExpressionSyntax, { id, prefix, locals, inside }: PartOptions): StepOutcome | undefined {
    const source = id === this.scope.id ? this.scope.source : syntax.place;
    const linker = this.#nested({ id, prefix, source }, locals, inside);
    const outcome = linker.link(syntax);
    return outcome && id !== this.scope.id ? linker.settled(outcome) : outcome;
  }

  body(syntax: ExpressionSyntax, arm: string, options: BodyOptions = {}): Scope | undefined {
    const { locals, loopNames = [], keepsOptions = false, prefix = this.prefix } = options;
    const id = this.scope.ids.next([prefix, idPart(arm)].join('.'));
    const inner = {
      ...{ id, prefix: id, source: syntax.place },
      ...(keepsOptions ? {} : { isBody: true as const }),
      loopNames: [...(this.scope.loopNames ?? []), ...loopNames],
    };
    return this.#nested(inner, locals, this.scope.id).#scopeOf(syntax);
  }

  wrapped(syntax: ExpressionSyntax, arm = 'then', id = this.scope.id): StepOutcome | undefined {
    const prefix = id === this.scope.id ? this.prefix : id;
    const body = this.body(syntax, arm, { keepsOptions: true, prefix });
    return body && this.outcome({ kind: 'branch', cases: [{ id: arm, when: ALWAYS, body }] }, { id });
  }

  #nested(
    more: Partial<StepScope> & Pick<StepScope, 'id'>,
    locals: StepScope['locals'],
    inside: string | undefined,
  ): StepLinker {
    return new StepLinker({ ...this.scope, ...more, ...defined({ locals, inside }) });
  }

  /** The content of an arm, a branch or a loop: steps, or a value alone. */
  #scopeOf(syntax: ExpressionSyntax): Scope | undefined {
    if (isNothing(syntax)) return { nodes: [] };
    if (!makesSteps(syntax)) {
      const inner = unwrap(syntax);
      if (this.#isFunction(inner) || this.#isGuardedCall(inner)) return undefined;
      const value = lowerExpression(syntax, this.arguments);
      return value && { nodes: inSequence(this.#hoisted.before()), value };
    }
    const outcome = this.link(syntax);
    const bound = outcome?.bind([]);
    if (outcome === undefined || bound === undefined || bound.kind === 'faulty') return undefined;
    const nodes = inSequence(outcome.nodes);
    const isAbsent =
      bound.kind === 'end' || (bound.expr.kind === 'literal' && bound.expr.value === undefined);
    return isAbsent ? { nodes } : { nodes, value: bound.expr };
  }
}

type LinkVerb = (linker: Linker, call: CallSyntax) => StepOutcome | undefined;

const VERBS: Readonly<Record<StepVerb, LinkVerb>> = {
  call: linkCall,
  read: linkRead,
  run: linkRun,
  fail: linkFail,
  done: linkDone,
  chain: linkChain,
  attempt: linkAttempt,
  match: linkMatch,
  parallel: linkParallel,
  forEach: linkForEach,
  set: linkSet,
  goto: linkGoto,
  wait: linkWait,
  'ask.info': (linker, call) => linkAsk(linker, 'info', call),
  'ask.confirm': (linker, call) => linkAsk(linker, 'confirm', call),
  'ask.text': (linker, call) => linkAsk(linker, 'text', call),
  'ask.choice': (linker, call) => linkAsk(linker, 'choice', call),
  'ask.pick': (linker, call) => linkAsk(linker, 'pick', call),
  'ask.value': (linker, call) => linkValue(linker, 'value', call),
  'ask.model': (linker, call) => linkValue(linker, 'model', call),
  shell: linkShell,
  delegate: linkDelegate,
  onClient: linkOnClient,
};

/** Has the own node of a verb write its value to a field of state. */
function withWrites(
  { scope: { handles, report } }: Linker,
  call: CallSyntax,
  outcome: StepOutcome,
  syntax: ExpressionSyntax,
): StepOutcome | undefined {
  const state = handles.state(syntax, 'writes', syntax.place);
  const own = ownNode(outcome.nodes);
  if (own === undefined || kinds[own.core.kind].value === 'none') {
    const params = { decorator: calleeName(call), option: 'writes', takes: 'a step with a value' };
    report(diagnostic('SW1021', syntax.place, { ...params, name: own?.id ?? calleeName(call) }));
    return undefined;
  }
  const nodes = outcome.nodes.map((node) => (node === own && state ? { ...node, writes: state.name } : node));
  return state && { ...outcome, nodes };
}

/** The outcome of a verb's call; nothing if a part of it was reported. */
function linkVerb(linker: Linker, verb: StepVerb, call: CallSyntax): StepOutcome | undefined {
  const { alsoAfter, inside } = linker.scope;
  const after = alsoAfter(call, inside);
  const outcome = VERBS[verb](linker, call);
  const writes = optionOf(call, 'writes');
  const written = outcome && (writes === undefined ? outcome : withWrites(linker, call, outcome, writes));
  if (written === undefined || after.length === 0) return written;
  return { ...written, nodes: written.nodes.map((node) => ({ ...node, alsoAfter: after })) };
}
