import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Declarations, LinkedHints, Phase, ToolDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { handlesOf } from './handles.js';

/** Finds the tools that the hints of tools name. Tools without hints are missing. */
export function linkHints(declarations: Declarations): Phase<ReadonlyMap<ToolDeclaration, LinkedHints>> {
  const diagnostics: Diagnostic[] = [];
  const handles = handlesOf(declarations, (fault) => void diagnostics.push(fault));
  const namesOf = (classes: readonly ExpressionSyntax[]): readonly string[] =>
    classes.flatMap((syntax) => handles.tool(syntax, 'hints', syntax.place)?.name ?? []);
  const value = new Map<ToolDeclaration, LinkedHints>();
  for (const tool of declarations.tools) {
    if (tool.hints === undefined) continue;
    const { next, requires, ...literals } = tool.hints;
    value.set(tool, {
      ...literals,
      ...(next === undefined ? {} : { next: namesOf(next) }),
      ...(requires === undefined ? {} : { requires: namesOf(requires) }),
    });
  }
  return { value, diagnostics };
}
