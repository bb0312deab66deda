import type * as agents from '../decorators/agents.js';
import type { Shell } from '../decorators/agents.js';
import type * as controlFlow from '../decorators/control-flow.js';
import type { Ask } from '../decorators/control-flow.js';
import type * as verbs from '../decorators/verbs.js';
import type * as workflows from '../decorators/workflow.js';
import type { ExpressionSyntax, FunctionSymbol, SymbolSyntax } from './syntax.js';

/** The names of all verbs, by the modules that authors import them from. */
type VerbName =
  | Exclude<keyof typeof agents, 'Agent'>
  | `shell.${Exclude<keyof Shell, keyof CallableFunction>}`
  | Exclude<keyof typeof controlFlow, 'ask'>
  | keyof typeof verbs
  | Exclude<keyof typeof workflows, 'State' | 'Step' | 'Workflow'>
  | AskVerb;

type AskVerb = `ask.${keyof Ask}`;

interface VerbFacts {
  /** How many arguments are read. The last one of a step's verb is its options; a chain has none. */
  readonly arguments: number;
  /**
   * What a call of it makes: one `node` whose value is the step's; one with steps in it (`container`); one without a
   * value (`effect`); one that ends the run, or the scope it is in (`end`); several `nodes`, or one that other steps
   * refer to; or a `value` of another step.
   */
  readonly makes: 'node' | 'container' | 'effect' | 'end' | 'nodes' | 'value';
}

/** All verbs, those of steps before those that are values. An exported verb without a row is a type error. */
const FACTS = {
  call: { arguments: 3, makes: 'node' },
  read: { arguments: 3, makes: 'node' },
  run: { arguments: 3, makes: 'node' },
  fail: { arguments: 2, makes: 'end' },
  done: { arguments: 2, makes: 'end' },
  // Only its type limits the links of a chain.
  chain: { arguments: Number.POSITIVE_INFINITY, makes: 'nodes' },
  attempt: { arguments: 3, makes: 'nodes' },
  match: { arguments: 3, makes: 'container' },
  parallel: { arguments: 2, makes: 'container' },
  forEach: { arguments: 3, makes: 'container' },
  set: { arguments: 3, makes: 'node' },
  goto: { arguments: 2, makes: 'nodes' },
  wait: { arguments: 2, makes: 'effect' },
  'ask.info': { arguments: 2, makes: 'nodes' },
  'ask.confirm': { arguments: 2, makes: 'node' },
  'ask.text': { arguments: 2, makes: 'node' },
  'ask.choice': { arguments: 3, makes: 'node' },
  'ask.pick': { arguments: 4, makes: 'nodes' },
  'ask.value': { arguments: 2, makes: 'node' },
  'ask.model': { arguments: 2, makes: 'node' },
  shell: { arguments: 2, makes: 'node' },
  delegate: { arguments: 3, makes: 'node' },
  // One around a call becomes the call when it is read.
  onClient: { arguments: 1, makes: 'node' },
  'shell.raw': { arguments: 1, makes: 'value' },
  jinja: { arguments: 1, makes: 'value' },
  link: { arguments: 2, makes: 'value' },
  get: { arguments: 1, makes: 'value' },
  statusOf: { arguments: 1, makes: 'value' },
  errorOf: { arguments: 1, makes: 'value' },
} as const satisfies Readonly<Record<VerbName, VerbFacts>>;

type Facts = typeof FACTS;

export type Verb = VerbName;
export type StepVerb = { [V in Verb]: Facts[V]['makes'] extends 'value' ? never : V }[Verb];
export type VerbWithOptions = Exclude<StepVerb, 'chain'>;

/** All verbs: those of steps, and those that are values. */
export const VERBS = Object.keys(FACTS) as readonly Verb[];

const STEP_VERBS = VERBS.filter((verb): verb is StepVerb => FACTS[verb].makes !== 'value');

/** The verbs that get a node of their own inside the arguments of another one. */
export const HOISTED_VERBS = ['read', 'ask.model'] as const satisfies readonly Verb[];

