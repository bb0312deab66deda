import { defined } from '../../graph/defined.js';
import { compareText, freeName } from '../../graph/names.js';
import { type PropertySyntax, type TypeSyntax, withNotes, withoutUndefined } from '../syntax.js';
import { type HostContext, isOfProject, placeOf, relativeFile } from './ast.js';
import { unresolvedIn } from './imports.js';
import {
  joinUnion,
  notesOfNode,
  notesOfSymbol,
  notesOfType,
  rankIn,
  type WrittenOrder,
  writtenOrder,
} from './type-nodes.js';
import { ts } from './typescript.mjs';
import { writtenFieldType, writtenResult } from './written-types.js';

/** A type nested deeper than this becomes `other`: generic types can be infinite. */
const MAX_DEPTH = 24;

/** A type of more parts than this becomes `other`: no author writes it as an argument, and it fills a registry. */
const MAX_PARTS = 5000;

const { TypeFlags } = ts;

/** The type of a parameter as its text says it; nothing where the compiler is not to be asked yet. */
export function typeIfWritten(context: HostContext, node: ts.ParameterDeclaration): TypeSyntax | undefined {
  if (context.isTyped) return typeOfDeclaration(context, node);
  return node.initializer === undefined ? writtenFieldType(context, node) : undefined;
}

/** The return type of a method as its text says it; nothing where the compiler is not to be asked yet. */
export function resultIfWritten(context: HostContext, node: ts.SignatureDeclaration): TypeSyntax | undefined {
  return context.isTyped ? returnTypeOf(context, node) : writtenResult(context, node.type);
}

/** The type of a field or parameter. Marks such as `Arg<T>` are taken off; `undefined` is kept. */
export function typeOfDeclaration(
  context: HostContext,
  node: ts.PropertyDeclaration | ts.ParameterDeclaration,
): TypeSyntax {
  const written = node.initializer === undefined ? writtenFieldType(context, node) : undefined;
  if (written !== undefined) return written;
  return lowerRoot(context, context.compiler.checker.getTypeAtLocation(node), node, node.type);
}

/** The type of an expression, as the compiler infers it. */
export function typeOfExpression(context: HostContext, node: ts.CallExpression): TypeSyntax {
  return lowerRoot(context, context.compiler.checker.getTypeAtLocation(node), node, node.typeArguments?.[0]);
}

/** The return type of a method or function, with promises unwrapped. */
export function returnTypeOf(context: HostContext, node: ts.SignatureDeclaration): TypeSyntax {
  const written = writtenResult(context, node.type);
  if (written !== undefined) return written;
  const { checker } = context.compiler;
  const signature = checker.getSignatureFromDeclaration(node);
  if (signature === undefined) return { kind: 'unknown' };
  const returned = checker.getReturnTypeOfSignature(signature);
  return lowerRoot(context, checker.getAwaitedType(returned) ?? returned, node, node.type);
}

/** The parameters of a signature, with the type of the first one, and its return type, with promises unwrapped. */
export interface SignatureTypes {
  readonly parameters: readonly {
    readonly name: string;
    readonly declaration: ts.Declaration | undefined;
    readonly type?: TypeSyntax;
  }[];
  readonly returns: TypeSyntax;
}

/** @param written - where its type arguments are written, for the order of what comes in through them. */
export function typeOfSignature(
  context: HostContext,
  signature: ts.Signature,
  at: ts.Node,
  written: ts.TypeNode | undefined,
): SignatureTypes {
  const { checker } = context.compiler;
  const returned = signature.getReturnType();
  return {
    parameters: signature.getParameters().map((parameter, i) => {
      const [declaration] = parameter.declarations ?? [];
      const named = { name: parameter.name, declaration };
      if (i > 0) return named;
      const type = checker.getTypeOfSymbolAtLocation(parameter, at);
      return { ...named, type: lowerRoot(context, type, at, written) };
    }),
    returns: lowerRoot(context, checker.getAwaitedType(returned) ?? returned, at, written),
  };
}

