import type { ExpressionSyntax, FunctionSymbol, SymbolSyntax } from './syntax.js';

/** What a step may do by a verb. */
export const STEP_VERBS = ['call', 'read', 'fail', 'done', 'chain', 'attempt'] as const;

/** All verbs: those of steps, and `link`, which is a value. */
export const VERBS = [...STEP_VERBS, 'link'] as const;

export type StepVerb = (typeof STEP_VERBS)[number];
export type Verb = (typeof VERBS)[number];

export type CallSyntax = Extract<ExpressionSyntax, { kind: 'call' }>;

/** What a callee or a handle means, written as a name or behind a namespace. */
export function symbolOf(syntax: ExpressionSyntax): SymbolSyntax | undefined {
  if (syntax.kind === 'parenthesized') return symbolOf(syntax.inner);
  return syntax.kind === 'identifier' || syntax.kind === 'property' ? syntax.symbol : undefined;
}

/** The verb a call uses; nothing for calls of anything else, functions of the same name included. */
export function verbOf(syntax: ExpressionSyntax): Verb | undefined {
  if (syntax.kind !== 'call') return undefined;
  const symbol = symbolOf(syntax.callee);
  return symbol?.kind === 'stepwright' ? VERBS.find((verb) => verb === symbol.name) : undefined;
}

/** The verb of a call that makes a step. */
export function stepVerbOf(syntax: ExpressionSyntax): StepVerb | undefined {
  const verb = verbOf(syntax);
  return verb === 'link' ? undefined : verb;
}

/** The function a call names. */
export function functionOf(syntax: ExpressionSyntax): FunctionSymbol | undefined {
  const symbol = syntax.kind === 'call' ? symbolOf(syntax.callee) : undefined;
  return symbol?.kind === 'function' ? symbol : undefined;
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

/** Whether an initializer comes from a `chain`. */
export function isChain(syntax: ExpressionSyntax): boolean {
  return outcomeCalls(syntax).some((call) => stepVerbOf(call) === 'chain');
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

/** The calls that an initializer's outcome comes from: directly, in an arm of a condition, or after `??`. */
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
    default:
      return [];
  }
}

/** The verbs of {@link outcomeCalls}. */
export function outcomeVerbs(syntax: ExpressionSyntax): readonly Verb[] {
  return outcomeCalls(syntax).flatMap((call) => verbOf(call) ?? []);
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
