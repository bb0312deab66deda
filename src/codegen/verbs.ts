import type { ExpressionSyntax, FunctionSymbol, SymbolSyntax } from './syntax.js';

/** The questions of `ask`. */
const ASK_VERBS = ['ask.info', 'ask.confirm', 'ask.text', 'ask.choice', 'ask.pick'] as const;

/** What a step may do by a verb. */
export const STEP_VERBS = [
  'call',
  'read',
  'run',
  'fail',
  'done',
  'chain',
  'attempt',
  'match',
  'parallel',
  'forEach',
  'set',
  'goto',
  'wait',
  ...ASK_VERBS,
] as const;

/** Verbs that are values. */
const VALUE_VERBS = ['link', 'get'] as const;

/** All verbs: those of steps, and those that are values. */
export const VERBS = [...STEP_VERBS, ...VALUE_VERBS] as const;

export type StepVerb = (typeof STEP_VERBS)[number];
export type Verb = (typeof VERBS)[number];

export type CallSyntax = Extract<ExpressionSyntax, { kind: 'call' }>;

/** How many arguments of each verb are read. A chain may have any number of links: only its type limits them. */
export const MAX_ARGUMENTS: Readonly<Record<Verb, number>> = {
  call: 3,
  read: 2,
  run: 3,
  fail: 2,
  done: 1,
  chain: Number.POSITIVE_INFINITY,
  attempt: 2,
  match: 2,
  parallel: 2,
  forEach: 3,
  set: 2,
  goto: 2,
  wait: 1,
  'ask.info': 1,
  'ask.confirm': 1,
  'ask.text': 1,
  'ask.choice': 2,
  'ask.pick': 3,
  link: 2,
  get: 1,
};

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
  if (object?.kind !== 'stepwright' || object.name !== 'ask') return undefined;
  return ASK_VERBS.find((verb) => verb === `ask.${callee.name}`);
}

/** The verb of a call that makes a step. */
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
      return [];
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

function expressionsIn(parts: readonly (string | ExpressionSyntax)[]): readonly ExpressionSyntax[] {
  return parts.filter((part) => typeof part !== 'string');
}

/** An expression and everything in it, the outermost first. Without recursion: what is written may be deep. */
export function* allPartsOf(syntax: ExpressionSyntax): Generator<ExpressionSyntax> {
  const open = [syntax];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    open.push(...[...partsOf(next)].reverse());
  }
}