function lowerRoot(
  context: HostContext,
  type: ts.Type,
  at: ts.Node,
  written: ts.TypeNode | undefined,
): TypeSyntax {
  const orders = new Map<ts.TypeNode, WrittenOrder>();
  const lowering: Lowering = {
    context,
    at,
    root: written,
    orders,
    named: new Map(),
    names: new Set(),
    parts: 0,
  };
  return lowerType(lowering, type, written, 0);
}

/** What one whole type is lowered with. */
interface Lowering {
  readonly context: HostContext;
  /** Where types are asked for and printed. */
  readonly at: ts.Node;
  /** The whole type as written: it settles the order of what comes in through type parameters. */
  readonly root: ts.TypeNode | undefined;
  /** What has been read of {@link writtenOrder} so far. */
  readonly orders: Map<ts.TypeNode, WrittenOrder>;
  /** Named types that are being lowered, and those that turned out to hold themselves. */
  readonly named: Map<ts.Type, { name?: string }>;
  readonly names: Set<string>;
  parts: number;
}

/** @param written - the type as written, where that is known: it carries order, and notes that types have lost. */
function lowerType(
  lowering: Lowering,
  type: ts.Type,
  written: ts.TypeNode | undefined,
  depth: number,
): TypeSyntax {
  lowering.parts += 1;
  if (depth > MAX_DEPTH && type.flags & TypeFlags.Object) return other(lowering, type, 'deep');
  if (lowering.parts > MAX_PARTS) return other(lowering, type, 'large');
  const lowered = isNamed(lowering.context, type)
    ? lowerNamed(lowering, type, written, depth)
    : lowerBare(lowering, type, written, depth);
  if (lowered.kind === 'ref' || lowered.kind === 'other') return lowered;
  const notes = notesOfType(lowering.context, type) ?? notesOfNode(lowering.context, written);
  if (lowered.kind !== 'recursive') return withNotes(lowered, notes);
  return { ...lowered, type: withNotes(lowered.type, notes) };
}

/** Only a type with a name can be recursive. */
function isNamed(context: HostContext, type: ts.Type): boolean {
  if (type.aliasSymbol !== undefined) return true;
  const isDeclared = (type.symbol?.flags ?? 0) & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface);
  return (type.flags & TypeFlags.Object) !== 0 && isDeclared !== 0 && !isBuiltIn(context, type);
}

function lowerNamed(
  lowering: Lowering,
  type: ts.Type,
  written: ts.TypeNode | undefined,
  depth: number,
): TypeSyntax {
  const cached = lowering.named.get(type);
  if (cached !== undefined) {
    cached.name ??= nameFor(lowering.names, type);
    return { kind: 'ref', name: cached.name };
  }
  const entry: { name?: string } = {};
  lowering.named.set(type, entry);
  const lowered = lowerBare(lowering, type, written, depth);
  if (entry.name !== undefined) return { kind: 'recursive', name: entry.name, type: lowered };
  // It is not recursive, and is inlined at every use.
  lowering.named.delete(type);
  return lowered;
}

function nameFor(names: Set<string>, type: ts.Type): string {
  const ownName = (type.aliasSymbol ?? type.symbol).name.replace(/[^\w$]/g, '') || 'Type';
  const name = freeName(ownName, (each) => names.has(each));
  names.add(name);
  return name;
}

