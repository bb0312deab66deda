import { relativePath } from '../../formats/source-record.js';
import { MAX_EXPRESSION_DEPTH } from '../../graph/limits.js';
import { getOrInsert } from '../../graph/maps.js';
import type { SourceLocation, Span } from '../../graph/source-location.js';
import type { VerbCall } from '../syntax.js';
import type { Names } from './names.js';
import type { Compiler, Modules } from './program.js';
import { ts } from './typescript.mjs';

export interface Calls {
  readonly verb?: VerbCall;
  /** The declarations of what else is called, as far as they are functions of the project. */
  readonly functions: readonly ts.Node[];
}

/** What every reader of syntax needs. */
export interface HostContext {
  /** The folder that places are relative to; absolute. */
  readonly root: string;
  readonly options: ts.CompilerOptions;
  readonly modules: Modules;
  /** What names refer to, as far as texts say it. Missing where the compiler is to be asked for everything. */
  readonly names?: Names;
  /** Set where the compiler is asked for the types that its checks of expressions need. */
  readonly isTyped?: true;
  /** The files with conditions whose types were not asked for. */
  readonly untyped: WeakSet<ts.SourceFile>;
  /** What has been found out about nodes so far. */
  readonly known: {
    readonly exports: WeakMap<ts.SourceFile, ReadonlyMap<ts.Node, string>>;
    readonly calls: WeakMap<ts.Node, Calls>;
    /** Paths in places. */
    readonly files: Map<string, string>;
  };
  /** For what texts do not say. It is costly, and made when it is first asked for something. */
  readonly compiler: Compiler;
  /** Set in the arguments of decorators, which name schemas and classes of packages without a use of their types. */
  readonly isOption?: true;
}

/** The path in places: relative to the root, with `/`. */
export function relativeFile(context: HostContext, fileName: string): string {
  const { files } = context.known;
  return getOrInsert(files, fileName, () => relativePath(context.root, fileName));
}

/** Whether a file is a source file under the root and outside `node_modules`. */
export function isOfProject(context: HostContext, { fileName, isDeclarationFile }: ts.SourceFile): boolean {
  const segments = relativeFile(context, fileName).split('/');
  return !isDeclarationFile && segments[0] !== '..' && !segments.includes('node_modules');
}

/** The place of a node, without the comments before it. */
export function placeOf(context: HostContext, node: ts.Node): SourceLocation {
  const source = node.getSourceFile();
  return placeBetween(context, source, node.getStart(source), node.getEnd());
}

/** The place of an offset range; both in UTF-16 code units from the start of the file. */
export function placeBetween(
  context: HostContext,
  source: ts.SourceFile,
  start: number,
  end: number,
): SourceLocation {
  return { file: relativeFile(context, source.fileName), span: spanOf(source, start, end) };
}

export function spanOf(source: ts.SourceFile, start: number, end: number): Span {
  const from = source.getLineAndCharacterOfPosition(start);
  const to = source.getLineAndCharacterOfPosition(end);
  return [from.line + 1, from.character + 1, to.line + 1, to.character + 1];
}

/** Maximum depth of syntax: the compiler and its readers recurse, and deeper syntax overflows the stack. */
export const MAX_SYNTAX_DEPTH = 500;

/** A range of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds syntax nested deeper than {@link MAX_SYNTAX_DEPTH}. Without any, all nodes know their parents.
 *
 * @param parse - parses the text, without parents; may overflow the stack.
 * @returns the first part that is too deep, if there is one.
 */
export function findDeepSyntax(text: string, parse: () => ts.SourceFile): TextRange | undefined {
  let source: ts.SourceFile;
  try {
    source = parse();
  } catch (error) {
    if (error instanceof RangeError) return deepestToken(text);
    throw error;
  }
  if (!setParents(source)) return undefined;
  const [deep] = deeperThan(source, MAX_SYNTAX_DEPTH, levelOfSyntax);
  return deep && { start: deep.getStart(source), end: deep.getEnd() };
}

/** The depth of comments, which are part of no expression: no text is long enough to make it a positive one. */
const OF_COMMENTS = -1_000_000_000;

/** The files in which no expression can be too deep for the evaluator. */
const shallow = new WeakSet<ts.SourceFile>();

/**
 * Sets the parent of each node. The compiler would do so in a walk of its own.
 *
 * @returns whether there is syntax deeper than {@link MAX_SYNTAX_DEPTH}.
 */
