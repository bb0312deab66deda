import { type PropertySyntax, type TypeSyntax, withNotes, withoutUndefined } from '../syntax.js';
import { type HostContext, isOfProject, KEYWORD_VALUES, placeOf, propertyName } from './ast.js';
import { joinUnion, literalOf, notesOfDeclarations, type WrittenOrder } from './type-nodes.js';
import { ts } from './typescript.mjs';

/** A type nested deeper than this is left to the compiler. */
const MAX_DEPTH = 12;

/** A type of more parts than this is left to the compiler. */
const MAX_PARTS = 1000;

/**
 * A type as its text says it, through the interfaces and aliases of the project. Nothing comes back for one that only
 * the compiler can read: a type that is calculated, or taken from a package, or that contains itself.
 */
function writtenType(context: HostContext, node: ts.TypeNode | undefined): TypeSyntax | undefined {
  if (node === undefined || context.names === undefined || !isStrict(context)) return undefined;
  return new Reading(context).read(node, 0)?.type;
}

/** The type of a field that is written as `T` or `Arg<T>`, with `undefined` where it may be missing. */
export function writtenFieldType(
  context: HostContext,
  { type: node, questionToken }: ts.PropertyDeclaration | ts.ParameterDeclaration,
): TypeSyntax | undefined {
  const marked = node && argumentOf(context, node);
  const isOptional = questionToken !== undefined;
  if (marked === undefined) return isOptional ? undefined : writtenType(context, node);
  const type = carriedType(context, marked);
  // The mark changes what an alias is, and what is not there.
  if (type === undefined || ts.isTypeReferenceNode(marked) || !isWithoutAbsence(type)) return undefined;
  if (!isOptional) return type;
  const members = type.kind === 'union' ? type.members : [type];
  return { kind: 'union', members: [...members, { kind: 'undefined' }] };
}

/** The type of the value that a function returns, which may be written as a promise of it. */
export function writtenResult(context: HostContext, node: ts.TypeNode | undefined): TypeSyntax | undefined {
  if (node === undefined || !ts.isTypeReferenceNode(node) || node.typeName.getText() !== 'Promise')
    return writtenType(context, node);
  const [value, second] = node.typeArguments ?? [];
  const isOwn =
    ts.isIdentifier(node.typeName) && context.names?.find(node.typeName, 'type')?.kind === 'global';
  return isOwn && second === undefined && value !== undefined ? carriedType(context, value) : undefined;
}

/** The type that another one carries: on the way, types without a name of their own lose the notes of their aliases. */
function carriedType(context: HostContext, node: ts.TypeNode): TypeSyntax | undefined {
  if (context.names === undefined || !isStrict(context)) return undefined;
  const reading = new Reading(context);
  const result = reading.read(node, 0);
  return reading.hasLooseNotes ? undefined : result?.type;
}

/** Without it, nothing is said of `undefined` and `null`. */
function isStrict({ options: { strict, strictNullChecks = strict } }: HostContext): boolean {
  return strictNullChecks === true;
}

function isWithoutAbsence(type: TypeSyntax): boolean {
  const members = type.kind === 'union' ? type.members : [type];
  return members.every(({ kind }) => !['null', 'undefined', 'unknown'].includes(kind));
}

/** `T` of `Arg<T>`. */
function argumentOf({ names }: HostContext, node: ts.TypeNode): ts.TypeNode | undefined {
  if (!ts.isTypeReferenceNode(node) || !ts.isIdentifier(node.typeName)) return undefined;
  const [argument, second] = node.typeArguments ?? [];
  const target = names?.find(node.typeName, 'type');
  const isArg = target?.kind === 'stepwright' && target.name === 'Arg';
  return isArg && second === undefined ? argument : undefined;
}

/** A type, and what tells it from another one. */
interface Read {
  readonly type: TypeSyntax;
  readonly key: string | ts.Node;
  /** Of a union, as they are written. */
  readonly members?: readonly Read[];
}