function lowerBare(
  lowering: Lowering,
  type: ts.Type,
  written: ts.TypeNode | undefined,
  depth: number,
): TypeSyntax {
  const { checker } = lowering.context.compiler;
  const { flags } = type;
  if (flags & TypeFlags.Any) {
    const unresolved = unresolvedIn(lowering.context, written);
    return { kind: 'unknown', written: 'any', ...defined({ unresolved }) };
  }
  if (flags & TypeFlags.Unknown) return { kind: 'unknown' };
  if (type.isStringLiteral() || type.isNumberLiteral()) return { kind: 'literal', value: type.value };
  if (flags & TypeFlags.BooleanLiteral)
    return { kind: 'literal', value: checker.typeToString(type) === 'true' };
  if (flags & TypeFlags.String) return { kind: 'string' };
  if (flags & TypeFlags.TemplateLiteral) return template(lowering, type as ts.TemplateLiteralType);
  if (flags & TypeFlags.Null) return { kind: 'null' };
  if (flags & (TypeFlags.Undefined | TypeFlags.Void)) return { kind: 'undefined' };
  if (type.isUnion()) {
    const members = type.types.map((member): [TypeSyntax, ts.Type] => [
      lowerType(lowering, member, undefined, depth + 1),
      member,
    ]);
    return joinUnion(members, orderOf(lowering, written));
  }
  // An enumeration with a computed member is any number.
  if (flags & (TypeFlags.Number | TypeFlags.Enum)) return { kind: 'number' };
  if (type.isIntersection()) return intersection(lowering, type, written, depth);
  if (checker.isTupleType(type)) return tuple(lowering, type as ts.TupleTypeReference, written, depth);
  if (checker.isArrayType(type)) {
    const item = checker.getTypeArguments(type as ts.TypeReference)[0];
    if (item === undefined) return other(lowering, type);
    return { kind: 'array', items: lowerType(lowering, item, writtenItem(written), depth + 1) };
  }
  return flags & TypeFlags.Object ? object(lowering, type, written, depth) : other(lowering, type);
}

function other({ context, at }: Lowering, type: ts.Type, extent?: 'deep' | 'large'): TypeSyntax {
  const text = context.compiler.checker.typeToString(type, at);
  return { kind: 'other', text, ...defined({ extent }) };
}

/** What is written between the texts of a template literal type, as a regular expression. */
const PLACEHOLDERS: ReadonlyMap<ts.TypeFlags, string> = new Map([
  [TypeFlags.String, '[\\s\\S]*'],
  [TypeFlags.Number, '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?'],
]);

function template(lowering: Lowering, type: ts.TemplateLiteralType): TypeSyntax {
  let pattern = '';
  for (const [i, text] of type.texts.entries()) {
    pattern += text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const inner = type.types[i];
    if (inner === undefined) continue;
    const placeholder = PLACEHOLDERS.get(inner.flags & (TypeFlags.String | TypeFlags.Number));
    if (placeholder === undefined) return other(lowering, type);
    pattern += placeholder;
  }
  return {
    kind: 'template',
    pattern: `^${pattern}$`,
    text: lowering.context.compiler.checker.typeToString(type),
  };
}

const PRIMITIVE = TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BooleanLike;

function intersection(
  lowering: Lowering,
  type: ts.IntersectionType,
  written: ts.TypeNode | undefined,
  depth: number,
): TypeSyntax {
  const { checker } = lowering.context.compiler;
  const plain = type.types.filter((member) => !isMark(checker, member));
  const [only] = plain;
  if (only !== undefined && plain.length === 1) return lowerType(lowering, only, written, depth);
  if (plain.every((member) => member.flags & TypeFlags.Object)) return object(lowering, type, written, depth);
  // `string & { __brand: 'id' }`: at run time it is the text alone.
  const [primitive, second] = plain.filter((member) => member.flags & PRIMITIVE);
  const isBranded =
    primitive !== undefined &&
    second === undefined &&
    plain.every((member) => member === primitive || member.flags & TypeFlags.Object);
  return isBranded ? lowerType(lowering, primitive, undefined, depth) : other(lowering, type);
}

/** True for a brand such as `{ readonly [ARG]?: true }`: its keys are unique symbols. */
function isMark(checker: ts.TypeChecker, type: ts.Type): boolean {
  if ((type.flags & TypeFlags.Object) === 0) return false;
  const properties = checker.getPropertiesOfType(type);
  return properties.length > 0 && properties.every(isHidden);
}

