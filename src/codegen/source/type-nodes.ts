import { compareText } from '../../graph/names.js';
import { type TypeNotes, type TypeSyntax, type TypeTag, withNotes } from '../syntax.js';
import { type HostContext, isOfProject, placeBetween } from './ast.js';
import { enumValue } from './constants.js';
import { isOfPackage } from './imports.js';
import { ts } from './typescript.mjs';

/** Joins `true | false` to boolean, and sorts the members by source order: the compiler's depends on other files. */
export function joinUnion<Key>(
  members: readonly (readonly [TypeSyntax, Key])[],
  order: WrittenOrder<Key>,
): TypeSyntax {
  const flat = members.flatMap(([member, type]) =>
    member.kind === 'union' ? member.members.map((inner) => ({ member: inner, type })) : [{ member, type }],
  );
  const literals = flat.flatMap(({ member }) => (member.kind === 'literal' ? [member.value] : []));
  const isBoolean = literals.includes(true) && literals.includes(false);
  const remaining = [...new Set(literals)].filter((value) => !isBoolean || typeof value !== 'boolean');
  remaining.sort((a, b) => rankIn(order.literals, a) - rankIn(order.literals, b) || compareLiterals(a, b));
  const others = flat
    .filter(({ member }) => member.kind !== 'literal')
    .sort(
      (a, b) =>
        rankIn(order.types, a.type) - rankIn(order.types, b.type) ||
        compareText(JSON.stringify(a.member), JSON.stringify(b.member)),
    );
  const joined: TypeSyntax[] = [
    ...others.map(({ member }) => member),
    ...(isBoolean ? [{ kind: 'boolean' } as const] : []),
    ...remaining.map((value) => ({ kind: 'literal', value }) as const),
  ];
  joined.sort((a, b) => kindRank(a) - kindRank(b));
  const [only] = joined;
  return only !== undefined && joined.length === 1 ? only : { kind: 'union', members: joined };
}

function compareLiterals(a: Literal, b: Literal): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareText(String(a), String(b));
}

const KIND_ORDER: readonly TypeSyntax['kind'][] = [
  'literal',
  'template',
  'string',
  'number',
  'boolean',
  'array',
  'tuple',
  'object',
  'record',
  'recursive',
  'ref',
  'unknown',
  'other',
  'null',
  'undefined',
];

/** The order of members of different kinds: short ones first, absent values last. */
function kindRank(type: TypeSyntax): number {
  return KIND_ORDER.indexOf(type.kind);
}

type Literal = string | number | boolean;

/** The members of unions in source order; the compiler's own order depends on the types it has created before. */
export interface WrittenOrder<Key = ts.Type> {
  readonly literals: readonly Literal[];
  readonly types: readonly Key[];
}

/** Reads the order from a type node, through aliases and enumerations. The first occurrence counts. */
export function writtenOrder(context: HostContext, written: ts.TypeNode): WrittenOrder {
  const literals: Literal[] = [];
  const types: ts.Type[] = [];
  const visited = new Set<ts.Node>();
  const visit = (node: ts.Node): void => {
    if (visited.has(node)) return;
    visited.add(node);
    if (ts.isLiteralTypeNode(node)) {
      const value = literalOf(node.literal);
      if (value !== undefined) literals.push(value);
    } else if (ts.isTypeReferenceNode(node)) {
      types.push(context.compiler.checker.getTypeFromTypeNode(node));
      node.typeArguments?.forEach(visit);
      for (const declaration of declarationsOf(context, node)) {
        if (ts.isTypeAliasDeclaration(declaration)) visit(declaration.type);
        if (ts.isEnumDeclaration(declaration))
          literals.push(...declaration.members.flatMap((member) => enumValue(context, member) ?? []));
      }
    } else {
      if (ts.isTypeNode(node)) types.push(context.compiler.checker.getTypeFromTypeNode(node));
      ts.forEachChild(node, visit);
    }
  };
  visit(written);
  return { literals, types };
}

/** The index of a value in an order; values that are not in it come last. */
export function rankIn<T>(order: readonly T[], value: T): number {
  const index = order.indexOf(value);
  return index === -1 ? order.length : index;
}

/** The value of a literal type that is a text or a number. */
export function literalOf(node: ts.LiteralTypeNode['literal']): Literal | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isPrefixUnaryExpression(node) && ts.isNumericLiteral(node.operand))
    return -Number(node.operand.text);
  return undefined;
}

/** The declarations that a name in a type refers to, through imports. */
function declarationsOf(
  { compiler: { checker } }: HostContext,
  node: ts.TypeReferenceNode,
): readonly ts.Declaration[] {
  let symbol = checker.getSymbolAtLocation(node.typeName);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol?.declarations ?? [];
}