const KEYWORDS: ReadonlyMap<ts.SyntaxKind, TypeSyntax> = new Map<ts.SyntaxKind, TypeSyntax>([
  [ts.SyntaxKind.StringKeyword, { kind: 'string' }],
  [ts.SyntaxKind.NumberKeyword, { kind: 'number' }],
  [ts.SyntaxKind.BooleanKeyword, { kind: 'boolean' }],
  [ts.SyntaxKind.UndefinedKeyword, { kind: 'undefined' }],
  [ts.SyntaxKind.VoidKeyword, { kind: 'undefined' }],
  [ts.SyntaxKind.UnknownKeyword, { kind: 'unknown' }],
]);

const LISTS: ReadonlySet<string> = new Set(['Array', 'ReadonlyArray']);

class Reading {
  readonly #context: HostContext;
  /** The declarations that are being read: those that contain themselves are left to the compiler. */
  readonly #open = new Set<ts.Node>();
  #parts = 0;
  /** Set where an alias has notes, and its type has no name. */
  hasLooseNotes = false;

  constructor(context: HostContext) {
    this.#context = context;
  }

  read(node: ts.TypeNode, depth: number): Read | undefined {
    this.#parts += 1;
    if (depth > MAX_DEPTH || this.#parts > MAX_PARTS) return undefined;
    const keyword = KEYWORDS.get(node.kind);
    if (keyword !== undefined) return { type: keyword, key: ts.SyntaxKind[node.kind] };
    if (ts.isParenthesizedTypeNode(node)) return this.read(node.type, depth);
    if (ts.isLiteralTypeNode(node)) return readLiteral(node);
    if (ts.isArrayTypeNode(node)) return this.#list(node.elementType, depth);
    if (ts.isTypeOperatorNode(node)) {
      const isReadonly = node.operator === ts.SyntaxKind.ReadonlyKeyword && ts.isArrayTypeNode(node.type);
      return isReadonly ? this.read(node.type, depth) : undefined;
    }
    if (ts.isUnionTypeNode(node)) return this.#union(node, depth);
    if (ts.isTypeLiteralNode(node)) return this.#object(node, node.members, depth);
    return ts.isTypeReferenceNode(node) ? this.#reference(node, depth) : undefined;
  }

  #list(items: ts.TypeNode, depth: number): Read | undefined {
    const reading = this.read(items, depth + 1);
    if (reading === undefined) return undefined;
    // Two lists of one type are one type, but for lists of objects that are written twice.
    const key = typeof reading.key === 'string' ? `${reading.key}[]` : items;
    return { type: { kind: 'array', items: reading.type }, key };
  }

