import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { formatPlace, type Place } from '../../graph/place.js';
import type { Declarations, FaultyClass, ResourceDeclaration, ToolDeclaration } from '../declarations.js';
import type { ExpressionSyntax, SymbolSyntax } from '../syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import { print } from './describe.js';

/** Finds what a class stands for when it is named in a verb, a text or an option. */
export interface Handles {
  /** Nothing where the class is no tool; that has been reported. */
  tool(syntax: ExpressionSyntax | undefined, verb: string, at: Place): ToolDeclaration | undefined;
  resource(syntax: ExpressionSyntax | undefined, verb: string, at: Place): ResourceDeclaration | undefined;
  /** What stands for a class in text: the name of a tool or workflow, the address of a resource. */
  text(syntax: ExpressionSyntax): string | undefined;
}

/** Indexes what was declared. Classes are known by where their name stands, so that equal names do no harm. */
export function handlesOf(declarations: Declarations, report: (diagnostic: Diagnostic) => void): Handles {
  const tools = indexByPlace(declarations.tools);
  const resources = indexByPlace(declarations.resources);
  const workflows = indexByPlace([...declarations.workflows, ...declarations.faultyWorkflows]);
  const faulty = new Set(declarations.faulty.map(faultyKey));
  const files = new Set(declarations.files);

  const classOf = (syntax: ExpressionSyntax): ClassSymbol | undefined => {
    const symbol = symbolOf(syntax);
    if (symbol?.kind === 'class' && symbol.typeOnly === undefined) return symbol;
    report(notAClass(syntax, symbol));
    return undefined;
  };
  const refuse = (syntax: ExpressionSyntax, symbol: ClassSymbol, expected: string, verb: string): void => {
    const hint = files.has(symbol.file)
      ? undefined
      : `codegen does not read \`${symbol.file}\`: add it to the configured sources`;
    const related = [{ message: 'declared here', place: symbol.place }];
    report(diagnostic('SW3003', syntax.place, { className: symbol.name, expected, verb }, { related, hint }));
  };
  const isFaulty = (kind: FaultyClass['kind'], { place }: ClassSymbol): boolean =>
    faulty.has(faultyKey({ kind, place }));

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
    const symbol = classOf(syntax);
    if (symbol === undefined) return undefined;
    const found = index.get(formatPlace(symbol.place));
    if (found === undefined && !isFaulty(expected, symbol)) refuse(syntax, symbol, expected, verb);
    return found;
  };
  return {
    tool: (syntax, verb, at) => find(tools, 'tool', syntax, verb, at),
    resource: (syntax, verb, at) => find(resources, 'resource', syntax, verb, at),
    text: (syntax) => {
      const symbol = classOf(syntax);
      if (symbol === undefined) return undefined;
      const key = formatPlace(symbol.place);
      const found = tools.get(key)?.name ?? workflows.get(key)?.name ?? resources.get(key)?.uri;
      const isKnown = (['tool', 'workflow', 'resource'] as const).some((kind) => isFaulty(kind, symbol));
      if (found === undefined && !isKnown) refuse(syntax, symbol, 'tool', 'prompt');
      return found;
    },
  };
}

type ClassSymbol = Extract<SymbolSyntax, { kind: 'class' }>;

function notAClass(syntax: ExpressionSyntax, symbol: SymbolSyntax | undefined): Diagnostic {
  const className = print(unwrap(syntax));
  return diagnostic('SW3007', syntax.place, { className }, { hint: hintForHandle(className, symbol) });
}

/** Nothing for a name that is not imported: the table says so. */
function hintForHandle(className: string, symbol: SymbolSyntax | undefined): string | undefined {
  switch (symbol?.kind) {
    case 'unresolved':
      return undefined;
    case 'class':
      return `it is imported as a type only: write \`import { ${className} }\``;
    default:
      return 'name the class itself: handles are not computed, copied or instantiated';
  }
}

function indexByPlace<T extends { readonly place: Place }>(
  declarations: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(declarations.map((declaration) => [formatPlace(declaration.place), declaration]));
}

function faultyKey({ kind, place }: FaultyClass): string {
  return `${kind} ${formatPlace(place)}`;
}
