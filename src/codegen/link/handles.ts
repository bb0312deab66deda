import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { formatPlace, type Place } from '../../graph/place.js';
import type { Declarations, FaultyClass, ResourceDeclaration, ToolDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import { print } from './describe.js';

/** Finds what a class stands for when it is named in a verb or an option. */
export interface Handles {
  /** Nothing where the class is no tool; that has been reported. */
  tool(syntax: ExpressionSyntax | undefined, verb: string, at: Place): ToolDeclaration | undefined;
  resource(syntax: ExpressionSyntax | undefined, verb: string, at: Place): ResourceDeclaration | undefined;
}

/** Indexes what was declared. Classes are known by where their name stands, so that equal names do no harm. */
export function handlesOf(declarations: Declarations, report: (diagnostic: Diagnostic) => void): Handles {
  const tools = indexByPlace(declarations.tools);
  const resources = indexByPlace(declarations.resources);
  const faulty = new Set(declarations.faulty.map(faultyKey));
  const files = new Set(declarations.files);

  const find = <T>(
    index: ReadonlyMap<string, T>,
    expected: 'tool' | 'resource',
    syntax: ExpressionSyntax | undefined,
    verb: string,
    at: Place,
  ): T | undefined => {
    if (syntax === undefined) {
      const hint = `give \`${verb}\` the class of a ${expected}`;
      report(diagnostic('SW3007', at, { className: `${verb}()` }, { hint }));
      return undefined;
    }
    const symbol = symbolOf(syntax);
    if (symbol?.kind !== 'class') {
      const isNamed = symbol?.kind === 'unresolved';
      const hint = isNamed
        ? undefined
        : `name the class itself: handles are not computed, copied or instantiated`;
      report(diagnostic('SW3007', syntax.place, { className: print(unwrap(syntax)) }, { hint }));
      return undefined;
    }
    const found = index.get(formatPlace(symbol.place));
    if (found !== undefined || faulty.has(faultyKey({ kind: expected, place: symbol.place }))) return found;
    const isRead = files.has(symbol.file);
    const hint = isRead
      ? undefined
      : `codegen does not read \`${symbol.file}\`: add it to the configured sources`;
    const related = [{ message: 'declared here', place: symbol.place }];
    const params = { className: symbol.name, expected, verb };
    report(diagnostic('SW3003', syntax.place, params, { related, hint }));
    return undefined;
  };
  return {
    tool: (syntax, verb, at) => find(tools, 'tool', syntax, verb, at),
    resource: (syntax, verb, at) => find(resources, 'resource', syntax, verb, at),
  };
}

function indexByPlace<T extends { readonly place: Place }>(
  declarations: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(declarations.map((declaration) => [formatPlace(declaration.place), declaration]));
}

function faultyKey({ kind, place }: FaultyClass): string {
  return `${kind} ${formatPlace(place)}`;
}
