import { createHash } from 'node:crypto';
import { PACKAGE } from './names.js';
import { ts } from './typescript.mjs';

/** The classes whose texts and methods no other file reads. The address and the texts of a resource are parts of links. */
const CLOSED: ReadonlySet<string> = new Set(['Tool', 'Workflow']);

/** The options of their decorators that only the class itself has a use for. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description']);

/** What has no place that a diagnostic or a graph could name. */
const CLOSING = /^[\s)\]},;]*$/;

/** A range of a text that other files cannot read. */
interface Hidden {
  readonly start: number;
  readonly end: number;
  /** Whether what comes behind it has places that other files read. */
  readonly isPlaced: boolean;
}

/**
 * Hashes what other files can read of a file without asking the compiler: its text without the bodies of methods of
 * tools and workflows and without their titles and descriptions, with the places of what comes behind them.
 */
export function surfaceOf(source: ts.SourceFile): string {
  const { text } = source;
  const hash = createHash('sha256');
  let position = 0;
  for (const { start, end, isPlaced } of hiddenIn(source)) {
    hash.update(`${start - position}\0${text.slice(position, start)}\0`);
    position = end;
    if (isPlaced && !CLOSING.test(text.slice(end))) hash.update(placeBehind(source, end));
  }
  return hash.update(text.slice(position)).digest('hex');
}

function placeBehind(source: ts.SourceFile, end: number): string {
  const { line, character } = source.getLineAndCharacterOfPosition(end);
  const [rest = ''] = source.text.slice(end).split('\n', 1);
  return CLOSING.test(rest) ? `${line}\0` : `${line} ${character}\0`;
}

/** In the order of the text. Nothing in a file with a syntax error: where its parts end is not known. */
function hiddenIn(source: ts.SourceFile): readonly Hidden[] {
  const { parseDiagnostics } = source as unknown as { readonly parseDiagnostics: readonly unknown[] };
  const names = importedNames(source);
  if (names.size === 0 || parseDiagnostics.length > 0) return [];
  return source.statements.flatMap((statement) =>
    ts.isClassDeclaration(statement) ? ofClass(source, statement, names) : [],
  );
}

function ofClass(source: ts.SourceFile, node: ts.ClassDeclaration, names: ReadonlySet<string>): Hidden[] {
  const decorators = (ts.getDecorators(node) ?? []).filter(({ expression }) => isNamed(expression, names));
  if (decorators.length === 0) return [];
  const texts = decorators.flatMap((decorator): Hidden[] => [
    ...textsIn(decorator).map((each) => inside(source, each, false)),
    { start: decorator.end, end: decorator.end, isPlaced: true },
  ]);
  const bodies = node.members.flatMap((member) =>
    ts.isMethodDeclaration(member) && member.body !== undefined ? inside(source, member.body, true) : [],
  );
  return [...texts, ...bodies];
}

function isNamed(expression: ts.Expression, names: ReadonlySet<string>): boolean {
  return (
    ts.isCallExpression(expression) &&
    ts.isIdentifier(expression.expression) &&
    names.has(expression.expression.text)
  );
}

function textsIn({ expression }: ts.Decorator): readonly ts.Expression[] {
  const [options] = ts.isCallExpression(expression) ? expression.arguments : [];
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return [];
  return options.properties.flatMap((property) => {
    const isText =
      ts.isPropertyAssignment(property) &&
      ts.isIdentifier(property.name) &&
      TEXTS.has(property.name.text) &&
      ts.isStringLiteralLike(property.initializer);
    return isText ? property.initializer : [];
  });
}

/** What is between the quotation marks of a text, or the braces of a block. */
function inside(source: ts.SourceFile, node: ts.Node, isPlaced: boolean): Hidden {
  return { start: node.getStart(source) + 1, end: node.end - 1, isPlaced };
}

/** The decorators of such classes that a file imports by their own names. */
function importedNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (statement.moduleSpecifier.text !== PACKAGE || bindings === undefined) continue;
    if (!ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName } of bindings.elements)
      if (propertyName === undefined && CLOSED.has(name.text)) names.add(name.text);
  }
  return names;
}
