import type { ExpressionSyntax, SymbolSyntax } from './syntax.js';

/** What a step may do. */
export const VERBS = ['call', 'read', 'fail', 'done'] as const;

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

/** An expression without the parentheses around it. */
export function unwrap(syntax: ExpressionSyntax): ExpressionSyntax {
  return syntax.kind === 'parenthesized' ? unwrap(syntax.inner) : syntax;
}

/** The verbs that an initializer's outcome comes from: directly, in an arm of a condition, or after `??`. */
export function outcomeVerbs(syntax: ExpressionSyntax): readonly Verb[] {
  const inner = unwrap(syntax);
  switch (inner.kind) {
    case 'call': {
      const verb = verbOf(inner);
      return verb === undefined ? [] : [verb];
    }
    case 'conditional':
      return [...outcomeVerbs(inner.then), ...outcomeVerbs(inner.else)];
    case 'binary':
      return ['??', '&&', '||'].includes(inner.operator)
        ? [...outcomeVerbs(inner.left), ...outcomeVerbs(inner.right)]
        : [];
    default:
      return [];
  }
}
