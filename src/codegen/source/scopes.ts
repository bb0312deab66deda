import { append } from '../../graph/maps.js';
import { ts } from './typescript.mjs';

/** Whether a module is a JSON document. */
export function isJson({ fileName }: ts.SourceFile): boolean {
  return fileName.endsWith('.json');
}

/** What a name is used as. */
export type Meaning = 'value' | 'type';

/** The declarations of a scope, by name. */
type Table = ReadonlyMap<string, readonly ts.Declaration[]>;

const tables = new WeakMap<ts.Node, Table>();

/** The declarations of a name, in the nearest scope that has some; nothing where its file declares no such name. */
export function declarationsOf(name: ts.Identifier, meaning: Meaning): readonly ts.Declaration[] | undefined {
  for (let scope: ts.Node = name.parent; scope !== undefined; scope = scope.parent) {
    const match = tableOf(scope)?.get(name.text);
    if (match?.some((each) => hasMeaning(each, meaning))) return match;
  }
  return undefined;
}

export function topLevelOf(source: ts.SourceFile, name: string): readonly ts.Declaration[] | undefined {
  return tableOf(source)?.get(name);
}

/** Whether a declaration is an import or an export of something that is declared elsewhere. */
export function isAlias(
  node: ts.Node,
): node is
  | ts.ImportSpecifier
  | ts.ExportSpecifier
  | ts.ImportClause
  | ts.NamespaceImport
  | ts.NamespaceExport
  | ts.ImportEqualsDeclaration {
  return (
    ts.isImportSpecifier(node) ||
    ts.isExportSpecifier(node) ||
    ts.isImportClause(node) ||
    ts.isNamespaceImport(node) ||
    ts.isNamespaceExport(node) ||
    ts.isImportEqualsDeclaration(node)
  );
}

export function hasMeaning(node: ts.Declaration, meaning: Meaning): boolean {
  if (isAlias(node) || ts.isClassLike(node) || ts.isEnumDeclaration(node)) return true;
  const isType =
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isTypeParameterDeclaration(node);
  return isType === (meaning === 'type');
}

/** The kinds of nodes that have been found to be no scopes: most of what is above a name. */
const noScopes = new Set<ts.SyntaxKind>();

function tableOf(scope: ts.Node): Table | undefined {
  const cached = tables.get(scope);
  if (cached !== undefined) return cached;
  if (noScopes.has(scope.kind)) return undefined;
  const declared = declaredIn(scope);
  if (declared === undefined) {
    noScopes.add(scope.kind);
    return undefined;
  }
  const table = new Map<string, ts.Declaration[]>();
  for (const declaration of declared) {
    const name = ts.getNameOfDeclaration(declaration);
    if (name === undefined || !ts.isIdentifier(name)) continue;
    append(table, name.text, declaration);
  }
  tables.set(scope, table);
  return table;
}

function declaredIn(scope: ts.Node): readonly ts.Declaration[] | undefined {
  if (ts.isSourceFile(scope)) return [...scope.statements.flatMap(ofStatement), ...hoisted(scope)];
  if (ts.isBlock(scope) || ts.isModuleBlock(scope)) return scope.statements.flatMap(ofStatement);
  if (ts.isCaseBlock(scope))
    return scope.clauses.flatMap(({ statements }) => statements.flatMap(ofStatement));
  if (ts.isFunctionLike(scope)) return ofFunction(scope);
  if (ts.isForStatement(scope) || ts.isForInStatement(scope) || ts.isForOfStatement(scope)) {
    const { initializer } = scope;
    return initializer !== undefined && ts.isVariableDeclarationList(initializer) ? namesOf(initializer) : [];
  }
  if (ts.isCatchClause(scope))
    return scope.variableDeclaration === undefined ? [] : bound(scope.variableDeclaration);
  if (ts.isClassLike(scope))
    return [...(ts.isClassExpression(scope) ? [scope] : []), ...(scope.typeParameters ?? [])];
  if (ts.isInterfaceDeclaration(scope) || ts.isTypeAliasDeclaration(scope)) return scope.typeParameters ?? [];
  return undefined;
}

function ofFunction(scope: ts.SignatureDeclaration): readonly ts.Declaration[] {
  const own = ts.isFunctionExpression(scope) ? [scope] : [];
  const parameters = scope.parameters.flatMap((parameter) => bound(parameter));
  const body = 'body' in scope ? scope.body : undefined;
  const variables = body === undefined ? [] : hoisted(body);
  return [...own, ...(scope.typeParameters ?? []), ...parameters, ...variables];
}

function ofStatement(statement: ts.Statement): readonly ts.Declaration[] {
  if (ts.isVariableStatement(statement)) return namesOf(statement.declarationList);
  if (ts.isImportDeclaration(statement)) return ofImport(statement);
  const isDeclared =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isModuleDeclaration(statement) ||
    ts.isImportEqualsDeclaration(statement);
  return isDeclared ? [statement] : [];
}

function ofImport({ importClause }: ts.ImportDeclaration): readonly ts.Declaration[] {
  if (importClause === undefined) return [];
  const { namedBindings } = importClause;
  const own = importClause.name === undefined ? [] : [importClause];
  if (namedBindings === undefined) return own;
  return [...own, ...(ts.isNamespaceImport(namedBindings) ? [namedBindings] : namedBindings.elements)];
}

const namesOf = ({ declarations }: ts.VariableDeclarationList): readonly ts.Declaration[] =>
  declarations.flatMap((declaration) => bound(declaration));

/** A declaration, or those of the names that its pattern binds. */
function bound(
  declaration: ts.VariableDeclaration | ts.ParameterDeclaration | ts.BindingElement,
): readonly ts.Declaration[] {
  const { name } = declaration;
  if (ts.isIdentifier(name)) return [declaration];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? bound(element) : []));
}

/** The variables under `var` in the blocks of a function or a file, which are known in all of it. */
function hoisted(root: ts.Node): readonly ts.Declaration[] {
  const results: ts.Declaration[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return;
    const isVar = ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) === 0;
    // Those of the top level are known already.
    if (isVar && node.parent.parent !== root) results.push(...namesOf(node));
    if (ts.isStatement(node) || ts.isCaseBlock(node) || ts.isCatchClause(node) || isClause(node))
      ts.forEachChild(node, visit);
  };
  ts.forEachChild(root, visit);
  return results;
}

const isClause = (node: ts.Node): boolean => ts.isCaseClause(node) || ts.isDefaultClause(node);
