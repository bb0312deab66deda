import path, { posix } from 'node:path';
import { objectIn } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import type { ImportEnding, ImportedModule, PackageImport, UnresolvedType } from '../syntax.js';
import { childrenOf, eachNode, type HostContext, isOfProject, placeOf, relativeFile } from './ast.js';
import { type FileLinks, type Import, surfaceOf } from './file-graph.js';
import { isJson, PACKAGE } from './names.js';
import { moduleCandidates } from './program.js';
import { ts } from './typescript.mjs';

export interface AliasEnd {
  readonly symbol: ts.Symbol;
  readonly stepwrightName?: string;
  /** Set where an import or export on the way is one of types. */
  readonly isTypeOnly: boolean;
  /** Where the way leaves the project. */
  readonly imported?: PackageImport;
}

/**
 * Follows aliases to a declaration, to an export of this package, or to one that cannot be resolved (`lost`).
 *
 * @param member - set where the way begins outside of the project, at a member of a namespace.
 */
export function followAliases(
  context: HostContext,
  start: ts.Symbol,
  member?: PackageImport,
): AliasEnd | { readonly lost: ts.Symbol } {
  const visited = new Set<ts.Symbol>();
  let symbol = start;
  let isTypeOnly = false;
  let imported = member;
  while (!visited.has(symbol)) {
    visited.add(symbol);
    imported ??= packageImport(context, symbol);
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return { symbol, isTypeOnly, ...defined({ imported }) };
    isTypeOnly ||= symbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration) ?? false;
    const specifier = symbol.declarations?.find(
      (d): d is ts.ImportSpecifier | ts.ExportSpecifier => ts.isImportSpecifier(d) || ts.isExportSpecifier(d),
    );
    // The specifier decides before resolution, so that authors without an installed package still get answers.
    if (specifier !== undefined && importedModule(symbol) === PACKAGE) {
      return { symbol, isTypeOnly, stepwrightName: (specifier.propertyName ?? specifier.name).text };
    }
    const next = context.compiler.checker.getImmediateAliasedSymbol(symbol);
    if (next === undefined) return { lost: symbol };
    symbol = next;
  }
  return { lost: symbol };
}

/** How a symbol of the project is imported from a package; nothing where it is not. */
function packageImport(context: HostContext, symbol: ts.Symbol): PackageImport | undefined {
  const alias = symbol.declarations?.find((each) => isOfProject(context, each.getSourceFile()));
  const specifier = alias && specifierOf(symbol);
  if (alias === undefined || specifier === undefined) return undefined;
  const isNamed = ts.isImportSpecifier(alias) || ts.isExportSpecifier(alias);
  if (!isNamed && !ts.isImportClause(alias)) return undefined;
  return importFrom(context, specifier, isNamed ? (alias.propertyName ?? alias.name).text : 'default');
}

/** How a name is imported from the package that a specifier leads to, or that its module passes on with `export *`. */
function importFrom(
  context: HostContext,
  specifier: ts.StringLiteral,
  name: string,
  visited: ReadonlySet<unknown> = new Set(),
): PackageImport | undefined {
  const file = context.modules.elsewhere(specifier);
  if (file !== undefined) return { specifier: specifier.text, name, module: relativeFile(context, file) };
  const source = context.modules.resolve(specifier);
  if (source === undefined || visited.has(source)) return undefined;
  const { checker } = context.compiler;
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || statement.exportClause !== undefined) continue;
    const passed = statement.moduleSpecifier;
    const module = passed && checker.getSymbolAtLocation(passed);
    if (passed === undefined || !ts.isStringLiteral(passed) || module === undefined) continue;
    if (checker.tryGetMemberInModuleExports(name, module) === undefined) continue;
    return importFrom(context, passed, name, new Set(visited).add(source));
  }
  return undefined;
}

/** How a member of a namespace is imported from a package: `import * as tools from '@acme/tools'`. */
export function importedMember(
  context: HostContext,
  namespace: ts.Symbol,
  name: string,
): PackageImport | undefined {
  const specifier = specifierOf(namespace);
  return specifier && importFrom(context, specifier, name);
}

/** Whether a symbol is the namespace of this package: `import * as sw from 'stepwright'`. */
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

interface Package {
  readonly root: string;
  readonly name: string;
}

/** By the folders in them. */
const packages = new Map<string, Package | undefined>();

/** Whether a file belongs to the decorators of this package, wherever it is installed. */
export function isOfPackage(fileName: string): boolean {
  const result = nearestPackage(path.dirname(fileName));
  if (result?.name !== PACKAGE) return false;
  return path.relative(result.root, fileName).split(path.sep).slice(0, 2).includes('decorators');
}