/** True for `Arg<T, 'default'>`: the property behind its mark is of the type `'default'`. */
function hasDefaultMark({ compiler: { checker } }: HostContext, type: ts.Type): boolean {
  const members = type.isUnion() ? type.types : [type];
  return members.some(
    (member) =>
      member.isIntersection() &&
      checker.getPropertiesOfType(member).some((property) => {
        if (!/^__@ARG@/.test(String(property.escapedName))) return false;
        const supply = checker.getNonNullableType(checker.getTypeOfSymbol(property));
        return supply.isStringLiteral() && supply.value === 'default';
      }),
  );
}

/** Symbol keys and `#private` fields: JSON has neither. */
function isHidden(property: ts.Symbol): boolean {
  return /^__[@#]/.test(String(property.escapedName));
}

function tuple(
  lowering: Lowering,
  type: ts.TupleTypeReference,
  written: ts.TypeNode | undefined,
  depth: number,
): TypeSyntax {
  const { elementFlags } = type.target;
  const nodes = written !== undefined && ts.isTupleTypeNode(written) ? written.elements : [];
  const lowered = lowering.context.compiler.checker
    .getTypeArguments(type)
    .map((item, i) => lowerType(lowering, item, elementNode(nodes[i]), depth + 1));
  const last = elementFlags.length - 1;
  const isReadable = elementFlags.every(
    (flag, i) =>
      flag === ts.ElementFlags.Required ||
      flag === ts.ElementFlags.Optional ||
      (flag === ts.ElementFlags.Rest && i === last),
  );
  if (!isReadable) return other(lowering, type);
  const rest = elementFlags[last] === ts.ElementFlags.Rest ? lowered.at(-1) : undefined;
  const items = (rest === undefined ? lowered : lowered.slice(0, -1)).map((item, i) =>
    elementFlags[i] === ts.ElementFlags.Optional ? withoutUndefined(item) : item,
  );
  const required = elementFlags.filter((flag) => flag === ts.ElementFlags.Required).length;
  return { kind: 'tuple', items, required, ...defined({ rest }) };
}

function elementNode(node: ts.TypeNode | ts.NamedTupleMember | undefined): ts.TypeNode | undefined {
  if (node === undefined) return undefined;
  if (ts.isNamedTupleMember(node) || ts.isOptionalTypeNode(node)) return elementNode(node.type);
  return ts.isRestTypeNode(node) ? writtenItem(node.type) : node;
}

/** What is written for the items of a list: `X` of `X[]`, `readonly X[]` and `Array<X>`. */
function writtenItem(written: ts.TypeNode | undefined): ts.TypeNode | undefined {
  if (written === undefined) return undefined;
  if (ts.isArrayTypeNode(written)) return unparenthesized(written.elementType);
  if (ts.isTypeOperatorNode(written) || ts.isParenthesizedTypeNode(written)) return writtenItem(written.type);
  const isList = ts.isTypeReferenceNode(written) && /^(Readonly)?Array$/.test(written.typeName.getText());
  return isList ? written.typeArguments?.[0] : undefined;
}

function unparenthesized(node: ts.TypeNode): ts.TypeNode {
  return ts.isParenthesizedTypeNode(node) ? unparenthesized(node.type) : node;
}

function object(
  lowering: Lowering,
  type: ts.Type,
  written: ts.TypeNode | undefined,
  depth: number,
): TypeSyntax {
  const { context } = lowering;
  const isCallable = type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0;
  if (isCallable || isBuiltIn(context, type)) return other(lowering, type);
  const indexes = context.compiler.checker
    .getIndexInfosOfType(type)
    .filter(({ keyType }) => (keyType.flags & TypeFlags.ESSymbolLike) === 0);
  const [index, second] = indexes;
  const keys = index === undefined ? undefined : keyKind(index);
  if (second !== undefined || (index !== undefined && keys === undefined)) return other(lowering, type);
  const properties = propertiesOf(lowering, type, written)
    .filter((property) => !isHidden(property))
    .map((property) => lowerProperty(lowering, property, depth))
    // `x?: never` and `x: undefined`: no JSON has it.
    .filter(({ type: { kind } }) => kind !== 'undefined');
  if (index === undefined || keys === undefined) return { kind: 'object', properties };
  const values = lowerType(lowering, index.type, index.declaration?.type, depth + 1);
  return { kind: 'record', properties, keys, values: withoutUndefined(values) };
}

/** The order of a part, and after it that of the whole, which the arguments of type parameters come from. */
function orderOf(lowering: Lowering, written: ts.TypeNode | undefined): WrittenOrder {
  const { context, root, orders } = lowering;
  const all = [written, root].map((node): WrittenOrder => {
    if (node === undefined) return { literals: [], types: [] };
    const order = orders.get(node) ?? writtenOrder(context, node);
    orders.set(node, order);
    return order;
  });
  return {
    literals: all.flatMap(({ literals }) => literals),
    types: all.flatMap(({ types }) => types),
  };
}

/** Of `Pick<…>`, `Record<'b' | 'a', …>` and intersections the compiler's order depends on other files. */
function propertiesOf(
  lowering: Lowering,
  type: ts.Type,
  written: ts.TypeNode | undefined,
): readonly ts.Symbol[] {
  const { context } = lowering;
  const properties = context.compiler.checker.getPropertiesOfType(type);
  const isMapped = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Mapped) !== 0;
  if (!isMapped && !type.isIntersection()) return properties;
  const { literals } = orderOf(lowering, written);
  const keys = new Map(
    properties.map((property): [ts.Symbol, readonly [string, number, number]] => {
      const [declaration] = property.declarations ?? [];
      const file =
        declaration === undefined ? '' : relativeFile(context, declaration.getSourceFile().fileName);
      return [property, [file, declaration?.pos ?? 0, rankIn(literals, property.name)]];
    }),
  );
  const keyOf = (property: ts.Symbol) => keys.get(property) ?? ['', 0, 0];
  return [...properties].sort((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    return (
      compareText(left[0], right[0]) ||
      left[1] - right[1] ||
      left[2] - right[2] ||
      compareText(a.name, b.name)
    );
  });
}

