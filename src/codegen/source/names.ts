import { defined } from '../../graph/defined.js';
import { append } from '../../graph/maps.js';
import type { Modules } from './program.js';
import { ts } from './typescript.mjs';

/** The package with exports that are known by name, wherever it is installed. */
export const PACKAGE = 'stepwright';

/** What a name refers to, followed through the modules of the project. */
export type Target = { readonly isTypeOnly: boolean } & (
  | { readonly kind: 'declared'; readonly declarations: readonly ts.Declaration[] }
  /** An export of this package. */
  | { readonly kind: 'stepwright'; readonly name: string }
  /** This package as a whole: `import * as sw from 'stepwright'`. */
  | { readonly kind: 'package' }
  /** A module of the project as a whole. */
  | { readonly kind: 'module'; readonly source: ts.SourceFile }
  /** A name of the language. */
  | { readonly kind: 'global' }
);

/** Names of the language that every library of TypeScript declares. */
const GLOBALS: ReadonlySet<string> = new Set(
  `Array Boolean Date Error Infinity JSON Map Math NaN Number Object Promise RegExp Set String Symbol
  decodeURIComponent encodeURIComponent isFinite isNaN parseFloat parseInt`.split(/\s+/),
);

interface Exports {
  /** By the exported name, in written order. */
  readonly own: ReadonlyMap<string, readonly ts.Declaration[]>;
  /** The specifiers of `export * from`. */
  readonly stars: readonly ts.ExportDeclaration[];
}

/**
 * Finds what names refer to by the texts of the project's modules alone: by scopes, imports and exports. Nothing comes
 * back for a name that only the compiler can follow, and for one that leads nowhere: the compiler says why.
 */
