import { ts } from 'ts-morph';
import type { FunctionSymbol, SymbolSyntax } from '../syntax.js';
import { type HostContext, isOfProject, placeOf, relativeFile } from './context.js';
import { exportNames } from './exports.js';
import { verbCalledIn } from './verb-calls.js';

type Written = ts.FunctionDeclaration | ts.FunctionExpression | ts.ArrowFunction;

/** What a declaration means where it is a function, or a constant that can be called; nothing for any other. */
export function functionSymbol(
  context: HostContext,
  declarations: readonly ts.Declaration[],
  name: string,
): SymbolSyntax | undefined {
  const [first] = declarations;
  if (first === undefined || context.program.isSourceFileDefaultLibrary(first.getSourceFile()))
    return undefined;
  // Of overloads, the declaration with the body is the function.
  const declaration =
    declarations.find((each) => ts.isFunctionDeclaration(each) && each.body !== undefined) ?? first;
  const written = writtenFunction(declaration);
  if (written === undefined && !isCallable(context, declaration)) return undefined;
  const nameNode = ts.getNameOfDeclaration(declaration);
  const ownName = nameNode !== undefined && ts.isIdentifier(nameNode) ? nameNode.text : undefined;
  const exportName = exportNames(context, declaration.getSourceFile()).get(declaration);
  const why = whyNot(context, declaration, written, exportName, ownName);
  const isOwn = isOfProject(context, declaration.getSourceFile());
  const verb = written === undefined || !isOwn ? undefined : verbCalledIn(context, written);
  const symbol: FunctionSymbol = {
    kind: 'function',
    name: ownName ?? name,
    file: relativeFile(context, declaration.getSourceFile().fileName),
    place: placeOf(context, nameNode ?? declaration),
    ...(exportName === undefined ? {} : { exportName }),
    source: (written ?? declaration).getText().replaceAll('\r\n', '\n'),
    ...(why === undefined ? {} : { why }),
    ...(verb === undefined ? {} : { verb }),
  };
  return symbol;
}

/** The function a declaration writes out. */
function writtenFunction(declaration: ts.Declaration): Written | undefined {
  if (ts.isFunctionDeclaration(declaration)) return declaration;
  if (ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined)
    return asFunction(declaration.initializer);
  return ts.isExportAssignment(declaration) ? asFunction(declaration.expression) : undefined;
}

function asFunction(node: ts.Expression): ts.FunctionExpression | ts.ArrowFunction | undefined {
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return node;
  const isWrapped =
    ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node);
  return isWrapped ? asFunction(node.expression) : undefined;
}

function isCallable({ checker }: HostContext, declaration: ts.Declaration): boolean {
  if (!ts.isVariableDeclaration(declaration) && !ts.isExportAssignment(declaration)) return false;
  return checker.getTypeAtLocation(declaration).getCallSignatures().length > 0;
}

/** Why a registry cannot import the function, or a workflow cannot call it, as the end of a sentence. */
function whyNot(
  context: HostContext,
  declaration: ts.Declaration,
  written: Written | undefined,
  exportName: string | undefined,
  ownName: string | undefined,
): string | undefined {
  if (!isOfProject(context, declaration.getSourceFile())) return 'its source is not part of the project';
  if (!isTopLevel(declaration)) return 'it does not stand at the top level of its module';
  if (exportName === undefined) return 'its module does not export it';
  if (exportName === 'default' && ownName === undefined) return 'it has no name';
  if (written === undefined || written.body === undefined) return 'it is not written out as a function';
  if (ts.isVariableDeclaration(declaration) && !(ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const))
    return 'it is not declared with `const`';
  if (written.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword)) return 'it is asynchronous';
  if (written.asteriskToken !== undefined) return 'it is a generator';
  return returnsPromise(context, written) ? 'it returns a promise' : undefined;
}

function returnsPromise({ checker }: HostContext, written: Written): boolean {
  const signature = checker.getSignatureFromDeclaration(written);
  if (signature === undefined) return false;
  const type = checker.getReturnTypeOfSignature(signature);
  return (type.isUnion() ? type.types : [type]).some((part) => {
    const then = checker.getPropertyOfType(part, 'then');
    return (
      then !== undefined && checker.getTypeOfSymbolAtLocation(then, written).getCallSignatures().length > 0
    );
  });
}

function isTopLevel(declaration: ts.Declaration): boolean {
  const statement = ts.findAncestor(declaration, ts.isStatement) ?? declaration;
  return ts.isSourceFile(statement.parent);
}
