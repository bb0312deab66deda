import ts from 'typescript';
import { isTest, parse, type SourceText } from './source-files.js';

/** No file is longer: a reader holds one file in mind. */
export const MAX_LINES = 600;

/** What breaks the house rules on the form of a file, as `file:line: sentence`. The linter knows the other rules. */
export function shapeFaults(source: SourceText): string[] {
  const lines = source.text.split('\n').length - 1;
  return [
    ...(lines > MAX_LINES ? [`${source.file}: ${lines} lines, more than ${MAX_LINES}`] : []),
    ...vagueNames(source),
    ...(source.file.startsWith('src/runtime/') && !isTest(source.file) ? functionsForProperties(source) : []),
  ];
}

function vagueNames({ file, text }: SourceText): string[] {
  return [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+(?:Manager|Helper|Utils?|Data))\b/gm)].map(
    ({ 1: name, index }) =>
      `${file}:${text.slice(0, index).split('\n').length}: \`${name}\` does not say what it is`,
  );
}

function functionsForProperties(source: SourceText): string[] {
  const tree = parse(source);
  const faults: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isFunctionForProperty(node)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      faults.push(
        `${source.file}:${line + 1}: a function literal assigned to a property outlives its object: name it in a constant first`,
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return faults;
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
