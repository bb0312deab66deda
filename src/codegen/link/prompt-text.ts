import type { Expr } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import type { ExpressionScope } from './expression-scope.js';

/** The text of `prompt`: a tool or a workflow stands as its name, a resource as its address. */
export function lowerPromptText(
  { parts, place }: Extract<ExpressionSyntax, { kind: 'tagged' }>,
  scope: ExpressionScope,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): Expr | undefined {
  const lowered = parts.map((part) => (typeof part === 'string' ? part : lowerPart(part, scope, lower)));
  if (!lowered.every((part) => part !== undefined)) return undefined;
  return { kind: 'text', at: place.span, style: 'display', parts: joined(lowered) };
}

function lowerPart(
  part: ExpressionSyntax,
  { handles }: ExpressionScope,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): string | Expr | undefined {
  const symbol = symbolOf(unwrap(part));
  return symbol?.kind === 'class' || symbol?.kind === 'unresolved' ? handles.text(part) : lower(part);
}

/** Texts side by side as one. */
function joined(parts: readonly (string | Expr)[]): readonly (string | Expr)[] {
  const whole: (string | Expr)[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}
