import type { IgnoreSyntax } from '../syntax.js';
import { eachNode, type HostContext, placeBetween } from './ast.js';
import { ts } from './typescript.mjs';

const MARK = 'stepwright-ignore';

/** The comments of a file that silence diagnostics, in written order. */
export function readIgnores(context: HostContext, source: ts.SourceFile): IgnoreSyntax[] {
  const { text } = source;
  if (!text.includes(MARK)) return [];
  const found = new Map<number, IgnoreSyntax>();
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const add = ({ pos, end }: ts.CommentRange, lines: IgnoreSyntax['lines']): void => {
    const rest = textAfterMark(text.slice(pos, end));
    if (rest === undefined || found.has(pos)) return;
    found.set(pos, { place: placeBetween(context, source, pos, end), text: rest, lines });
  };
  eachNode(source, (node) => {
    const children = node.getChildren(source);
    // Comments belong to tokens: the same text in a string or a template is not a comment.
    if (children.length === 0 && node.kind !== ts.SyntaxKind.JsxText) {
      const own = lineOf(node.getStart(source));
      for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) {
        const line = lineOf(range.pos);
        add(range, [line, opensNextLine(text, range.pos) ? line + 1 : line]);
      }
      for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
        const line = lineOf(range.pos);
        add(range, line === own ? [own, own] : [own, Math.max(own, lineOf(nameStart(node, source)))]);
      }
    }
    return children;
  });
  return [...found].sort(([a], [b]) => a - b).map(([, ignore]) => ignore);
}

/** Formatters put the comment above an arm of a condition behind its `?` or `:`. */
function opensNextLine(text: string, comment: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', comment) + 1, comment).trim();
  return line === '?' || line === ':';
}

/** The text after the mark in a comment that begins with it. */
function textAfterMark(comment: string): string | undefined {
  const inner = comment.replace(/^\/[/*]|\*\/$/g, '').trim();
  if (!inner.startsWith(MARK) || /^[\w-]/.test(inner.slice(MARK.length))) return undefined;
  return inner.slice(MARK.length).trim();
}

/** A comment above the decorators of a class or member applies down to the line of its name. */
function nameStart(token: ts.Node, source: ts.SourceFile): number {
  const start = token.getStart(source);
  let name = start;
  for (let node = token.parent; node !== undefined && node.getStart(source) === start; node = node.parent) {
    if ((ts.isClassElement(node) || ts.isClassLike(node)) && node.name !== undefined) {
      name = node.name.getStart(source);
    }
  }
  return name;
}
