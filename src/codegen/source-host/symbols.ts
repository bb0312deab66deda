import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ts } from 'ts-morph';
import type { SymbolSyntax } from '../syntax.js';
import { type HostContext, isOfProject, placeOf, relativeFile } from './context.js';
import { functionSymbol } from './functions.js';
import { importedInVain, missingMember, specifierOf } from './missing-exports.js';

const PACKAGE = 'stepwright';

/** What an identifier means, followed through imports, aliases, namespaces and re-exports. */
export function resolveIdentifier(context: HostContext, node: ts.Identifier): SymbolSyntax {
  const symbol =
    ts.isShorthandPropertyAssignment(node.parent) && node.parent.name === node
      ? context.checker.getShorthandAssignmentValueSymbol(node.parent)
      : context.checker.getSymbolAtLocation(node);
  return resolveSymbol(context, symbol, node.text);
}

/** What `object.name` means where `object` is a module; nothing where it is a value. */
export function resolveMember(
  context: HostContext,
  node: ts.PropertyAccessExpression,
): SymbolSyntax | undefined {
  if (!ts.isIdentifier(leftmost(node.expression))) return undefined;
  const namespace = context.checker.getSymbolAtLocation(node.expression);
  if (namespace === undefined) return undefined;
  const name = node.name.text;
  if (importedModule(namespace) === PACKAGE && namespace.declarations?.some(ts.isNamespaceImport)) {
    return { kind: 'stepwright', name };
  }
  const end = followAliases(context, namespace);
  if ('lost' in end || (end.symbol.flags & ts.SymbolFlags.Module) === 0) return undefined;
  const member = context.checker.getSymbolAtLocation(node.name);
  if (member !== undefined) return resolveSymbol(context, member, name);
  const from = missingMember(context, namespace, end.symbol, name);
  return { kind: 'unresolved', name, ...(from === undefined ? {} : { from }) };
}

function leftmost(node: ts.Expression): ts.Expression {
  return ts.isPropertyAccessExpression(node) ? leftmost(node.expression) : node;
}

function resolveSymbol(context: HostContext, start: ts.Symbol | undefined, written: string): SymbolSyntax {
  if (start === undefined) return { kind: 'unresolved', name: written };
  const end = followAliases(context, start);
  if ('lost' in end) {
    const from = importedInVain(context, end.lost);
    return { kind: 'unresolved', name: written, ...(from === undefined ? {} : { from }) };
  }
  if (end.stepwrightName !== undefined) return { kind: 'stepwright', name: end.stepwrightName };
  const { symbol } = end;
  const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0];
  if (declaration === undefined) return { kind: 'unresolved', name: written };
  const source = declaration.getSourceFile();
  if (isOurs(source.fileName)) return { kind: 'stepwright', name: symbol.name };
  if (ts.isClassDeclaration(declaration)) {
    return {
      kind: 'class',
      file: relativeFile(context, source.fileName),
      name: declaration.name?.text ?? '',
      place: classPlace(context, declaration),
      ...(end.isTypeOnly ? { typeOnly: true } : {}),
    };
  }
  const named = functionSymbol(context, symbol.declarations ?? [declaration], written);
  if (named !== undefined) return named;
  const isOwn = isOfProject(context, source);
  return { kind: 'other', name: written, ...(isOwn ? { file: relativeFile(context, source.fileName) } : {}) };
}

/** Where a class is known by: its name, or the `class` keyword of an anonymous one. */
export function classPlace(context: HostContext, node: ts.ClassLikeDeclaration): ReturnType<typeof placeOf> {
  if (node.name !== undefined) return placeOf(context, node.name);
  const keyword = node.getChildren().find((child) => child.kind === ts.SyntaxKind.ClassKeyword);
  return placeOf(context, keyword ?? node);
}

interface AliasEnd {
  readonly symbol: ts.Symbol;
  readonly stepwrightName?: string;
  /** Set where an import or export on the way is one of types. */
  readonly isTypeOnly: boolean;
}

/** Goes from alias to alias until a declaration, until one names this package, or until one leads nowhere. */
function followAliases(context: HostContext, start: ts.Symbol): AliasEnd | { readonly lost: ts.Symbol } {
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