function keyKind({ keyType }: ts.IndexInfo): 'string' | 'number' | undefined {
  if (keyType.flags & TypeFlags.String) return 'string';
  return keyType.flags & TypeFlags.Number ? 'number' : undefined;
}

function lowerProperty(lowering: Lowering, property: ts.Symbol, depth: number): PropertySyntax {
  const { context, at } = lowering;
  const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
  const declaration = property.declarations?.find(
    (d): d is ts.PropertySignature | ts.PropertyDeclaration =>
      ts.isPropertySignature(d) || ts.isPropertyDeclaration(d),
  );
  const type = context.compiler.checker.getTypeOfSymbolAtLocation(property, at);
  const lowered = lowerType(lowering, type, declaration?.type, depth + 1);
  const remaining = optional ? withoutUndefined(lowered) : lowered;
  const isOwn = declaration !== undefined && isOfProject(context, declaration.getSourceFile());
  return {
    name: property.name,
    optional,
    ...(hasDefaultMark(context, type) ? { hasDefault: true } : {}),
    type: withNotes(remaining, notesOfSymbol(context, property)),
    ...(isOwn ? { place: placeOf(context, declaration.name) } : {}),
  };
}

/** True for `Date`, `Map`, `Buffer` and other classes and interfaces of the language's and Node's own libraries. */
function isBuiltIn({ compiler: { program } }: HostContext, type: ts.Type): boolean {
  const symbol = type.getSymbol();
  if (symbol === undefined || (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) === 0)
    return false;
  return (
    symbol.declarations?.some((declaration) => {
      const source = declaration.getSourceFile();
      return (
        program.isSourceFileDefaultLibrary(source) || /\/node_modules\/@types\/node\//.test(source.fileName)
      );
    }) ?? false
  );
}

/**
 * The kind of a condition that is always truthy unless it is null or undefined: a list or an object. Undefined for any
 * other type, and for an unknown one.
 */
