import { defined } from '../../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { ERROR_FIELDS } from '../../../graph/names.js';
import type { ExpressionSyntax } from '../../syntax.js';
import {
  bodyOf,
  type CallSyntax,
  endsAtOnce,
  isOneNode,
  isRequirement,
  madeBy,
  makesSteps,
  neverGives,
  optionOf,
  partsOf,
  stepVerbOf,
  unwrap,
  uses,
} from '../../verbs.js';
import { boundToNode, inSequence, nodeValue, ownNode, type StepNode, type StepOutcome } from '../nodes.js';
import { readOptionsOf } from '../options.js';
import { type Arrow, type Local, readArrow } from '../scope.js';
import { ALWAYS } from './control-flow.js';
import { type Linker, refuse } from './linker.js';

/** `attempt(step, (error) => …)`: a value, or other steps, that replace a step after its last attempt failed. */
export function linkAttempt(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [step, fallback, settings] = args;
  const options = readOptionsOf('attempt', settings, linker.scope.report);
  const hint = 'write `attempt(call(…), (error) => …)`';
  if (step === undefined) return refuse(linker, callee.place, 'an `attempt` without a step', hint);
  const fault = fallbackFault(step);
  if (fault !== undefined) linker.scope.report(fault);
  const arrow = fallback && readArrow(fallback, 'attempt', 1, linker.scope.report);
  if (fallback === undefined) return refuse(linker, callee.place, 'an `attempt` without a fallback', hint);
  if (arrow === undefined || fault !== undefined || options === undefined) {
    tried(linker, step);
    return undefined;
  }
  if (!makesSteps(arrow.body)) return withValue(linker, step, arrow);
  return endsAtOnce(arrow.body) ? withEnd(linker, step, arrow) : withSteps(linker, step, arrow);
}

/** The attempted step as one node: its own, or one with the step as its body. */
function tried(
  linker: Linker,
  step: ExpressionSyntax,
  id = linker.scope.id,
  prefix = linker.prefix,
): StepOutcome | undefined {
  if (!isOneNode(step)) return linker.wrapped(step, 'try', id);
  const inside = id === linker.scope.id ? {} : { inside: linker.scope.id };
  return linker.part(step, { id, prefix, ...inside });
}

function withValue(linker: Linker, step: ExpressionSyntax, arrow: Arrow): StepOutcome | undefined {
  const outcome = tried(linker, step);
  const value = linker.inside(arrow, { kind: 'error' });
  return outcome && value && withFallback(outcome, value);
}

/** The run, or the enclosing scope, ends if the step fails: the step's value is the same for later steps. */
function withEnd(linker: Linker, step: ExpressionSyntax, arrow: Arrow): StepOutcome | undefined {
  const outcome = tried(linker, step);
  const end = takeOver(linker, arrow);
  return outcome && end && { ...outcome, nodes: [...selecting(outcome.nodes, end.entry), ...end.nodes] };
}

/** One node that contains both. Its value is that of the step, or else of the fallback. */
function withSteps(linker: Linker, step: ExpressionSyntax, arrow: Arrow): StepOutcome | undefined {
  const { scope, prefix } = linker;
  const outcome = tried(linker, step, scope.ids.next(`${prefix}.try`), `${prefix}.try`);
  const other = takeOver(linker, arrow);
  if (outcome === undefined || other === undefined) return undefined;
  const first = ownNode(outcome.nodes);
  const nodes = inSequence([...selecting(outcome.nodes, other.entry), ...other.nodes]);
  const value = first && eitherOf(first.id, outcome, other);
  const body = { nodes, ...defined({ value }) };
  return linker.outcome({ kind: 'branch', cases: [{ id: 'try', when: ALWAYS, body }] });
}

/** A node that failed has no value, and one that did not run has none either. */
function eitherOf(id: string, step: StepOutcome, other: StepOutcome): Expr | undefined {
  const nothing: Expr = { kind: 'literal' };
  const isThere: Expr = {
    kind: 'compare',
    left: nodeValue(id),
    ops: [{ op: 'ne.strict', right: nothing }],
  };
  const [given, instead] = [step.bind([]), other.bind([ALWAYS])];
  if (given.kind !== 'value') return undefined;
  if (instead.kind !== 'value') return given.expr;
  const [then, otherwise] = [given.expr, onlyIfAlways(instead.expr)];
  return { kind: 'conditional', truth: 'boolean', test: isThere, then, else: otherwise };
}