export class Names {
  readonly #modules: Modules;
  readonly #exports = new WeakMap<ts.SourceFile, Exports>();
  /** What imports lead to: a workflow names one tool many times. */
  readonly #imports: Readonly<Record<Meaning, WeakMap<ts.Declaration, Target>>> = {
    value: new WeakMap(),
    type: new WeakMap(),
  };

  constructor(modules: Modules) {
    this.#modules = modules;
  }

  find(name: ts.Identifier, meaning: Meaning): Target | undefined {
    const declarations = declarationsOf(name, meaning);
    if (declarations !== undefined) return this.#known(declarations, meaning);
    return GLOBALS.has(name.text) ? { kind: 'global', isTypeOnly: false } : undefined;
  }

  #known(declarations: readonly ts.Declaration[], meaning: Meaning): Target | undefined {
    const [first] = declarations;
    if (first === undefined || !isAlias(first)) return this.#follow(declarations, meaning, new Set());
    const cached = this.#imports[meaning].get(first);
    if (cached !== undefined) return cached;
    const target = this.#follow(declarations, meaning, new Set());
    if (target !== undefined) this.#imports[meaning].set(first, target);
    return target;
  }

  /** What an access such as `a.b.c` refers to, as far as it names parts of modules; `'value'` where `a` is a value. */
  access(node: ts.Expression): Target | 'value' | undefined {
    if (ts.isIdentifier(node)) return this.find(node, 'value');
    const member = memberIn(node);
    if (member === undefined) return 'value';
    const object = this.access(member.object);
    if (object === undefined || object === 'value') return object;
    switch (object.kind) {
      case 'package':
        return { kind: 'stepwright', name: member.name, isTypeOnly: false };
      case 'module':
        return this.exportOf(object.source, member.name, 'value');
      case 'declared':
        return object.declarations.some(ts.isModuleDeclaration) ? undefined : 'value';
      case 'stepwright':
      case 'global':
        return 'value';
      default:
        return object satisfies never;
    }
  }

  /** What a module exports under a name. */
  exportOf(
    source: ts.SourceFile,
    name: string,
    meaning: Meaning,
    visited: ReadonlySet<unknown> = new Set(),
  ): Target | undefined {
    if (visited.has(source)) return undefined;
    const { own, stars } = this.#exportsOf(source);
    const declarations = own.get(name);
    if (declarations !== undefined) return this.#follow(declarations, meaning, visited);
    const inner = new Set(visited).add(source);
    // What a package passes on is known to the compiler.
    const sources = stars.map((star) => this.#moduleOf(star));
    if (name === 'default' || sources.includes(undefined)) return undefined;
    const results = sources.flatMap((each) => (each && this.exportOf(each, name, meaning, inner)) ?? []);
    // Two of one name are exported only if they are the same.
    const [first, second] = results;
    return second === undefined ? first : undefined;
  }

  /**
   * The names by which a module exports what it declares itself; its own name where there are several. Nothing for a
   * module that only the compiler can follow.
   */
  exportNames(source: ts.SourceFile): ReadonlyMap<ts.Node, string> | undefined {
    const names = new Map<ts.Node, string>();
    const { own } = this.#exportsOf(source);
    for (const [name, declarations] of own) {
      if (name === 'export=') return undefined;
      if (declarations.some(ts.isTypeOnlyImportOrExportDeclaration)) continue;
      for (const declaration of this.#declaredHere(source, declarations)) {
        addExportName(names, declaration, name);
      }
    }
    return names;
  }

  /** What a module exports of the project's own, by name. What two modules that it passes on both export is left out. */
  exportsOf(source: ts.SourceFile, visited: ReadonlySet<unknown> = new Set()): ReadonlyMap<string, Target> {
    const results = new Map<string, Target>();
    if (visited.has(source)) return results;
    const inner = new Set(visited).add(source);
    const { own, stars } = this.#exportsOf(source);
    const doubtful = new Set<string>();
    for (const star of stars) {
      const module = this.#moduleOf(star);
      for (const [name, target] of module === undefined ? [] : this.exportsOf(module, inner)) {
        if (results.has(name)) doubtful.add(name);
        if (name !== 'default' && !star.isTypeOnly) results.set(name, target);
      }
    }
    for (const name of doubtful) results.delete(name);
    for (const [name, declarations] of own) {
      const target = this.#follow(declarations, 'value', new Set());
      if (target !== undefined) results.set(name, target);
    }
    return results;
  }

  /** The declarations of an export that are in its own module. */
  #declaredHere(source: ts.SourceFile, declarations: readonly ts.Declaration[]): readonly ts.Declaration[] {
    return declarations.flatMap((declaration) => {
      if (!isAlias(declaration) && !ts.isExportAssignment(declaration)) return declaration;
      if (specifierOf(declaration) !== undefined) return [];
      const named = this.#named(declaration);
      if (named === undefined) return declaration;
      return (topLevelOf(source, named.text) ?? []).filter((each) => !isAlias(each));
    });
  }

  /** The name in its own module that an export refers to. */
  #named(declaration: ts.Declaration): ts.Identifier | undefined {
    const named = ts.isExportSpecifier(declaration)
      ? (declaration.propertyName ?? declaration.name)
      : ts.isExportAssignment(declaration)
        ? declaration.expression
        : undefined;
    return named !== undefined && ts.isIdentifier(named) ? named : undefined;
  }

  #follow(
    declarations: readonly ts.Declaration[],
    meaning: Meaning,
    visited: ReadonlySet<unknown>,
  ): Target | undefined {
    const [first] = declarations;
    if (first === undefined || visited.has(first)) return undefined;
    if (ts.isExportAssignment(first)) {
      const named = this.#named(first);
      if (named !== undefined) return this.find(named, meaning);
      // `export default a.b`
      if (ts.isPropertyAccessExpression(first.expression)) return undefined;
      return { kind: 'declared', declarations, isTypeOnly: false };
    }
    if (!isAlias(first)) {
      if (declarations.some(isAlias) || !declarations.some((each) => hasMeaning(each, meaning)))
        return undefined;
      return { kind: 'declared', declarations, isTypeOnly: false };
    }
    if (declarations.length > 1) return undefined;
    const end = this.#followAlias(first, meaning, new Set(visited).add(first));
    if (end === undefined || !ts.isTypeOnlyImportOrExportDeclaration(first)) return end;
    return { ...end, isTypeOnly: true };
  }

  #followAlias(alias: ts.Declaration, meaning: Meaning, visited: ReadonlySet<unknown>): Target | undefined {
    if (ts.isImportEqualsDeclaration(alias)) return undefined;
    const specifier = specifierOf(alias);
    if (specifier === undefined) {
      const named = this.#named(alias);
      const declared = named && topLevelOf(named.getSourceFile(), named.text);
      return declared && this.#follow(declared, meaning, visited);
    }
    const isWhole = ts.isNamespaceImport(alias) || ts.isNamespaceExport(alias);
    const name = importedName(alias);
    // The specifier decides before resolution, so that authors without an installed package still get answers.
    if (specifier.text === PACKAGE) {
      if (isWhole) return { kind: 'package', isTypeOnly: false };
      return name === undefined ? undefined : { kind: 'stepwright', name, isTypeOnly: false };
    }
    const source = this.#modules.resolve(specifier);
    if (source === undefined) return undefined;
    const isDocument = isJson(source) && (name ?? 'default') === 'default';
    if (isWhole || isDocument) return { kind: 'module', source, isTypeOnly: false };
    return this.exportOf(source, name ?? 'default', meaning, visited);
  }

  #moduleOf({ moduleSpecifier }: ts.ExportDeclaration): ts.SourceFile | undefined {
    const isText = moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier);
    return isText ? this.#modules.resolve(moduleSpecifier) : undefined;
  }

  #exportsOf(source: ts.SourceFile): Exports {
    const exports = this.#exports.get(source) ?? readExports(source);
    this.#exports.set(source, exports);
    return exports;
  }
}