export function notesOfSymbol(context: HostContext, property: ts.Symbol): TypeNotes | undefined {
  return notesOfDeclarations(context, property.declarations ?? []);
}

/** The JSDoc of a named type; undefined for types of the standard library. */
export function notesOfType(context: HostContext, type: ts.Type): TypeNotes | undefined {
  const symbol = type.aliasSymbol ?? (type.isIntersection() ? undefined : type.symbol);
  return notesOfDeclarations(context, (symbol?.declarations ?? []).filter(isTypeDeclaration));
}

/** The JSDoc of an alias in a type node: the type of `type Email = string` has lost the name. */
export function notesOfNode(context: HostContext, node: ts.TypeNode | undefined): TypeNotes | undefined {
  if (node === undefined) return undefined;
  if (ts.isParenthesizedTypeNode(node)) return notesOfNode(context, node.type);
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const aliases = declarationsOf(context, node).filter(ts.isTypeAliasDeclaration);
  return notesOfDeclarations(context, aliases);
}

function isTypeDeclaration(node: ts.Declaration): boolean {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isEnumDeclaration(node)
  );
}

/** The notes of several declarations; the first declaration of a note wins. */
export function notesOfDeclarations(
  context: HostContext,
  declarations: readonly ts.Declaration[],
): TypeNotes | undefined {
  let notes: TypeNotes | undefined;
  for (const declaration of declarations) {
    if (isForeign(context, declaration)) continue;
    const own = notesOfDeclaration(context, declaration);
    if (own !== undefined) notes = withNotes({ kind: 'unknown', notes: own }, notes).notes;
  }
  return notes;
}

/** Whether a declaration is of a library: the JSDoc of `Partial<…>` or `Arg<…>` does not describe the author's type. */
function isForeign(context: HostContext, declaration: ts.Declaration): boolean {
  const source = declaration.getSourceFile();
  if (isOfProject(context, source)) return isOfPackage(source.fileName);
  const { program } = context.compiler;
  if (program.isSourceFileDefaultLibrary(source) || isOfPackage(source.fileName)) return true;
  const isGeneric = ts.isTypeAliasDeclaration(declaration) && declaration.typeParameters !== undefined;
  return isGeneric && program.isSourceFileFromExternalLibrary(source);
}

function notesOfDeclaration(context: HostContext, declaration: ts.Declaration): TypeNotes | undefined {
  const attached = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc).at(-1);
  const result: ReadComment | undefined =
    attached === undefined ? commentOnTheLine(declaration) : { comment: attached, offset: 0 };
  if (result === undefined) return undefined;
  const { comment, offset } = result;
  const source = declaration.getSourceFile();
  const text = textOf(comment);
  const tags = (comment.tags ?? []).map(
    (tag): TypeTag => ({
      name: tag.tagName.text,
      text: textOf(tag),
      place: placeBetween(context, source, tag.pos + offset, tag.end + offset),
    }),
  );
  if (text === '' && tags.length === 0) return undefined;
  return { ...(text === '' ? {} : { description: text }), tags };
}

/** The line ends are those of the checkout. */
function textOf({ comment }: ts.JSDoc | ts.JSDocTag): string {
  return (ts.getTextOfJSDocComment(comment) ?? '').replaceAll('\r\n', '\n').trim();
}

interface ReadComment {
  readonly comment: ts.JSDoc;
  /** From positions in the comment to those in the declaration's file. */
  readonly offset: number;
}

/** `{ /** … *\/ a: string }`: the compiler attaches no comment that follows something on its line. */
function commentOnTheLine(declaration: ts.Declaration): ReadComment | undefined {
  if (!ts.isPropertySignature(declaration) && !ts.isPropertyDeclaration(declaration)) return undefined;
  const { text } = declaration.getSourceFile();
  const ranges = ts.getTrailingCommentRanges(text, declaration.pos) ?? [];
  const range = ranges.filter(({ pos }) => text.startsWith('/**', pos)).at(-1);
  if (range === undefined) return undefined;
  const before = 'interface I {\n';
  const source = ts.createSourceFile(
    'comment.ts',
    `${before}${text.slice(range.pos, range.end)}\na: 1 }`,
    ts.ScriptTarget.Latest,
    true,
  );
  const [statement] = source.statements;
  const member = statement && ts.isInterfaceDeclaration(statement) ? statement.members[0] : undefined;
  const comment = member && ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc).at(-1);
  return comment && { comment, offset: range.pos - before.length };
}
