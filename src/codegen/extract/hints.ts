import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { HintsDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import type { ReadOptions } from './read-options.js';

/** The option `hints` of a tool: literals as they are, tools as the classes that are written. */
export function readHints(
  { values, syntax }: ReadOptions,
  report: (diagnostic: Diagnostic) => void,
): HintsDeclaration | undefined {
  const hints = syntax.hints && unwrap(syntax.hints);
  if (!('hints' in values) || hints?.kind !== 'object') return undefined;
  const tools = (
    option: 'next' | 'requires',
  ): { readonly [K in typeof option]?: readonly ExpressionSyntax[] } => {
    const entry = hints.entries.find((each) => 'key' in each && each.key === option);
    if (entry === undefined || !('value' in entry) || entry.value.kind === 'undefined') return {};
    return { [option]: readReferences(entry.value, `hints.${option}`, report) };
  };
  // The rules of the options inside admit nothing else.
  const literals = values.hints as Pick<HintsDeclaration, 'category' | 'examples'>;
  return { ...literals, ...tools('next'), ...tools('requires') };
}

/** `[() => SomeTool]`: functions, since classes may name each other. */
function readReferences(
  syntax: ExpressionSyntax,
  option: string,
  report: (diagnostic: Diagnostic) => void,
): readonly ExpressionSyntax[] {
  const refuse = (at: ExpressionSyntax): undefined => {
    const expected = 'a list of functions that name tools: `[() => SomeTool]`';
    report(diagnostic('SW1012', at.place, { decorator: 'Tool', option, expected }));
    return undefined;
  };
  const list = unwrap(syntax);
  if (list.kind !== 'array') {
    refuse(list);
    return [];
  }
  return list.items.flatMap(({ value, spread }) => {
    const arrow = unwrap(value);
    const isReference = !spread && arrow.kind === 'arrow' && arrow.parameters.length === 0;
    return (isReference ? arrow.body : undefined) ?? refuse(arrow) ?? [];
  });
}