/** The identifier that a declaration is of. */
export function nameOf(declaration: ts.Declaration): string | undefined {
  const name = ts.getNameOfDeclaration(declaration);
  return name !== undefined && ts.isIdentifier(name) ? name.text : undefined;
}

/** Adds a name by which a module exports a declaration: its own name wins, and any other over `default`. */
export function addExportName(names: Map<ts.Node, string>, declaration: ts.Declaration, name: string): void {
  const ownName = nameOf(declaration);
  const earlier = names.get(declaration);
  if (earlier === undefined || name === ownName || (earlier === 'default' && earlier !== ownName))
    names.set(declaration, name);
}

/** Whether a name is imported from another package that is installed. */
export function isOfOtherPackage(modules: Modules, name: ts.Identifier): boolean {
  const [alias] = declarationsOf(name, 'value') ?? [];
  const specifier = alias && isAlias(alias) ? specifierOf(alias) : undefined;
  return specifier !== undefined && specifier.text !== PACKAGE && modules.elsewhere(specifier) !== undefined;
}

/** How a name is imported from a module by a path where there is none; nothing for any other name. */
export function missingImport(
  modules: Modules,
  name: ts.Identifier,
): { readonly specifier: string; readonly name: string } | undefined {
  const [alias, second] = declarationsOf(name, 'value') ?? [];
  const specifier = alias && second === undefined && isAlias(alias) ? specifierOf(alias) : undefined;
  if (alias === undefined || specifier === undefined || !modules.isMissing(specifier)) return undefined;
  return { specifier: specifier.text, name: importedName(alias) ?? 'default' };
}

/** The declarations of a name in its own file, and the specifier of the module that it is imported from, if it is. */
export function originOf(name: ts.Identifier): {
  readonly declarations: readonly ts.Declaration[];
  readonly specifier?: string;
} {
  const declarations = declarationsOf(name, 'value') ?? [];
  const [alias] = declarations;
  const specifier = alias && isAlias(alias) ? specifierOf(alias)?.text : undefined;
  return { declarations, ...defined({ specifier }) };
}

