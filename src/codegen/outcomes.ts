import type { ExpressionSyntax } from './syntax.js';
import { type CallSyntax, factsOf, isStep, partsOf, stepVerbOf, unwrap, type Verb, verbOf } from './verbs.js';

/**
 * The calls that an initializer's outcome comes from: directly, in an arm of a condition, on a side of `??`, or as what
 * is read from.
 */
export function outcomeCalls(syntax: ExpressionSyntax): readonly CallSyntax[] {
  const inner = unwrap(syntax);
  switch (inner.kind) {
    case 'call':
      return [inner];
    case 'conditional':
      return [...outcomeCalls(inner.then), ...outcomeCalls(inner.else)];
    case 'binary':
      return ['??', '&&', '||'].includes(inner.operator)
        ? [...outcomeCalls(inner.left), ...outcomeCalls(inner.right)]
        : [];
    case 'property':
    case 'element':
      return outcomeCalls(inner.object);
    default:
      return [];
  }
}

/** The verbs of {@link outcomeCalls}. */
export function outcomeVerbs(syntax: ExpressionSyntax): readonly Verb[] {
  return outcomeCalls(syntax).flatMap((call) => verbOf(call) ?? []);
}

/** Whether an expression is carried out as steps, and not computed. */
export function makesSteps(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  switch (inner.kind) {
    case 'call':
      return isStep(inner);
    case 'conditional':
      return makesSteps(inner.then) || makesSteps(inner.else);
    case 'binary':
      return inner.operator === '??' && makesSteps(inner.right);
    case 'property':
    case 'element':
      return stepReadFrom(inner) !== undefined;
    default:
      return false;
  }
}

/** The call of a verb whose value an access like `run(…).a.b` reads. */
export function stepReadFrom(syntax: ExpressionSyntax): CallSyntax | undefined {
  if (syntax.kind !== 'property' && syntax.kind !== 'element') return undefined;
  const object = unwrap(syntax.object);
  if (object.kind !== 'call') return stepReadFrom(object);
  return stepVerbOf(object) === undefined ? undefined : object;
}

/** Whether an expression has no value whatever happens: it ends the run, or what it stands in. */
export function neverGives(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind === 'conditional') return neverGives(inner.then) && neverGives(inner.else);
  return madeBy(inner) === 'end';
}

/** What the call of a step's verb makes. */
export function madeBy(syntax: ExpressionSyntax): ReturnType<typeof factsOf>['makes'] | undefined {
  const verb = stepVerbOf(syntax);
  return verb && factsOf(verb).makes;
}

/** Whether an expression is one node that ends the run, or what it stands in, at once. */
export function endsAtOnce(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  return inner.kind === 'call' && neverGives(inner) && !uses(inner, 'read');
}

/** Whether a verb stands anywhere in an expression. */
export function uses(syntax: ExpressionSyntax, verb: Verb): boolean {
  return verbOf(syntax) === verb || partsOf(syntax).some((part) => uses(part, verb));
}

/** Whether an expression is a call of `fail`. */
export function isFail(syntax: ExpressionSyntax): boolean {
  return stepVerbOf(unwrap(syntax)) === 'fail';
}

/** Whether an expression gives nothing, whatever it is about. */
export function isNothing(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind === 'undefined') return true;
  return inner.kind === 'conditional' && isNothing(inner.then) && isNothing(inner.else);
}

/** The side of a condition that is there, where the other one is `undefined`. */
export function onlySide({
  then,
  else: otherwise,
}: Extract<ExpressionSyntax, { kind: 'conditional' }>): ExpressionSyntax | undefined {
  if (unwrap(otherwise).kind === 'undefined') return then;
  return unwrap(then).kind === 'undefined' ? otherwise : undefined;
}

/**
 * Whether a step is one node, whose value is all that the step gives. Another value may then stand in for it, and a
 * condition is asked once.
 */
export function isOneNode(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (!makesSteps(inner)) return true;
  if (inner.kind === 'conditional') {
    const side = onlySide(inner);
    return side === undefined ? !isRequirement(inner) : isOneNode(side);
  }
  if (inner.kind !== 'call') return false;
  const makes = madeBy(inner);
  if (makes === undefined) return true;
  // A value that is transformed is made by a node of its own.
  if (optionOf(inner, 'transform') !== undefined) return false;
  return makes === 'node' || makes === 'container';
}

/** `value ?? fail(…)`, and `condition ? value : fail(…)`: a value from which on something is certain. */
export function isRequirement(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind === 'binary') return inner.operator === '??' && isFail(inner.right);
  if (inner.kind !== 'conditional' || onlySide(inner) !== undefined) return false;
  const { then, else: otherwise } = inner;
  return (isFail(then) && !makesSteps(otherwise)) || (isFail(otherwise) && !makesSteps(then));
}

/** Whether a step is a `chain`, in an arm of a condition perhaps. */
export function isChain(syntax: ExpressionSyntax): boolean {
  return outcomeCalls(syntax).some((call) => stepVerbOf(call) === 'chain');
}

/** An option of a `call` or a `run`, as written. */
export function optionOf(call: CallSyntax, option: string): ExpressionSyntax | undefined {
  const given = call.args[2];
  const options = given && unwrap(given);
  if (options?.kind !== 'object') return undefined;
  const entry = options.entries.find((each) => 'value' in each && each.key === option);
  return entry !== undefined && 'value' in entry ? unwrap(entry.value) : undefined;
}

/** The body of an arrow; nothing for anything else. */
export function bodyOf(syntax: ExpressionSyntax | undefined): ExpressionSyntax | undefined {
  const arrow = syntax && unwrap(syntax);
  return arrow?.kind === 'arrow' ? arrow.body : undefined;
}
