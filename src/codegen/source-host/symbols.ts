import { ts } from 'ts-morph';
import type { SymbolSyntax } from '../syntax.js';
import { followAliases, isOurs, isPackageNamespace } from './aliases.js';
import { type HostContext, isOfProject, placeOf, relativeFile } from './context.js';
import { functionSymbol } from './functions.js';
import { importedInVain, missingMember } from './missing-exports.js';

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
  if (isPackageNamespace(namespace)) return { kind: 'stepwright', name };
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
