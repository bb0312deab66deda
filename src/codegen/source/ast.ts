import path from 'node:path';
import { MAX_EXPRESSION_DEPTH } from '../../graph/limits.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { VerbCall } from '../syntax.js';
import type { Modules } from './modules.js';
import type { Names } from './names.js';
import type { Compiler } from './program.js';
import { ts } from './typescript.mjs';

/** What a function calls. */
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
  /** Keeps the names of constants: set in the arguments of decorators, which run when the class is defined. */
  readonly keepsNames?: true;
}

/** The path in places: relative to the root, with `/`. */
export function relativeFile(context: HostContext, fileName: string): string {
  const { files } = context.known;
  const known = files.get(fileName);
  if (known !== undefined) return known;
  const file = path.relative(context.root, fileName).split(path.sep).join('/');
  files.set(fileName, file);
  return file;
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
  const from = source.getLineAndCharacterOfPosition(start);
  const to = source.getLineAndCharacterOfPosition(end);
  return {
    file: relativeFile(context, source.fileName),
    span: [from.line + 1, from.character + 1, to.line + 1, to.character + 1],
  };
}

/** Maximum depth of syntax: the compiler and its readers recurse, and deeper syntax overflows the stack. */
export const MAX_SYNTAX_DEPTH = 500;

/** A range of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds syntax nested deeper than {@link MAX_SYNTAX_DEPTH}.
 *
 * @param parse - parses the text; may overflow the stack.
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
  const [deep] = deeperThan(source, MAX_SYNTAX_DEPTH, levelOfSyntax);
  return deep && { start: deep.getStart(source), end: deep.getEnd() };
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

/** Marks the parts of an expression that are too deep to be read. The depth of the rest is checked in the graph. */
export function markDeepParts(expression: ts.Expression): void {
  const parts = deeperThan(expression, 2 * MAX_EXPRESSION_DEPTH, levelOfExpression);
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
  if (!isDeeper(root, limit, levelOf)) return [];
  const found: ts.Node[] = [];
  const open: [node: ts.Node, depth: number][] = [[root, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next;
    if (depth > limit) {
      found.push(node);
      continue;
    }
    for (const child of childrenOf(node).toReversed()) open.push([child, depth + levelOf(child, node)]);
  }
  return found;
}

/** Whether there are any: of nearly all syntax it is asked, and none is. */
function isDeeper(
  root: ts.Node,
  limit: number,
  levelOf: (child: ts.Node, parent: ts.Node) => number,
): boolean {
  const nodes = [root];
  const depths = [0];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const depth = depths.pop() as number;
    if (depth > limit) return true;
    const parent = node;
    ts.forEachChild(parent, (child) => {
      nodes.push(child);
      depths.push(depth + levelOf(child, parent));
    });
  }
  return false;
}

/** The compiler follows the left operands of a chain, `a + b + c`, without recursion, but for logical operators. */
function levelOfSyntax(child: ts.Node, parent: ts.Node): number {
  const isChain =
    ts.isBinaryExpression(parent) && parent.left === child && !LOGICAL.has(parent.operatorToken.kind);
  return isChain ? 0 : 1;
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
