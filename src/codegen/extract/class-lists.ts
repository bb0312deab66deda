import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { ExpressionSyntax } from '../syntax.js';
import type { DecoratorName } from './options.js';

/** The classes an option lists, as they are written; nothing where it was not given, or is no list that is written out. */
export function readClasses(
  decorator: DecoratorName,
  option: string,
  syntax: ExpressionSyntax | undefined,
  report: (diagnostic: Diagnostic) => void,
): readonly ExpressionSyntax[] | undefined {
  if (syntax === undefined) return undefined;
  if (syntax.kind !== 'array' || syntax.items.some((item) => item.spread)) {
    report(diagnostic('SW1003', syntax.place, { decorator, option }));
    return undefined;
  }
  return syntax.items.map((item) => item.value);
}
