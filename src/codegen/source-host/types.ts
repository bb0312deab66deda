import { ts } from 'ts-morph';
import type { TypeSyntax } from '../syntax.js';
import { withoutUndefined } from '../type-syntax.js';
import type { HostContext } from './context.js';

/** Nested deeper than this, a type counts as `other`: generic types can grow without end. */
const MAX_DEPTH = 12;

const { TypeFlags } = ts;

/** The type of a field or parameter. Marks such as `Arg<T>` are taken off; `undefined` is kept. */
export function typeOfDeclaration(
  context: HostContext,
  node: ts.PropertyDeclaration | ts.ParameterDeclaration,
): TypeSyntax {
  const order = node.type === undefined ? [] : literalsInOrder(context, node.type);
  return lowerType(context, context.checker.getTypeAtLocation(node), node, order, []);
}

/** What a method or function hands back, with promises unwrapped. */
export function returnTypeOf(context: HostContext, node: ts.SignatureDeclaration): TypeSyntax {
  const { checker } = context;
  const signature = checker.getSignatureFromDeclaration(node);
  if (signature === undefined) return { kind: 'unknown' };
  const returned = checker.getReturnTypeOfSignature(signature);
  return lowerType(context, checker.getAwaitedType(returned) ?? returned, node, [], []);
}

type Literal = string | number | boolean;

function lowerType(
  context: HostContext,
  type: ts.Type,
  at: ts.Node,
  order: readonly Literal[],
  outer: readonly ts.Type[],
): TypeSyntax {
  const { checker } = context;
  const { flags } = type;
  const other = (): TypeSyntax => ({ kind: 'other', text: checker.typeToString(type, at) });
  if (outer.length > MAX_DEPTH || outer.includes(type)) return other();
  if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return { kind: 'unknown' };
  if (type.isStringLiteral() || type.isNumberLiteral()) return { kind: 'literal', value: type.value };
  if (flags & TypeFlags.BooleanLiteral)
    return { kind: 'literal', value: checker.typeToString(type) === 'true' };
  if (flags & TypeFlags.String) return { kind: 'string' };
  if (flags & TypeFlags.Number) return { kind: 'number' };
  if (flags & TypeFlags.Null) return { kind: 'null' };
  if (flags & (TypeFlags.Undefined | TypeFlags.Void)) return { kind: 'undefined' };
  if (type.isUnion()) {
    return union(
      type.types.map((member) => lowerType(context, member, at, order, [...outer, type])),
      order,
    );
  }
  if (type.isIntersection()) {
    const plain = type.types.filter((member) => !isMark(checker, member));
    const [only] = plain;
    if (only !== undefined && plain.length === 1) return lowerType(context, only, at, order, outer);
    return plain.every((member) => member.flags & TypeFlags.Object)
      ? object(context, type, at, order, outer)
      : other();
  }
  if (checker.isTupleType(type)) return other();
  if (checker.isArrayType(type)) {
    const item = checker.getTypeArguments(type as ts.TypeReference)[0];
    if (item === undefined) return other();
    return { kind: 'array', items: lowerType(context, item, at, order, [...outer, type]) };
  }
  return flags & TypeFlags.Object ? object(context, type, at, order, outer) : other();
}

/** True for a type that only tells others apart, such as `{ readonly [ARG]?: true }`: its keys are unique symbols. */
function isMark(checker: ts.TypeChecker, type: ts.Type): boolean {
  if ((type.flags & TypeFlags.Object) === 0) return false;
  const properties = checker.getPropertiesOfType(type);
  return properties.length > 0 && properties.every(isSymbolKeyed);
}

function isSymbolKeyed(property: ts.Symbol): boolean {
  return property.name.startsWith('__@');
}