function onlyIfAlways(expr: Expr): Expr {
  return expr.kind === 'conditional' && expr.test === ALWAYS ? expr.then : expr;
}

/** The step's own node selects the other one when it fails. */
function selecting(nodes: readonly StepNode[], fallbackNode: string): readonly StepNode[] {
  const own = ownNode(nodes);
  return nodes.map((node) => (node === own ? { ...node, onError: { fallbackNode } } : node));
}

interface TakeOver extends StepOutcome {
  /** The node that is selected. */
  readonly entry: string;
}

/** The fallback. Only the selected node can read the failure: if there are more nodes, it passes the failure on. */
function takeOver(linker: Linker, arrow: Arrow): TakeOver | undefined {
  const { scope, prefix } = linker;
  const id = scope.ids.next(`${prefix}.fallback`);
  const part = (error: Local) =>
    ({
      ...{ id, prefix: `${prefix}.fallback`, inside: scope.id },
      locals: linker.withLocals(arrow, error),
    }) as const;
  if (isPlain(arrow.body)) {
    const outcome = linker.part(arrow.body, part({ kind: 'error' }));
    const [node] = outcome?.nodes ?? [];
    if (outcome === undefined || node === undefined) return undefined;
    return { ...outcome, nodes: [{ ...node, selected: true }], entry: node.id };
  }
  const entry = scope.ids.next(`${prefix}.error`);
  const at = arrow.body.place.span;
  const fields = ERROR_FIELDS.map((key) => ({ key, value: errorField(key) }));
  const core = { kind: 'compute', value: { kind: 'dict', at, entries: fields } } as const;
  const source = arrow.body.place;
  const failure: StepNode = { id: entry, core, conditions: [], source, selected: true };
  const { locals } = part({ kind: 'value', expr: nodeValue(entry) });
  const body = linker.body(arrow.body, 'then', { locals, keepsOptions: true, prefix: `${prefix}.fallback` });
  if (body === undefined) return undefined;
  const steps: StepNode = {
    ...{ id, conditions: [], source },
    core: { kind: 'branch', cases: [{ id: 'then', when: ALWAYS, body }] },
    order: { after: [entry], join: 'all_success' },
  };
  return { nodes: [failure, steps], bind: boundToNode(id), entry };
}

function errorField(key: string): Expr {
  return { kind: 'ref', root: 'error', path: [key] };
}

/** Whether a step is one node without moved reads, a compensation or a body. */
function isPlain(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind !== 'call' || uses(inner, 'read') || optionOf(inner, 'compensate') !== undefined)
    return false;
  const makes = madeBy(inner);
  if (makes === 'end' || makes === 'effect') return true;
  return isOneNode(inner) && makes !== 'container';
}

/** The step with a value that replaces its own after its last attempt failed. */
function withFallback({ nodes, bind, standIn }: StepOutcome, value: Expr): StepOutcome {
  const onError = { value: standIn === undefined ? value : standIn(value) };
  return { nodes: nodes.map((node) => (node.hoisted ? node : { ...node, onError })), bind };
}

/** Why a step cannot have a fallback; nothing if it can. */
function fallbackFault(step: ExpressionSyntax): Diagnostic | undefined {
  const refuse = (verb: string, hint: string) => diagnostic('SW2003', step.place, { verb }, { hint });
  const inner = unwrap(step);
  if (neverGives(inner) || isRequirement(inner)) {
    const verb = stepVerbOf(inner) === 'done' ? 'done' : 'fail';
    return refuse(verb, 'the end of a run has no substitute: leave `attempt` out');
  }
  if (isCertain(inner))
    return refuse('attempt', 'nothing can fail in this value: write a step, or leave `attempt` out');
  if (inner.kind !== 'call' || stepVerbOf(inner) !== 'attempt') return undefined;
  const fallback = bodyOf(inner.args[1]);
  if (fallback === undefined || makesSteps(fallback)) return undefined;
  return refuse('attempt', 'one fallback is enough: nothing is left to fail');
}

/** Whether a value is a literal or a field: an expression that computes something may fail. */
function isCertain(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  switch (inner.kind) {
    case 'literal':
    case 'undefined':
      return true;
    case 'property':
      return unwrap(inner.object).kind === 'this';
    case 'array':
    case 'object':
      return partsOf(inner).every(isCertain);
    default:
      return false;
  }
}
