import ts from 'typescript';
import { isTest, parse, type SourceText } from './source-files.js';

/** No file is longer: a reader holds one file in mind. */
export const MAX_LINES = 600;

/** What breaks the house rules on the form of a file, as `file:line: sentence`. */
export function shapeFaults(source: SourceText): string[] {
  const tree = parse(source);
  const faults: string[] = [];
  const report = (node: ts.Node, sentence: string): void => {
    faults.push(
      `${source.file}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}: ${sentence}`,
    );
  };
  const visit = (node: ts.Node): void => {
    if (isDefaultExport(node)) report(node, 'a default export has no name of its own');
    else if (ts.isEnumDeclaration(node)) report(node, 'an enum is no plain type: use a union of literals');
    else if (ts.isModuleDeclaration(node) && node.body !== undefined && ts.isIdentifier(node.name)) {
      report(node, 'a namespace is no module');
    } else if (
      ts.isClassDeclaration(node) &&
      /(Manager|Helper|Util|Utils|Data)$/.test(node.name?.text ?? '')
    ) {
      report(node, `\`${node.name?.text}\` does not say what it is`);
    } else if (
      source.file.startsWith('src/runtime/') &&
      !isTest(source.file) &&
      isFunctionForProperty(node)
    ) {
      report(
        node,
        'a function literal assigned to a property outlives its object: name it in a constant first',
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  const lines = source.text.split('\n').length - 1;
  if (lines > MAX_LINES) faults.push(`${source.file}: ${lines} lines, more than ${MAX_LINES}`);
  return faults;
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some((m) => m.kind === ts.SyntaxKind.DefaultKeyword)
  );
}

/**
 * V8 allocates the function of `x.y = () => {}` among old objects, as if `x` were a prototype. All that it refers to
 * survives until the next major garbage collection: of each request, the whole run.
 */
function isFunctionForProperty(node: ts.Node): boolean {
  return (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
    ts.isPropertyAccessExpression(node.left) &&
    (ts.isArrowFunction(node.right) || ts.isFunctionExpression(node.right))
  );
}