export function factsOf(verb: Verb): VerbFacts {
  return FACTS[verb];
}

export type CallSyntax = Extract<ExpressionSyntax, { kind: 'call' }>;

/** What a callee or a handle means, written as a name or behind a namespace. */
export function symbolOf(syntax: ExpressionSyntax): SymbolSyntax | undefined {
  if (syntax.kind === 'parenthesized') return symbolOf(syntax.inner);
  return syntax.kind === 'identifier' || syntax.kind === 'property' ? syntax.symbol : undefined;
}

/** The verb a call uses; nothing for calls of anything else, functions of the same name included. */
export function verbOf(syntax: ExpressionSyntax): Verb | undefined {
  if (syntax.kind !== 'call') return undefined;
  const callee = unwrap(syntax.callee);
  const symbol = symbolOf(callee);
  if (symbol?.kind === 'stepwright') return VERBS.find((verb) => verb === symbol.name);
  if (callee.kind !== 'property') return undefined;
  const object = symbolOf(callee.object);
  if (object?.kind !== 'stepwright') return undefined;
  return VERBS.find((verb) => verb === `${object.name}.${callee.name}`);
}

export function stepVerbOf(syntax: ExpressionSyntax): StepVerb | undefined {
  const verb = verbOf(syntax);
  return STEP_VERBS.find((each) => each === verb);
}

/** The function a call names. */
export function functionOf(syntax: ExpressionSyntax): FunctionSymbol | undefined {
  const symbol = syntax.kind === 'call' ? symbolOf(syntax.callee) : undefined;
  return symbol?.kind === 'function' ? symbol : undefined;
}

/** Whether an expression is a function that is written out. */
export function isFunctionSyntax(syntax: ExpressionSyntax): boolean {
  return syntax.kind === 'arrow' || (syntax.kind === 'unsupported' && syntax.unsupported === 'a function');
}

/** Whether a call makes a step: by a verb, or by the name of a function. */
export function isStep(call: CallSyntax): boolean {
  return stepVerbOf(call) !== undefined || functionOf(call) !== undefined;
}

/** Whether a call was most likely meant as one of a verb, although what it names is something else. */
export function looksLikeVerb({ callee, args: [first] }: CallSyntax): boolean {
  const name = symbolOf(callee)?.name;
  return VERBS.some((verb) => verb === name) && first !== undefined && symbolOf(first)?.kind === 'class';
}

/** The verb or function of a call that makes a step, for messages. */
export function calleeName(call: CallSyntax | undefined): string {
  return (call && (verbOf(call) ?? functionOf(call)?.name)) ?? 'call';
}

/** Whether a template has the tag `prompt` of this package. */
export function isPromptText(syntax: ExpressionSyntax): boolean {
  if (syntax.kind !== 'tagged') return false;
  const symbol = symbolOf(syntax.tag);
  return symbol?.kind === 'stepwright' && symbol.name === 'prompt';
}

/** An expression without the parentheses around it. */
export function unwrap(syntax: ExpressionSyntax): ExpressionSyntax {
  return syntax.kind === 'parenthesized' ? unwrap(syntax.inner) : syntax;
}

/** The direct parts of an expression, in written order. */
export function partsOf(syntax: ExpressionSyntax): readonly ExpressionSyntax[] {
  switch (syntax.kind) {
    case 'literal':
    case 'undefined':
    case 'this':
    case 'identifier':
    case 'unsupported':
      return NONE;
    case 'template':
      return expressionsIn(syntax.parts);
    case 'tagged':
      return [syntax.tag, ...expressionsIn(syntax.parts)];
    case 'property':
      return [syntax.object];
    case 'element':
      return [syntax.object, syntax.index];
    case 'call':
      return [syntax.callee, ...syntax.args];
    case 'object':
      return syntax.entries.flatMap((entry) => {
        if ('unsupported' in entry) return [];
        return 'spread' in entry ? entry.spread : entry.value;
      });
    case 'array':
      return syntax.items.map(({ value }) => value);
    case 'binary':
      return [syntax.left, syntax.right];
    case 'prefix':
      return [syntax.operand];
    case 'conditional':
      return [syntax.test, syntax.then, syntax.else];
    case 'parenthesized':
      return [syntax.inner];
    case 'arrow':
      return syntax.body === undefined ? [] : [syntax.body];
    default:
      return syntax satisfies never;
  }
}

