import { ts } from 'ts-morph';
import type { Place } from '../../graph/place.js';
import type { ImportCycle } from '../syntax.js';
import { type HostContext, isOfProject, placeOf, relativeFile } from './context.js';
import { childrenOf, eachNode } from './nesting.js';

/** A module that is loaded with the one the import stands in, and where that is written. */
interface Import {
  readonly target: string;
  readonly place: Place;
}

/** By module, how others that import it are imported by it. Modules without such company are missing. */
export function importCycles(context: HostContext): ReadonlyMap<string, readonly ImportCycle[]> {
  const modules = new Map<string, readonly Import[]>();
  for (const source of context.program.getSourceFiles()) {
    if (isOfProject(context, source))
      modules.set(relativeFile(context, source.fileName), importsOf(context, source));
  }
  const importers = new Map<string, { readonly file: string; readonly place: Place }[]>();
  for (const [file, imports] of modules) {
    for (const { target, place } of imports) {
      importers.set(target, [...(importers.get(target) ?? []), { file, place }]);
    }
  }
  const cycles = new Map<string, readonly ImportCycle[]>();
  for (const file of modules.keys()) {
    const found = cyclesOf(file, modules, importers);
    if (found.length > 0) cycles.set(file, found);
  }
  return cycles;
}

function cyclesOf(
  file: string,
  modules: ReadonlyMap<string, readonly Import[]>,
  importers: ReadonlyMap<string, readonly { readonly file: string; readonly place: Place }[]>,
): readonly ImportCycle[] {
  // Most modules are imported by nobody who matters, or import nobody: no need to look further.
  if ((importers.get(file) ?? []).length === 0 || (modules.get(file) ?? []).length === 0) return [];
  const ways = new Map<string, ImportCycle['back']>([[file, []]]);
  // A map goes on with what is added meanwhile: the nearest importers come first.
  for (const [target, back] of ways) {
    for (const importer of importers.get(target) ?? []) {
      if (!ways.has(importer.file)) ways.set(importer.file, [importer, ...back]);
    }
  }
  const reached = reachableFrom(file, modules);
  return [...ways]
    .filter(([other]) => other !== file && reached.has(other))
    .map(([other, back]) => ({ file: other, back }));
}

function reachableFrom(file: string, modules: ReadonlyMap<string, readonly Import[]>): ReadonlySet<string> {
  const reached = new Set<string>([file]);
  for (const each of reached) for (const { target } of modules.get(each) ?? []) reached.add(target);
  return reached;
}

/** The modules of the project that a module loads before itself. Imports of types alone are left out, as in its output. */
function importsOf(context: HostContext, source: ts.SourceFile): readonly Import[] {
  let used: ReadonlySet<string> | undefined;
  const keepsAll = context.program.getCompilerOptions().verbatimModuleSyntax === true;
  const isUsed = (name: ts.Identifier): boolean => {
    used ??= valueNames(source);
    return keepsAll || used.has(name.text);
  };
  const imports: Import[] = [];
  for (const statement of source.statements) {
    const specifier = loadedModule(statement, isUsed);
    if (specifier === undefined) continue;
    const module = context.checker.getSymbolAtLocation(specifier)?.declarations?.find(ts.isSourceFile);
    if (module === undefined || !isOfProject(context, module)) continue;
    imports.push({ target: relativeFile(context, module.fileName), place: placeOf(context, specifier) });
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

/** Every name that stands for a value somewhere in a file. */
function valueNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  eachNode(source, (node) => {
    if (ts.isIdentifier(node)) {
      names.add(node.text);
      return [];
    }
    if (ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node))
      return [];
    if (ts.isPropertyAccessExpression(node)) return [node.expression];
    if (ts.isHeritageClause(node)) {
      const isExtends = node.token === ts.SyntaxKind.ExtendsKeyword;
      return isExtends ? node.types.map((type) => type.expression) : [];
    }
    if (ts.isTypeNode(node)) return [];
    return childrenOf(node).filter((child) => {
      const isName = 'name' in node && child === node.name && !ts.isShorthandPropertyAssignment(node);
      return !isName || !ts.isIdentifier(child) || ts.isExportSpecifier(node);
    });
  });
  return names;
}