function nearestPackage(folder: string): Package | undefined {
  if (packages.has(folder)) return packages.get(folder);
  // Nested manifests without a name (`{ "type": "module" }`) do not start a package.
  const { name } = objectIn(path.join(folder, 'package.json')) ?? {};
  const parent = path.dirname(folder);
  const above = () => (parent === folder ? undefined : nearestPackage(parent));
  const result = typeof name === 'string' ? { root: folder, name } : above();
  packages.set(folder, result);
  return result;
}

/** The module specifier of the import or re-export that declares an alias. */
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

/** The module of an import or re-export that cannot be resolved; undefined for any other symbol. */
export function unresolvedImport(context: HostContext, symbol: ts.Symbol): ImportedModule | undefined {
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
  const isDirect =
    specifier !== undefined && context.compiler.checker.getSymbolAtLocation(specifier) === module;
  return isDirect ? describeModule(context, specifier, name) : undefined;
}

function describeModule(context: HostContext, specifier: ts.StringLiteral, name: string): ImportedModule {
  const module = context.compiler.checker.getSymbolAtLocation(specifier);
  const source = sourceOf(context, specifier);
  const isFound = module !== undefined || source !== undefined;
  const exports = module === undefined ? [] : exportedValues(context, module);
  const file = context.modules.elsewhere(specifier);
  return {
    specifier: specifier.text,
    name,
    ...(isFound ? { exports } : {}),
    files: source === undefined ? [] : filesBehind(context, source),
    ...(file === undefined
      ? {}
      : { imported: { specifier: specifier.text, name, module: relativeFile(context, file) } }),
  };
}

function exportedValues(
  { compiler: { checker } }: HostContext,
  module: ts.Symbol,
): readonly { readonly name: string; readonly isClass: boolean }[] {
  return checker.getExportsOfModule(module).flatMap((entry) => {
    const target = entry.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(entry) : entry;
    // An unresolved re-export has no declaration.
    if (target.declarations === undefined || (target.flags & ts.SymbolFlags.Value) === 0) return [];
    return { name: entry.name, isClass: (target.flags & ts.SymbolFlags.Class) !== 0 };
  });
}

/** The file of a module. The compiler has no module symbol for a file without exports, so it is found by its path. */
function sourceOf(context: HostContext, specifier: ts.StringLiteral): ts.SourceFile | undefined {
  const module = context.compiler.checker.getSymbolAtLocation(specifier)?.declarations?.find(ts.isSourceFile);
  if (module !== undefined) return module;
  if (!specifier.text.startsWith('.')) return undefined;
  const base = path.resolve(path.dirname(specifier.getSourceFile().fileName), specifier.text);
  for (const candidate of moduleCandidates(base)) {
    const source = context.compiler.program.getSourceFile(candidate);
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

/** The first unresolved name in a type node; undefined for an explicit `any`. */
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
    const unresolved = unresolvedName(context, name);
    if (unresolved !== undefined) return unresolved;
  }
  return undefined;
}

function leftmost(name: ts.EntityName): ts.Identifier {
  return ts.isIdentifier(name) ? name : leftmost(name.left);
}

function unresolvedName(context: HostContext, name: ts.Identifier): UnresolvedType | undefined {
  const { checker } = context.compiler;
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

/** What may name a module elsewhere than in imports and exports. */
const OPEN = /\b(?:import|require)\s*\(|^\/\/\/\s*<reference/m;

/**
 * The modules of the project that a module names. Of those it loads, type-only imports are none, as in its output.
 *
 * @param isRemembered - whether a later run may compare the file with what it is then; else it has no surface.
 */
export function linksOf(context: HostContext, source: ts.SourceFile, isRemembered: boolean): FileLinks {
  const modules = new Set<string>();
  const endings: ImportEnding[] = [];
  for (const statement of source.statements) {
    const isLink = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const specifier = isLink ? statement.moduleSpecifier : undefined;
    const module = moduleOf(context, specifier);
    if (module === undefined || specifier === undefined) continue;
    modules.add(relativeFile(context, module));
    endings.push(...endingOf(specifier, module));
  }
  const isOpen = OPEN.test(source.text);
  const imports = importsOf(context, source);
  const surface = isRemembered ? (isJson(source) ? source.text : surfaceOf(source)) : '';
  return { imports, modules: [...modules], endings, surface, ...(isOpen ? { isOpen } : {}) };
}

function moduleOf(context: HostContext, specifier: ts.Expression | undefined): string | undefined {
  return specifier !== undefined && ts.isStringLiteral(specifier)
    ? context.modules.ownFile(specifier)
    : undefined;
}

function importsOf(context: HostContext, source: ts.SourceFile): readonly Import[] {
  let used: ReadonlySet<string> | undefined;
  const keepsAll = context.options.verbatimModuleSyntax === true;
  const isUsed = (name: ts.Identifier): boolean => {
    used ??= valueNames(source);
    return keepsAll || used.has(name.text);
  };
  const imports: Import[] = [];
  for (const statement of source.statements) {
    const specifier = loadedModule(statement, isUsed);
    const module = moduleOf(context, specifier);
    if (specifier === undefined || module === undefined) continue;
    imports.push({ target: relativeFile(context, module), place: placeOf(context, specifier) });
  }
  return imports;
}

function loadedModule(
  statement: ts.Statement,
  isUsed: (name: ts.Identifier) => boolean,
): ts.Expression | undefined {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause, isTypeOnly, moduleSpecifier } = statement;
    const isOfTypes =
      isTypeOnly ||
      (exportClause !== undefined &&
        ts.isNamedExports(exportClause) &&
        exportClause.elements.every((element) => element.isTypeOnly));
    return isOfTypes ? undefined : moduleSpecifier;
  }
  if (!ts.isImportDeclaration(statement)) return undefined;
  const { importClause, moduleSpecifier } = statement;
  if (importClause === undefined) return moduleSpecifier;
  if (importClause.isTypeOnly) return undefined;
  const bindings = importClause.namedBindings;
  const names = [
    ...(importClause.name === undefined ? [] : [importClause.name]),
    ...(bindings === undefined
      ? []
      : ts.isNamespaceImport(bindings)
        ? [bindings.name]
        : bindings.elements.filter((element) => !element.isTypeOnly).map((element) => element.name)),
  ];
  return names.some(isUsed) ? moduleSpecifier : undefined;
}