/** The name by which a module exports what a name is imported for; `*` for a namespace. Nothing for any other name. */
export function importOf(name: ts.Identifier): string | undefined {
  const [alias] = declarationsOf(name, 'value') ?? [];
  if (alias === undefined || !isAlias(alias) || ts.isTypeOnlyImportOrExportDeclaration(alias))
    return undefined;
  if (ts.isNamespaceImport(alias)) return '*';
  return ts.isImportClause(alias) ? 'default' : importedName(alias);
}

/** The object and the key of an access whose key is written out. */
function memberIn(
  node: ts.Expression,
): { readonly object: ts.Expression; readonly name: string } | undefined {
  if (ts.isPropertyAccessExpression(node)) return { object: node.expression, name: node.name.text };
  if (!ts.isElementAccessExpression(node) || !ts.isStringLiteralLike(node.argumentExpression))
    return undefined;
  return { object: node.expression, name: node.argumentExpression.text };
}

/** The specifier of the module that an import or a re-export names. */
function specifierOf(alias: ts.Node): ts.StringLiteral | undefined {
  const statement = ts.findAncestor(
    alias,
    (node) => ts.isImportDeclaration(node) || ts.isExportDeclaration(node),
  );
  const specifier = statement?.moduleSpecifier;
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier : undefined;
}

/** The name that is taken from a module; nothing for `import x from`. */
function importedName(alias: ts.Declaration): string | undefined {
  if (!ts.isImportSpecifier(alias) && !ts.isExportSpecifier(alias)) return undefined;
  return (alias.propertyName ?? alias.name).text;
}

function readExports(source: ts.SourceFile): Exports {
  const own = new Map<string, ts.Declaration[]>();
  const stars: ts.ExportDeclaration[] = [];
  const add = (name: string, declaration: ts.Declaration): void => {
    append(own, name, declaration);
  };
  for (const statement of source.statements) {
    if (ts.isExportAssignment(statement)) add(statement.isExportEquals ? 'export=' : 'default', statement);
    else if (!ts.isExportDeclaration(statement)) addDeclared(statement, add);
    else if (statement.exportClause === undefined) stars.push(statement);
    else if (ts.isNamespaceExport(statement.exportClause))
      add(statement.exportClause.name.text, statement.exportClause);
    else for (const element of statement.exportClause.elements) add(element.name.text, element);
  }
  return { own, stars };
}

/** Adds what a statement under `export` declares. */
function addDeclared(
  statement: ts.Statement,
  add: (name: string, declaration: ts.Declaration) => void,
): void {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  const has = (kind: ts.SyntaxKind): boolean => modifiers?.some((each) => each.kind === kind) ?? false;
  if (!has(ts.SyntaxKind.ExportKeyword)) return;
  const isDefault = has(ts.SyntaxKind.DefaultKeyword);
  const declarations = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations
    : [statement as ts.Statement & ts.Declaration];
  for (const declaration of declarations) {
    for (const each of ts.isVariableDeclaration(declaration) ? bound(declaration) : [declaration]) {
      const name = isDefault ? 'default' : nameOf(each);
      if (name !== undefined) add(name, each);
    }
  }
}

/** Whether a module is a JSON document. */
export function isJson({ fileName }: ts.SourceFile): boolean {
  return fileName.endsWith('.json');
}

/** What a name is used as. */
type Meaning = 'value' | 'type';

/** The declarations of a scope, by name. */
type Table = ReadonlyMap<string, readonly ts.Declaration[]>;

const tables = new WeakMap<ts.Node, Table>();

/** The declarations of a name, in the nearest scope that has some; nothing where its file declares no such name. */
function declarationsOf(name: ts.Identifier, meaning: Meaning): readonly ts.Declaration[] | undefined {
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
function isAlias(
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
    const name = nameOf(declaration);
    if (name !== undefined) append(table, name, declaration);
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