export function compositeTruth(context: HostContext, node: ts.Expression): 'list' | 'object' | undefined {
  if (isScalar(node)) return undefined;
  if (!context.isTyped) {
    context.untyped.add(node.getSourceFile());
    return undefined;
  }
  const { checker } = context.compiler;
  const type = typeOf(checker, node);
  if (type === undefined) return undefined;
  const members = type.isUnion() ? type.types : [type];
  if (members.length === 0 || !members.every((member) => isComposite(checker, member))) return undefined;
  return members.every((member) => isList(checker, member)) ? 'list' : 'object';
}

/** Whether an expression is, as written, neither a list nor an object. */
function isScalar(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node)) return isScalar(node.expression);
  if (ts.isPrefixUnaryExpression(node) || ts.isStringLiteralLike(node) || ts.isNumericLiteral(node))
    return true;
  if (ts.isBinaryExpression(node)) return COMPARISONS.has(node.operatorToken.kind);
  return node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword;
}

const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
]);

/** Whether `value as T` narrows a union of several object types. */
export function isClaim(context: HostContext, node: ts.Expression): boolean {
  if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return false;
  if (ts.isConstTypeReference(node.type)) return false;
  const { checker } = context.compiler;
  const type = typeOf(checker, node.expression);
  const members = type?.isUnion() === true ? type.types : [];
  return members.filter((member) => member.flags & TypeFlags.Object).length > 1;
}

/** Whether `value!` or `value as T` takes null or an absent value off a type that has it. */
export function hidesAbsence(context: HostContext, node: ts.Expression): boolean {
  if (!ts.isNonNullExpression(node) && !ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node))
    return false;
  // In a chain that may end early, the whole chain may be absent.
  if ((node.flags & ts.NodeFlags.OptionalChain) !== 0) return false;
  if (!ts.isNonNullExpression(node) && ts.isConstTypeReference(node.type)) return false;
  const { checker } = context.compiler;
  return (
    hasFlags(checker, node.expression, TypeFlags.Undefined | TypeFlags.Null) &&
    !hasFlags(checker, node, TypeFlags.Undefined | TypeFlags.Null | TypeFlags.Any | TypeFlags.Unknown)
  );
}

/** Whether the type of an expression, or a member of it, is of a kind. */
function hasFlags(checker: ts.TypeChecker, node: ts.Expression, flags: ts.TypeFlags): boolean {
  try {
    const type = checker.getTypeAtLocation(node);
    return (type.isUnion() ? type.types : [type]).some((member) => (member.flags & flags) !== 0);
  } catch {
    return false;
  }
}

/**
 * Whether the compiler added a property to some members of a union as an optional `undefined`, as it does when it
 * normalizes the object literals of one expression.
 */
export function isAddedTo(context: HostContext, object: ts.Node, key: string): boolean {
  if (!context.isTyped) return false;
  const { checker } = context.compiler;
  const type = typeOf(checker, object);
  if (type?.isUnion() !== true) return false;
  return type.types.some((member) => {
    const property = member.getProperty(key);
    return property !== undefined && (checker.getTypeOfSymbol(property).flags & TypeFlags.Undefined) !== 0;
  });
}

function isComposite(checker: ts.TypeChecker, type: ts.Type): boolean {
  if (type.isIntersection()) return type.types.every((part) => isComposite(checker, part));
  if (type.flags & TypeFlags.NonPrimitive) return true;
  if ((type.flags & TypeFlags.Object) === 0) return false;
  // `{}` is the type of text and numbers as well.
  return isList(checker, type) || checker.getPropertiesOfType(type).length > 0;
}

function isList(checker: ts.TypeChecker, type: ts.Type): boolean {
  if (type.isIntersection()) return type.types.some((part) => isList(checker, part));
  return checker.isArrayType(type) || checker.isTupleType(type);
}

/** The compiler's own assertions can fail on source with type errors; those are for `tsc` to report. */
function typeOf(checker: ts.TypeChecker, node: ts.Node): ts.Type | undefined {
  try {
    return checker.getNonNullableType(checker.getTypeAtLocation(node));
  } catch {
    return undefined;
  }
}
