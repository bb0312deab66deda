import { ts } from 'ts-morph';
import type { TypeNotes, TypeTag } from '../syntax.js';
import { withNotes } from '../type-syntax.js';
import { type HostContext, placeBetween } from './context.js';
import { isOurs } from './imports.js';
import { declarationsOf } from './type-union.js';

/** What the JSDoc of a property says. */
export function notesOfSymbol(context: HostContext, property: ts.Symbol): TypeNotes | undefined {
  return notesOfDeclarations(context, property.declarations ?? []);
}

/** What the JSDoc of a named type says; nothing for the language's own. */
export function notesOfType(context: HostContext, type: ts.Type): TypeNotes | undefined {
  const symbol = type.aliasSymbol ?? (type.isIntersection() ? undefined : type.symbol);
  return notesOfDeclarations(context, (symbol?.declarations ?? []).filter(isTypeDeclaration));
}

/** What the JSDoc of an alias says that is written here: of `type Email = string` the type itself has lost the name. */
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

/** The first declaration wins where several say the same. */
function notesOfDeclarations(
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

/** Every `Partial<…>`, `Arg<…>` and `Simplify<…>` would bring the words of the library that it comes from. */
function isForeign({ program }: HostContext, declaration: ts.Declaration): boolean {
  const source = declaration.getSourceFile();
  if (program.isSourceFileDefaultLibrary(source) || isOurs(source.fileName)) return true;
  const isGeneric = ts.isTypeAliasDeclaration(declaration) && declaration.typeParameters !== undefined;
  return isGeneric && program.isSourceFileFromExternalLibrary(source);
}

function notesOfDeclaration(context: HostContext, declaration: ts.Declaration): TypeNotes | undefined {
  const attached = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc).at(-1);
  const found: ReadComment | undefined =
    attached === undefined ? commentOnTheLine(declaration) : { comment: attached, offset: 0 };
  if (found === undefined) return undefined;
  const { comment, offset } = found;
  const source = declaration.getSourceFile();
  const text = ts.getTextOfJSDocComment(comment.comment)?.trim() ?? '';
  const tags = (comment.tags ?? []).map(
    (tag): TypeTag => ({
      name: tag.tagName.text,
      text: ts.getTextOfJSDocComment(tag.comment)?.trim() ?? '',
      place: placeBetween(context, source, tag.pos + offset, tag.end + offset),
    }),
  );
  if (text === '' && tags.length === 0) return undefined;
  return { ...(text === '' ? {} : { description: text }), tags };
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
