import ts from 'typescript';
import { parse, type SourceText } from '../../test/structure/source-files.js';

/** Words that say what happened to a thing instead of what it is. */
const PARTICIPLES = new Set(
  'found known given left told meant noted begun kept made taken seen done lost held sent read written'.split(
    ' ',
  ),
);

/** Established terms, at most ten. */
const EXCEPTIONS: readonly { readonly name: string; readonly isMeant: (node: ts.Node) => boolean }[] = [
  // The verb of a function that reads.
  { name: 'read', isMeant: isFunction },
  // The end of an iterator, as the language names it.
  { name: 'done', isMeant: (node) => ts.isPropertySignature(node) || ts.isBindingElement(node) },
  // The first operand, beside a `right` one.
  { name: 'left', isMeant: isBesideRight },
];

/** A declared name, with its place. */
interface Name {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly isParticiple: boolean;
}

/** Every name that a file declares: of variables, parameters, properties, functions and types. */
export function declaredNames(source: SourceText): Name[] {
  const tree = parse(source);
  const names: Name[] = [];
  const visit = (node: ts.Node): void => {
    const name = declaredName(node);
    if (name !== undefined) {
      names.push({
        name: name.text,
        file: source.file,
        line: tree.getLineAndCharacterOfPosition(name.getStart(tree)).line + 1,
        isParticiple: isParticiple(name.text, node),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return names;
}

function declaredName(node: ts.Node): ts.Identifier | undefined {
  const declares =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isAccessor(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeParameterDeclaration(node);
  return declares && node.name !== undefined && ts.isIdentifier(node.name) ? node.name : undefined;
}

function isParticiple(name: string, node: ts.Node): boolean {
  const words = name.split(/(?=[A-Z])|[_\d$]+/).filter((word) => word !== '');
  if (!PARTICIPLES.has(words.at(-1)?.toLowerCase() ?? '')) return false;
  return !EXCEPTIONS.some((exception) => exception.name === name && exception.isMeant(node));
}

function isBesideRight(node: ts.Node): boolean {
  const around = ts.findAncestor(
    node.parent,
    (each) => ts.isFunctionLike(each) || ts.isInterfaceDeclaration(each),
  );
  return /\bright\b/.test((around ?? node.parent).getText());
}

function isFunction(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node))
    return true;
  if (ts.isPropertySignature(node) || ts.isParameter(node)) {
    return node.type !== undefined && ts.isFunctionTypeNode(node.type);
  }
  return (
    ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isArrowFunction(node.initializer)
  );
}
