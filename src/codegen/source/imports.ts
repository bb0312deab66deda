import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ts } from 'ts-morph';
import type { ImportedModule, UnresolvedType } from '../syntax.js';
import { type HostContext, isOfProject, placeOf, relativeFile } from './context.js';
import { childrenOf, eachNode } from './nesting.js';

const PACKAGE = 'stepwright';

export interface AliasEnd {
  readonly symbol: ts.Symbol;
  readonly stepwrightName?: string;
  /** Set where an import or export on the way is one of types. */
  readonly isTypeOnly: boolean;
}

/** Goes from alias to alias until a declaration, until one names this package, or until one leads nowhere. */
export function followAliases(
  context: HostContext,
  start: ts.Symbol,
): AliasEnd | { readonly lost: ts.Symbol } {
  const seen = new Set<ts.Symbol>();
  let symbol = start;
  let isTypeOnly = false;
  while (!seen.has(symbol)) {
    seen.add(symbol);
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return { symbol, isTypeOnly };
    isTypeOnly ||= symbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration) ?? false;
    const specifier = symbol.declarations?.find(
      (d): d is ts.ImportSpecifier | ts.ExportSpecifier => ts.isImportSpecifier(d) || ts.isExportSpecifier(d),
    );
    // The specifier decides before resolution, so that authors without an installed package still get answers.
    if (specifier !== undefined && importedModule(symbol) === PACKAGE) {
      return { symbol, isTypeOnly, stepwrightName: (specifier.propertyName ?? specifier.name).text };
    }
    const next = context.checker.getImmediateAliasedSymbol(symbol);
    if (next === undefined) return { lost: symbol };
    symbol = next;
  }
  return { lost: symbol };
}

/** Whether a name stands for all that this package exports: `import * as sw from 'stepwright'`. */
export function isPackageNamespace(symbol: ts.Symbol): boolean {
  return (
    importedModule(symbol) === PACKAGE &&
    (symbol.declarations?.some((d) => ts.isNamespaceImport(d) || ts.isNamespaceExport(d)) ?? false)
  );
}

/** The module specifier an alias was imported or re-exported with. */
function importedModule(symbol: ts.Symbol): string | undefined {
  return specifierOf(symbol)?.text;
}

const packageNames = new Map<
  string,
  { readonly root: string; readonly name: string | undefined } | undefined
>();

/** Whether a file belongs to the decorators of this package, wherever it is installed. */
export function isOurs(fileName: string): boolean {
  const found = nearestPackage(path.dirname(fileName));
  if (found?.name !== PACKAGE) return false;
  return path.relative(found.root, fileName).split(path.sep).slice(0, 2).includes('decorators');
}

function nearestPackage(
  folder: string,
): { readonly root: string; readonly name: string | undefined } | undefined {
  if (packageNames.has(folder)) return packageNames.get(folder);
  const name = readPackageName(path.join(folder, 'package.json'));
  const parent = path.dirname(folder);
  const found =
    name !== undefined ? { root: folder, name } : parent === folder ? undefined : nearestPackage(parent);
  packageNames.set(folder, found);
  return found;
}

/** The name in a manifest; nested manifests without one (`{ "type": "module" }`) do not start a package. */
function readPackageName(file: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof manifest !== 'object' || manifest === null || !('name' in manifest)) return undefined;
    return typeof manifest.name === 'string' ? manifest.name : undefined;
  } catch {
    return undefined;
  }
}

/** Where the module is named that an alias was imported or re-exported from. */
function specifierOf(symbol: ts.Symbol): ts.StringLiteral | undefined {
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

/** The first name in a written type that leads nowhere; nothing where the type was meant to be `any`. */
export function unresolvedIn(
  context: HostContext,
  written: ts.TypeNode | undefined,
): UnresolvedType | undefined {
  const names: ts.Identifier[] = [];
  if (written !== undefined) {
    eachNode(written, (node) => {
      if (ts.isTypeReferenceNode(node)) names.push(leftmost(node.typeName));
      return childrenOf(node);
    });
  }
  for (const name of names.sort((a, b) => a.pos - b.pos)) {
    const unresolved = describe(context, name);
    if (unresolved !== undefined) return unresolved;
  }
  return undefined;
}

function leftmost(name: ts.EntityName): ts.Identifier {
  return ts.isIdentifier(name) ? name : leftmost(name.left);
}

function describe(context: HostContext, name: ts.Identifier): UnresolvedType | undefined {
  const { checker } = context;
  const symbol = checker.getSymbolAtLocation(name);
  const base = { name: name.text, place: placeOf(context, name) };
  if (symbol?.declarations === undefined) return { ...base, isModuleKnown: false };
  if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return undefined;
  if (checker.getAliasedSymbol(symbol).declarations !== undefined) return undefined;
  const specifier = specifierOf(symbol);
  if (specifier === undefined) return undefined;
  const isModuleKnown = checker.getSymbolAtLocation(specifier) !== undefined;
  return { ...base, specifier: specifier.text, isModuleKnown };
}
