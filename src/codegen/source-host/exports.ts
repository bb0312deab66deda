import { ts } from 'ts-morph';
import type { HostContext } from './context.js';

const known = new WeakMap<ts.TypeChecker, Map<ts.SourceFile, ReadonlyMap<ts.Node, string>>>();

/** By declaration, the name a module exports it by; its own name where there are several. */
export function exportNames(context: HostContext, source: ts.SourceFile): ReadonlyMap<ts.Node, string> {
  const files = known.get(context.checker) ?? new Map<ts.SourceFile, ReadonlyMap<ts.Node, string>>();
  known.set(context.checker, files);
  const names = files.get(source) ?? readExportNames(context, source);
  files.set(source, names);
  return names;
}

function readExportNames({ checker }: HostContext, source: ts.SourceFile): ReadonlyMap<ts.Node, string> {
  const names = new Map<ts.Node, string>();
  const module = checker.getSymbolAtLocation(source);
  if (module === undefined) return names;
  for (const entry of checker.getExportsOfModule(module)) {
    if (entry.name === 'export=' || entry.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration))
      continue;
    const target = entry.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(entry) : entry;
    for (const declaration of target.declarations ?? []) {
      const own = ts.getNameOfDeclaration(declaration);
      const ownName = own !== undefined && ts.isIdentifier(own) ? own.text : undefined;
      const earlier = names.get(declaration);
      if (earlier === undefined || entry.name === ownName || (earlier === 'default' && earlier !== ownName)) {
        names.set(declaration, entry.name);
      }
    }
  }
  return names;
}