/** Every name that is used as a value somewhere in a file. */
function valueNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const open: ts.Node[] = [source];
  let name: ts.Node | undefined;
  const add = (child: ts.Node): void => {
    if (ts.isIdentifier(child)) {
      if (child !== name) names.add(child.text);
    } else if (!ts.isTypeNode(child) || ts.isExpressionWithTypeArguments(child)) open.push(child);
  };
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    switch (node.kind) {
      case ts.SyntaxKind.ImportDeclaration:
      case ts.SyntaxKind.InterfaceDeclaration:
      case ts.SyntaxKind.TypeAliasDeclaration:
        break;
      case ts.SyntaxKind.PropertyAccessExpression:
        name = undefined;
        add((node as ts.PropertyAccessExpression).expression);
        break;
      case ts.SyntaxKind.HeritageClause: {
        name = undefined;
        const { token, types } = node as ts.HeritageClause;
        if (token === ts.SyntaxKind.ExtendsKeyword) for (const { expression } of types) add(expression);
        break;
      }
      default: {
        const isNamed = !ts.isShorthandPropertyAssignment(node) && !ts.isExportSpecifier(node);
        name = isNamed ? (node as { readonly name?: ts.Node }).name : undefined;
        ts.forEachChild(node, add);
      }
    }
  }
  return names;
}

/** Files that all endings lead to: for `.mts` and `.cts` there are only two. */
const ANY_ENDING = /(?<!\.d)\.tsx?$/;

/** How a relative import names a file; nothing for an import that says nothing of others. */
export function endingOf(specifier: ts.Expression, file: string): readonly ImportEnding[] {
  if (!ts.isStringLiteral(specifier) || !/^\.{1,2}(?:\/|$)/.test(specifier.text)) return [];
  if (!ANY_ENDING.test(file)) return [];
  const named = posix.basename(specifier.text);
  if (named === posix.basename(file)) return ['ts'];
  const stem = posix.basename(file).replace(ANY_ENDING, '');
  return [named === `${stem}.js` || named === `${stem}.jsx` ? 'js' : 'none'];
}

/**
 * The ending of most imports, among those that the compiler allows. Where there is no such import, or none that is the
 * most frequent: the first of `.ts`, none and `.js` that is allowed.
 */
export function commonEnding(options: ts.CompilerOptions, endings: readonly ImportEnding[]): ImportEnding {
  const allowed: readonly ImportEnding[] = [
    ...(importsTypeScript(options) ? (['ts'] as const) : []),
    ...(isWrittenForNode(options) ? [] : (['none'] as const)),
    'js',
  ];
  const count = (ending: ImportEnding): number => endings.filter((each) => each === ending).length;
  // The order of equals stays.
  return [...allowed].sort((a, b) => count(b) - count(a))[0] as ImportEnding;
}

function importsTypeScript(options: ts.CompilerOptions): boolean {
  return options.allowImportingTsExtensions === true || options.rewriteRelativeImportExtensions === true;
}

/** Whether modules are looked for as Node.js does it, whose imports always have an ending. */
function isWrittenForNode({ module, moduleResolution }: ts.CompilerOptions): boolean {
  if (moduleResolution !== undefined)
    return (
      moduleResolution === ts.ModuleResolutionKind.Node16 ||
      moduleResolution === ts.ModuleResolutionKind.NodeNext
    );
  return module !== undefined && module >= ts.ModuleKind.Node16 && module <= ts.ModuleKind.NodeNext;
}
