import { ts } from 'ts-morph';
import type { HostContext } from './context.js';

export type Literal = string | number | boolean;

/** The members of unions as their author wrote them; the compiler's own order depends on what it has seen before. */
export interface WrittenOrder {
  readonly literals: readonly Literal[];
  readonly types: readonly ts.Type[];
}

/** Reads the order off the types as written, aliases and enumerations followed. The first mention counts. */
export function writtenOrder(context: HostContext, written: ts.TypeNode): WrittenOrder {
  const literals: Literal[] = [];
  const types: ts.Type[] = [];
  const seen = new Set<ts.Node>();
  const visit = (node: ts.Node): void => {
    if (seen.has(node)) return;
    seen.add(node);
    if (ts.isLiteralTypeNode(node)) {
      const value = literalOf(node.literal);
      if (value !== undefined) literals.push(value);
    } else if (ts.isTypeReferenceNode(node)) {
      types.push(context.checker.getTypeFromTypeNode(node));
      node.typeArguments?.forEach(visit);
      for (const declaration of declarationsOf(context, node)) {
        if (ts.isTypeAliasDeclaration(declaration)) visit(declaration.type);
        if (ts.isEnumDeclaration(declaration)) literals.push(...enumValues(context, declaration));
      }
    } else {
      if (ts.isTypeNode(node)) types.push(context.checker.getTypeFromTypeNode(node));
      ts.forEachChild(node, visit);
    }
  };
  visit(written);
  return { literals, types };
}

/** Where a value stands in an order; what is not in it comes last. */
export function rankIn<T>(order: readonly T[], value: T): number {
  const index = order.indexOf(value);
  return index === -1 ? order.length : index;
}

function literalOf(node: ts.LiteralTypeNode['literal']): Literal | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isPrefixUnaryExpression(node) && ts.isNumericLiteral(node.operand))
    return -Number(node.operand.text);
  return undefined;
}

function enumValues({ checker }: HostContext, { members }: ts.EnumDeclaration): Literal[] {
  return members.flatMap((member) => checker.getConstantValue(member) ?? []);
}

/** What a name in a type stands for, imports followed. */
export function declarationsOf(
  { checker }: HostContext,
  node: ts.TypeReferenceNode,
): readonly ts.Declaration[] {
  let symbol = checker.getSymbolAtLocation(node.typeName);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol?.declarations ?? [];
}