const NONE: readonly ExpressionSyntax[] = [];

function expressionsIn(parts: readonly (string | ExpressionSyntax)[]): readonly ExpressionSyntax[] {
  return parts.filter((part) => typeof part !== 'string');
}

/** An expression and everything in it, the outermost first. Iterative, since source code may be deeply nested. */
export function allPartsOf(syntax: ExpressionSyntax): readonly ExpressionSyntax[] {
  const results: ExpressionSyntax[] = [];
  const open = [syntax];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    results.push(next);
    const parts = partsOf(next);
    for (let index = parts.length - 1; index >= 0; index -= 1) open.push(parts[index] as ExpressionSyntax);
  }
  return results;
}

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

/** Whether an expression runs as steps instead of being computed. */
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

/** Whether an expression never has a value: it ends the run, or the enclosing scope. */
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

/** Whether an expression is one node that ends the run, or the enclosing scope, at once. */
export function endsAtOnce(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  return inner.kind === 'call' && neverGives(inner) && !HOISTED_VERBS.some((verb) => uses(inner, verb));
}

export function uses(syntax: ExpressionSyntax, verb: Verb): boolean {
  return verbOf(syntax) === verb || partsOf(syntax).some((part) => uses(part, verb));
}

export function isFail(syntax: ExpressionSyntax): boolean {
  return stepVerbOf(unwrap(syntax)) === 'fail';
}

/** Whether an expression is always `undefined`. */
export function isNothing(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind === 'undefined') return true;
  return inner.kind === 'conditional' && isNothing(inner.then) && isNothing(inner.else);
}

/** The other side of a condition of which one side is `undefined`. */
export function onlySide({
  then,
  else: otherwise,
}: Extract<ExpressionSyntax, { kind: 'conditional' }>): ExpressionSyntax | undefined {
  if (unwrap(otherwise).kind === 'undefined') return then;
  return unwrap(then).kind === 'undefined' ? otherwise : undefined;
}

/**
 * Whether a step is one node whose value is the step's. Another value may then replace it, and a condition is
 * evaluated once.
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
  // A transformed value has a node of its own, and so has the call that a question approves.
  if ((optionOf(inner, 'transform') ?? optionOf(inner, 'approves')) !== undefined) return false;
  return makes === 'node' || makes === 'container';
}

/** `value ?? fail(…)`, and `condition ? value : fail(…)`: later steps may rely on the value or the condition. */
export function isRequirement(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind === 'binary') return inner.operator === '??' && isFail(inner.right);
  if (inner.kind !== 'conditional' || onlySide(inner) !== undefined) return false;
  const { then, else: otherwise } = inner;
  return (isFail(then) && !makesSteps(otherwise)) || (isFail(otherwise) && !makesSteps(then));
}

/** Whether a step is a `chain`, perhaps in an arm of a condition. */
export function isChain(syntax: ExpressionSyntax): boolean {
  return outcomeCalls(syntax).some((call) => stepVerbOf(call) === 'chain');
}

/** An option of a step's verb, as written. */
export function optionOf(call: CallSyntax, option: string): ExpressionSyntax | undefined {
  const verb = stepVerbOf(call);
  const argument = verb && call.args[factsOf(verb).arguments - 1];
  const options = argument && unwrap(argument);
  if (options?.kind !== 'object') return undefined;
  const entry = options.entries.find((each) => 'value' in each && each.key === option);
  return entry !== undefined && 'value' in entry ? unwrap(entry.value) : undefined;
}

/** The body of an arrow; nothing for anything else. */
export function bodyOf(syntax: ExpressionSyntax | undefined): ExpressionSyntax | undefined {
  const arrow = syntax && unwrap(syntax);
  return arrow?.kind === 'arrow' ? arrow.body : undefined;
}
