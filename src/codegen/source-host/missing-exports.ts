import path from 'node:path';
import { ts } from 'ts-morph';
import type { ImportedModule } from '../syntax.js';
import { type HostContext, isOfProject, relativeFile } from './context.js';

/** Where the module is named that an alias was imported or re-exported from. */
export function specifierOf(symbol: ts.Symbol): ts.StringLiteral | undefined {
  for (const declaration of symbol.declarations ?? []) {
    const statement = ts.findAncestor(
      declaration,
      (n) => ts.isImportDeclaration(n) || ts.isExportDeclaration(n),
    );
    const specifier = statement?.moduleSpecifier;
    if (specifier !== undefined && ts.isStringLiteral(specifier)) return specifier;
  }
  return undefined;
}

/** The module of an import or re-export that leads nowhere; nothing for any other symbol. */
export function importedInVain(context: HostContext, symbol: ts.Symbol): ImportedModule | undefined {
  const specifier = specifierOf(symbol);
  const declaration = symbol.declarations?.[0];
  if (specifier === undefined || declaration === undefined) return undefined;
  const isNamed = ts.isImportSpecifier(declaration) || ts.isExportSpecifier(declaration);
  const name = isNamed ? (declaration.propertyName ?? declaration.name).text : 'default';
  return describeModule(context, specifier, name);
}

/** The module of a namespace that has no such member. */
export function missingMember(
  context: HostContext,
  namespace: ts.Symbol,
  module: ts.Symbol,
  name: string,
): ImportedModule | undefined {
  const specifier = specifierOf(namespace);
  // `a.b` where `b` is a namespace that another module exports.
  const isDirect = specifier !== undefined && context.checker.getSymbolAtLocation(specifier) === module;
  return isDirect ? describeModule(context, specifier, name) : undefined;
}

function describeModule(context: HostContext, specifier: ts.StringLiteral, name: string): ImportedModule {
  const module = context.checker.getSymbolAtLocation(specifier);
  const source = sourceOf(context, specifier);
  const isFound = module !== undefined || source !== undefined;
  const exports = module === undefined ? [] : exportedValues(context, module);
  return {
    specifier: specifier.text,
    name,
    ...(isFound ? { exports } : {}),
    files: source === undefined ? [] : filesBehind(context, source),
  };
}

function exportedValues(
  { checker }: HostContext,
  module: ts.Symbol,
): readonly { readonly name: string; readonly isClass: boolean }[] {
  return checker.getExportsOfModule(module).flatMap((entry) => {
    const target = entry.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(entry) : entry;
    // What leads nowhere itself has no declaration.
    if (target.declarations === undefined || (target.flags & ts.SymbolFlags.Value) === 0) return [];
    return { name: entry.name, isClass: (target.flags & ts.SymbolFlags.Class) !== 0 };
  });
}

/** The file of a module. One without any export is no module to the compiler, and is found by its path. */
function sourceOf(context: HostContext, specifier: ts.StringLiteral): ts.SourceFile | undefined {
  const module = context.checker.getSymbolAtLocation(specifier)?.declarations?.find(ts.isSourceFile);
  if (module !== undefined) return module;
  if (!specifier.text.startsWith('.')) return undefined;
  const base = path.resolve(path.dirname(specifier.getSourceFile().fileName), specifier.text);
  const candidates = [base, base.replace(/\.([cm]?)js$/, '.$1ts'), base.replace(/\.jsx?$/, '.tsx')];
  for (const candidate of candidates) {
    const source = context.program.getSourceFile(candidate);
    if (source !== undefined) return source;
  }
  return undefined;
}

function filesBehind(context: HostContext, start: ts.SourceFile): readonly string[] {
  const sources = new Set([start]);
  for (const source of sources) {
    for (const statement of source.statements) {
      if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) continue;
      const { moduleSpecifier } = statement;
      const next = ts.isStringLiteral(moduleSpecifier) ? sourceOf(context, moduleSpecifier) : undefined;
      if (next !== undefined) sources.add(next);
    }
  }
  return [...sources]
    .filter((source) => isOfProject(context, source))
    .map(({ fileName }) => relativeFile(context, fileName));
}