function setParents(source: ts.SourceFile): boolean {
  const nodes: ts.Node[] = [source];
  /** By {@link levelOfSyntax}, and as nodes above the node. */
  const depths = [0];
  const heights = [0];
  let parent: ts.Node = source;
  let depth = 0;
  let height = 0;
  let left: ts.Node | undefined;
  let deepest = 0;
  let highest = 0;
  const add = (child: ts.Node): void => {
    (child as { parent: ts.Node }).parent = parent;
    nodes.push(child);
    depths.push(child === left ? depth : depth + 1);
    heights.push(height + 1);
  };
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    parent = node;
    depth = depths.pop() as number;
    height = heights.pop() as number;
    if (depth > deepest) deepest = depth;
    if (height > highest) highest = height;
    left = chainedIn(node);
    ts.forEachChild(node, add);
    depth = OF_COMMENTS;
    height = OF_COMMENTS;
    for (const comment of (node as { readonly jsDoc?: readonly ts.Node[] }).jsDoc ?? []) add(comment);
  }
  if (highest <= MAX_READ_DEPTH) shallow.add(source);
  return deepest > MAX_SYNTAX_DEPTH;
}

/** Visits a node and, without recursion, the nodes that `visit` returns for it. The order is unspecified. */
export function eachNode(root: ts.Node, visit: (node: ts.Node) => readonly ts.Node[]): void {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of visit(node)) open.push(next);
  }
}

/** The direct children of a node, in source order. */
export function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}

/** The parts of expressions that are too deep for the evaluator, each with the first such part of its expression. */
const deepParts = new WeakMap<ts.Node, ts.Node>();

/** How deep an expression may be to be read. */
const MAX_READ_DEPTH = 2 * MAX_EXPRESSION_DEPTH;

/** Marks the parts of an expression that are too deep to be read. The depth of the rest is checked in the graph. */
export function markDeepParts(expression: ts.Expression): void {
  if (shallow.has(expression.getSourceFile())) return;
  const parts = deeperThan(expression, MAX_READ_DEPTH, levelOfExpression);
  for (const part of parts) deepParts.set(part, parts[0] ?? part);
}

/** The node at which the expression of a marked part becomes too deep: the same for all parts of one expression. */
export function deepPartOf(node: ts.Expression): ts.Node | undefined {
  return deepParts.get(node);
}

/** The outermost nodes deeper than the limit, in source order. */
function deeperThan(
  root: ts.Node,
  limit: number,
  levelOf: (child: ts.Node, parent: ts.Node) => number,
): readonly ts.Node[] {
  const results: ts.Node[] = [];
  const open: [node: ts.Node, depth: number][] = [[root, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next;
    if (depth > limit) {
      results.push(node);
      continue;
    }
    for (const child of childrenOf(node).toReversed()) open.push([child, depth + levelOf(child, node)]);
  }
  return results;
}

function levelOfSyntax(child: ts.Node, parent: ts.Node): number {
  return chainedIn(parent) === child ? 0 : 1;
}

/** The compiler follows the left operands of a chain, `a + b + c`, without recursion, but for logical operators. */
function chainedIn(node: ts.Node): ts.Node | undefined {
  return ts.isBinaryExpression(node) && !LOGICAL.has(node.operatorToken.kind) ? node.left : undefined;
}

const LOGICAL: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Syntax that becomes part of one reference, or that is erased, adds no level to an expression. */
function levelOfExpression(child: ts.Node): number {
  const isFree =
    ts.isParenthesizedExpression(child) ||
    ts.isPropertyAccessExpression(child) ||
    ts.isElementAccessExpression(child) ||
    ts.isAsExpression(child) ||
    ts.isNonNullExpression(child) ||
    ts.isPropertyAssignment(child);
  return isFree ? 0 : 1;
}

/** The first token that is too deep in a text that cannot be parsed, by counting brackets; else its start. */
function deepestToken(text: string): TextRange {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  let depth = 0;
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan()) {
    if (OPENING.has(token)) depth += 1;
    else if (CLOSING.has(token)) depth -= 1;
    else if (token === ts.SyntaxKind.SemicolonToken) depth = 0;
    if (depth > MAX_SYNTAX_DEPTH) return { start: scanner.getTokenStart(), end: scanner.getTokenEnd() };
  }
  return { start: 0, end: 0 };
}

const OPENING: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.OpenParenToken,
  ts.SyntaxKind.OpenBracketToken,
  ts.SyntaxKind.OpenBraceToken,
  ts.SyntaxKind.QuestionToken,
]);

const CLOSING: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.CloseParenToken,
  ts.SyntaxKind.CloseBracketToken,
  ts.SyntaxKind.CloseBraceToken,
]);

/** The literals that are keywords. */
export const KEYWORD_VALUES: ReadonlyMap<ts.SyntaxKind, boolean | null> = new Map([
  [ts.SyntaxKind.NullKeyword, null],
  [ts.SyntaxKind.TrueKeyword, true],
  [ts.SyntaxKind.FalseKeyword, false],
]);

/** A name that is known without running code. */
export function propertyName(name: ts.PropertyName): string | undefined {
  if (ts.isMemberName(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
  if (ts.isComputedPropertyName(name) && ts.isStringLiteralLike(name.expression)) return name.expression.text;
  return undefined;
}