  #union(node: ts.UnionTypeNode, depth: number): Read | undefined {
    const members: Read[] = [];
    const sizes = new Set<number>();
    for (const each of node.types) {
      const reading = this.#carried(each, depth + 1);
      if (reading === undefined || reading.type.kind === 'unknown' || isEmpty(reading.type)) return undefined;
      if (reading.members !== undefined) sizes.add(reading.members.length);
      members.push(...(reading.members ?? [withoutLooseNotes(reading)]));
    }
    const distinct = [...new Map(members.map((member) => [member.key, member])).values()];
    const kinds = new Set<string>(distinct.map(({ type }) => type.kind));
    // `string` contains every text.
    const remaining = distinct.filter(({ type }) => type.kind !== 'literal' || !kinds.has(typeof type.value));
    // It is the type of one of its members, with that one's name.
    if (sizes.has(remaining.length)) return undefined;
    const order: WrittenOrder<string | ts.Node> = {
      // The truth values come behind all others.
      literals: members.flatMap(({ type }) =>
        type.kind === 'literal' && typeof type.value !== 'boolean' ? [type.value] : [],
      ),
      types: members.map(({ key }) => key),
    };
    const type = joinUnion(
      remaining.map((member) => [member.type, member.key] as const),
      order,
    );
    return { type, key: keyOfUnion(node, remaining), members: remaining };
  }

  /** A type whose items do not lose their notes where it is part of another one. */
  #carried(node: ts.TypeNode, depth: number): Read | undefined {
    const before = this.hasLooseNotes;
    this.hasLooseNotes = false;
    const reading = this.read(node, depth);
    const isKept = reading?.type.kind !== 'array' || !this.hasLooseNotes;
    this.hasLooseNotes ||= before;
    return isKept ? reading : undefined;
  }

  #object(node: ts.Node, members: readonly ts.TypeElement[], depth: number): Read | undefined {
    const properties: PropertySyntax[] = [];
    for (const member of members) {
      if (!ts.isPropertySignature(member)) return undefined;
      const property = this.#property(member, depth);
      if (property === undefined) return undefined;
      // `x: undefined`: no JSON has it.
      if (property.type.kind !== 'undefined') properties.push(property);
    }
    const isDistinct = new Set(properties.map(({ name }) => name)).size === properties.length;
    return isDistinct ? { type: { kind: 'object', properties }, key: node } : undefined;
  }

  #property(member: ts.PropertySignature, depth: number): PropertySyntax | undefined {
    const name = propertyName(member.name);
    const reading = member.type && this.read(member.type, depth + 1);
    if (name === undefined || name === '__proto__' || reading === undefined) return undefined;
    const optional = member.questionToken !== undefined;
    const type = optional ? withoutUndefined(reading.type) : reading.type;
    return {
      name,
      optional,
      type: withNotes(type, notesOfDeclarations(this.#context, [member])),
      place: placeOf(this.#context, member.name),
    };
  }

  #reference(node: ts.TypeReferenceNode, depth: number): Read | undefined {
    const { typeName, typeArguments = [] } = node;
    if (!ts.isIdentifier(typeName)) return undefined;
    const target = this.#context.names?.find(typeName, 'type');
    const [given, second] = typeArguments;
    if (target?.kind === 'global') {
      const isList = LISTS.has(typeName.text) && given !== undefined && second === undefined;
      return isList ? this.#list(given, depth) : undefined;
    }
    if (target?.kind !== 'declared' || given !== undefined) return undefined;
    const [declaration, other] = target.declarations;
    if (declaration === undefined || other !== undefined) return undefined;
    return this.#declared(declaration, depth);
  }

  #declared(declaration: ts.Declaration, depth: number): Read | undefined {
    if (!isOfProject(this.#context, declaration.getSourceFile()) || this.#open.has(declaration))
      return undefined;
    this.#open.add(declaration);
    const reading = this.#readDeclared(declaration, depth);
    this.#open.delete(declaration);
    if (reading === undefined) return undefined;
    const notes = notesOfDeclarations(this.#context, [declaration]);
    if (notes !== undefined && reading.type.kind !== 'object' && reading.members === undefined)
      this.hasLooseNotes = true;
    return { ...reading, type: withNotes(reading.type, notes) };
  }

  #readDeclared(declaration: ts.Declaration, depth: number): Read | undefined {
    if (ts.isInterfaceDeclaration(declaration)) {
      const { heritageClauses, typeParameters, members } = declaration;
      if (heritageClauses !== undefined || typeParameters !== undefined) return undefined;
      return this.#object(declaration, members, depth);
    }
    if (!ts.isTypeAliasDeclaration(declaration) || declaration.typeParameters !== undefined) return undefined;
    // Which of two names a type has is for the compiler to say.
    return ts.isTypeReferenceNode(declaration.type) ? undefined : this.#carried(declaration.type, depth);
  }
}

/** Unions of the same members are one type. */
function keyOfUnion(node: ts.Node, members: readonly Read[]): string | ts.Node {
  const keys = members.map(({ key }) => key);
  if (keys.length === 1) return keys[0] ?? node;
  return keys.every((key) => typeof key === 'string') ? `(${keys.sort().join(' | ')})` : node;
}

/** Of two such types in a union the compiler keeps one. */
const isEmpty = (type: TypeSyntax): boolean => type.kind === 'object' && type.properties.length === 0;

/** In a union, only types with a name keep their notes. */
function withoutLooseNotes(reading: Read): Read {
  if (reading.type.kind === 'object') return reading;
  const { notes: _, ...type } = reading.type;
  return { ...reading, type: type as TypeSyntax };
}

function readLiteral({ literal }: ts.LiteralTypeNode): Read | undefined {
  if (literal.kind === ts.SyntaxKind.NullKeyword) return { type: { kind: 'null' }, key: 'null' };
  const value = KEYWORD_VALUES.get(literal.kind) ?? literalOf(literal);
  return value === undefined ? undefined : { type: { kind: 'literal', value }, key: JSON.stringify(value) };
}