function object(
  context: HostContext,
  type: ts.Type,
  at: ts.Node,
  order: readonly Literal[],
  outer: readonly ts.Type[],
): TypeSyntax {
  const { checker } = context;
  const hasMore =
    type.getCallSignatures().length > 0 ||
    type.getConstructSignatures().length > 0 ||
    checker.getIndexInfosOfType(type).length > 0;
  if (hasMore || isBuiltIn(context, type)) return { kind: 'other', text: checker.typeToString(type, at) };
  const properties = checker.getPropertiesOfType(type).filter((property) => !isSymbolKeyed(property));
  return {
    kind: 'object',
    properties: properties.map((property) => {
      const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      const lowered = lowerType(context, checker.getTypeOfSymbolAtLocation(property, at), at, order, [
        ...outer,
        type,
      ]);
      return { name: property.name, optional, type: optional ? withoutUndefined(lowered) : lowered };
    }),
  };
}

/** True for `Date`, `Map` and other classes and interfaces of the language's own library. */
function isBuiltIn({ program }: HostContext, type: ts.Type): boolean {
  const symbol = type.getSymbol();
  if (symbol === undefined || (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) === 0)
    return false;
  return symbol.declarations?.some((d) => program.isSourceFileDefaultLibrary(d.getSourceFile())) ?? false;
}

/** Joins `true | false` to boolean, and puts literals into written order: the compiler's own depends on other files. */
function union(members: readonly TypeSyntax[], order: readonly Literal[]): TypeSyntax {
  const flat = members.flatMap((member) => (member.kind === 'union' ? member.members : [member]));
  const literals = flat.filter((member) => member.kind === 'literal').map((member) => member.value);
  const isBoolean = literals.includes(true) && literals.includes(false);
  const kept = [...new Set(literals)].filter((value) => !isBoolean || typeof value !== 'boolean');
  kept.sort((a, b) => rank(order, a) - rank(order, b) || compareText(String(a), String(b)));
  const others = flat.filter((member) => member.kind !== 'literal');
  const joined: TypeSyntax[] = [
    ...others,
    ...(isBoolean ? [{ kind: 'boolean' } as const] : []),
    ...kept.map((value) => ({ kind: 'literal', value }) as const),
  ];
  joined.sort((a, b) => kindRank(a) - kindRank(b));
  const [only] = joined;
  return only !== undefined && joined.length === 1 ? only : { kind: 'union', members: joined };
}

function rank(order: readonly Literal[], value: Literal): number {
  const index = order.indexOf(value);
  return index === -1 ? order.length : index;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const KIND_ORDER: readonly TypeSyntax['kind'][] = [
  'literal',
  'string',
  'number',
  'boolean',
  'array',
  'object',
  'unknown',
  'other',
  'null',
  'undefined',
];

function kindRank(type: TypeSyntax): number {
  return KIND_ORDER.indexOf(type.kind);
}

/** The literals of a type in the order the author wrote them, aliases followed. */
function literalsInOrder(context: HostContext, node: ts.TypeNode): Literal[] {
  const found: Literal[] = [];
  const seen = new Set<ts.Node>();
  const visit = (n: ts.Node): void => {
    if (seen.has(n)) return;
    seen.add(n);
    if (ts.isLiteralTypeNode(n)) {
      const { literal } = n;
      if (ts.isStringLiteralLike(literal)) found.push(literal.text);
      else if (ts.isNumericLiteral(literal)) found.push(Number(literal.text));
      return;
    }
    if (ts.isTypeReferenceNode(n)) {
      n.typeArguments?.forEach(visit);
      aliasedType(context, n)?.forEach(visit);
      return;
    }
    ts.forEachChild(n, visit);
  };
  visit(node);
  return found;
}

function aliasedType(
  { checker }: HostContext,
  node: ts.TypeReferenceNode,
): readonly ts.TypeNode[] | undefined {
  let symbol = checker.getSymbolAtLocation(node.typeName);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol?.declarations?.filter(ts.isTypeAliasDeclaration).map((declaration) => declaration.type);
}
