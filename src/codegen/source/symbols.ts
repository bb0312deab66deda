import { defined } from '../../graph/defined.js';
import { getOrInsert } from '../../graph/maps.js';
import type { FunctionSymbol, PackageImport, SymbolSyntax, VerbCall } from '../syntax.js';
import { VERBS } from '../verbs.js';
import { type Calls, childrenOf, type HostContext, isOfProject, placeOf, relativeFile } from './ast.js';
import {
  followAliases,
  importedMember,
  isOfPackage,
  isPackageNamespace,
  missingMember,
  unresolvedImport,
} from './imports.js';
import {
  addExportName,
  hasMeaning,
  isOfOtherPackage,
  missingImport,
  nameOf,
  originOf,
  type Target,
} from './names.js';
import { isPlain, isPlainType, isPromiseType } from './plain.js';
import { ts } from './typescript.mjs';

/** Resolves an identifier through imports, aliases, namespaces and re-exports. */
export function resolveIdentifier(context: HostContext, node: ts.Identifier): SymbolSyntax {
  const target = context.names?.find(node, 'value');
  if (target !== undefined) return targetSyntax(context, target, node.text);
  if (isLeftAlone(context, node) && !mayBeHandle(node)) return { kind: 'other', name: node.text };
  const missing = context.names && missingImport(context.modules, node);
  if (missing !== undefined) return { kind: 'unresolved', name: node.text, from: { ...missing, files: [] } };
  const symbol =
    ts.isShorthandPropertyAssignment(node.parent) && node.parent.name === node
      ? context.compiler.checker.getShorthandAssignmentValueSymbol(node.parent)
      : context.compiler.checker.getSymbolAtLocation(node);
  return resolveSymbol(context, symbol, node.text);
}

/** Resolves `object.name` where `object` is a module; undefined where it is a value. */
export function resolveMember(
  context: HostContext,
  node: ts.PropertyAccessExpression,
): SymbolSyntax | undefined {
  const start = leftmost(node.expression);
  if (!ts.isIdentifier(start) || (isLeftAlone(context, start) && !mayBeHandle(node))) return undefined;
  const object = context.names?.access(node.expression);
  if (object === 'value') return undefined;
  if (object !== undefined && !isNamespace(object)) return undefined;
  const target = object && context.names?.access(node);
  if (target !== undefined && target !== 'value') return targetSyntax(context, target, node.name.text);
  if (context.names !== undefined && missingImport(context.modules, start) !== undefined) return undefined;
  const namespace = context.compiler.checker.getSymbolAtLocation(node.expression);
  if (namespace === undefined) return undefined;
  const name = node.name.text;
  if (isPackageNamespace(namespace)) return { kind: 'stepwright', name };
  const end = followAliases(context, namespace);
  if ('lost' in end || (end.symbol.flags & ts.SymbolFlags.Module) === 0) return undefined;
  const member = context.compiler.checker.getSymbolAtLocation(node.name);
  if (member !== undefined)
    return resolveSymbol(context, member, name, importedMember(context, namespace, name));
  const from = missingMember(context, namespace, end.symbol, name);
  return { kind: 'unresolved', name, ...defined({ from }) };
}

/** The arguments of decorators name what packages export, as schemas do; what that is does not matter there. */
function isLeftAlone({ isOption, modules }: HostContext, name: ts.Identifier): boolean {
  return isOption === true && isOfOtherPackage(modules, name);
}

/** Whether a name is where options list classes: `instructions: [Guide]`, `next: [() => Search]`. */
function mayBeHandle({ parent }: ts.Expression): boolean {
  return (
    ts.isArrowFunction(parent) ||
    (ts.isArrayLiteralExpression(parent) && ts.isPropertyAssignment(parent.parent))
  );
}

function isNamespace(target: Target): boolean {
  if (target.kind === 'declared') return target.declarations.some(ts.isModuleDeclaration);
  return target.kind === 'module' || target.kind === 'package';
}

function targetSyntax(context: HostContext, target: Target, name: string): SymbolSyntax {
  switch (target.kind) {
    case 'stepwright':
      return { kind: 'stepwright', name: target.name };
    case 'module':
      return { kind: 'other', name, file: relativeFile(context, target.source.fileName) };
    case 'package':
    case 'global':
      return { kind: 'other', name };
    case 'declared':
      return declaredSyntax(context, target, name);
    default:
      return target satisfies never;
  }
}

function leftmost(node: ts.Expression): ts.Expression {
  return ts.isPropertyAccessExpression(node) ? leftmost(node.expression) : node;
}

/** @param member - how the project imports it, where it is a member of a namespace. */
function resolveSymbol(
  context: HostContext,
  start: ts.Symbol | undefined,
  written: string,
  member?: PackageImport,
): SymbolSyntax {
  if (start === undefined) return { kind: 'unresolved', name: written };
  const end = followAliases(context, start, member);
  if ('lost' in end) {
    const from = unresolvedImport(context, end.lost);
    return { kind: 'unresolved', name: written, ...defined({ from }) };
  }
  if (end.stepwrightName !== undefined) return { kind: 'stepwright', name: end.stepwrightName };
  const { symbol, isTypeOnly, imported } = end;
  const declarations = symbol.declarations ?? [];
  if (declarations.length === 0) return { kind: 'unresolved', name: written };
  const first = symbol.valueDeclaration;
  const declared = { declarations, isTypeOnly, ...(first && { first }), ...(imported && { imported }) };
  return declaredSyntax(context, declared, written);
}

interface Declared {
  readonly declarations: readonly ts.Declaration[];
  /** The declaration of the value. Default: the first one. */
  readonly first?: ts.Declaration;
  readonly isTypeOnly: boolean;
  /** Where it is declared outside of the project. */
  readonly imported?: PackageImport;
}

/** What something is by its declarations, of which there is one at least. */
function declaredSyntax(
  context: HostContext,
  { declarations, isTypeOnly, first, imported }: Declared,
  written: string,
): SymbolSyntax {
  const declaration = first ?? valueAmong(declarations);
  if (declaration === undefined) return { kind: 'unresolved', name: written };
  const source = declaration.getSourceFile();
  if (isOfPackage(source.fileName)) return { kind: 'stepwright', name: nameOf(declaration) ?? written };
  if (ts.isClassDeclaration(declaration)) {
    return {
      kind: 'class',
      file: relativeFile(context, source.fileName),
      name: declaration.name?.text ?? '',
      place: classPlace(context, declaration),
      ...(isTypeOnly ? { typeOnly: true } : {}),
      ...(imported === undefined || isOfProject(context, source) ? {} : { imported }),
    };
  }
  const named = functionSymbol(context, declarations, written);
  if (named !== undefined) return named;
  const isOwn = isOfProject(context, source);
  return { kind: 'other', name: written, ...(isOwn ? { file: relativeFile(context, source.fileName) } : {}) };
}

function valueAmong(declarations: readonly ts.Declaration[]): ts.Declaration | undefined {
  return declarations.find((each) => hasMeaning(each, 'value')) ?? declarations[0];
}

/** The place of a class: its name, or the `class` keyword of an anonymous one. */
export function classPlace(context: HostContext, node: ts.ClassLikeDeclaration): ReturnType<typeof placeOf> {
  if (node.name !== undefined) return placeOf(context, node.name);
  const keyword = node.getChildren().find((child) => child.kind === ts.SyntaxKind.ClassKeyword);
  return placeOf(context, keyword ?? node);
}

type Written = ts.FunctionDeclaration | ts.FunctionExpression | ts.ArrowFunction;

/** The symbol of a function, or of a constant that can be called; undefined for any other declaration. */
function functionSymbol(
  context: HostContext,
  declarations: readonly ts.Declaration[],
  name: string,
): SymbolSyntax | undefined {
  const [first] = declarations;
  if (first === undefined || isOfLanguage(context, first)) return undefined;
  // Of overloads, the declaration with the body is the function.
  const declaration =
    declarations.find((each) => ts.isFunctionDeclaration(each) && each.body !== undefined) ?? first;
  const written = writtenFunction(declaration);
  if (written === undefined && !isCallable(context, declaration)) return undefined;
  const ownName = nameOf(declaration);
  const exportName = exportNames(context, declaration.getSourceFile()).get(declaration);
  const why = whyNot(context, declaration, written, exportName, ownName);
  const isOwn = isOfProject(context, declaration.getSourceFile());
  const verb = written === undefined || !isOwn ? undefined : verbCalledIn(context, written);
  const symbol: FunctionSymbol = {
    kind: 'function',
    name: ownName ?? name,
    file: relativeFile(context, declaration.getSourceFile().fileName),
    place: placeOf(context, ts.getNameOfDeclaration(declaration) ?? declaration),
    ...defined({ exportName }),
    source: (written ?? declaration).getText().replaceAll('\r\n', '\n'),
    ...defined({ why, verb }),
  };
  return symbol;
}

/** The function literal or declaration of a name. */
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

function isOfLanguage(context: HostContext, declaration: ts.Declaration): boolean {
  const source = declaration.getSourceFile();
  return !isOfProject(context, source) && context.compiler.program.isSourceFileDefaultLibrary(source);
}

function isCallable(context: HostContext, declaration: ts.Declaration): boolean {
  if (!ts.isVariableDeclaration(declaration) && !ts.isExportAssignment(declaration)) return false;
  if (isPlain(context, declaration)) return false;
  if (context.names !== undefined && isSchema(declaration, 0)) return false;
  const { checker } = context.compiler;
  return checker.getTypeAtLocation(declaration).getCallSignatures().length > 0;
}

/** How many constants a schema may be made of, one by the next. */
const MAX_CONSTANTS = 20;

/** What gives a value of a schema, or a function, in the place of another schema. */
const NO_SCHEMA = /^(?:safe)?(?:parse|encode|decode)|^(?:implement|function|meta|description|spa$|_)/i;

/**
 * Whether a value is a schema of zod, as its text says: the compiler would read all of zod to say that it cannot be
 * called. False where the text does not say it.
 */
function isSchema(node: ts.Node, depth: number): boolean {
  if (depth > MAX_CONSTANTS) return false;
  if (ts.isVariableDeclaration(node)) {
    return node.type === undefined && node.initializer !== undefined && isSchema(node.initializer, depth);
  }
  if (ts.isIdentifier(node)) {
    const { declarations } = originOf(node);
    const [constant] = declarations;
    return constant !== undefined && ts.isVariableDeclaration(constant) && isSchema(constant, depth + 1);
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression: object, name } = node.expression;
  if (NO_SCHEMA.test(name.text)) return false;
  if (!ts.isIdentifier(object)) return isSchema(object, depth);
  const { specifier } = originOf(object);
  return specifier === undefined ? isSchema(object, depth) : /^zod(?:\/|$)/.test(specifier);
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
  if (!isTopLevel(declaration)) return 'it is not declared at the top level of its module';
  if (exportName === undefined) return 'its module does not export it';
  if (exportName === 'default' && ownName === undefined) return 'it has no name';
  if (written === undefined || written.body === undefined) return 'it is not written out as a function';
  if (ts.isVariableDeclaration(declaration) && !(ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const))
    return 'it is not declared with `const`';
  if (written.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword)) return 'it is asynchronous';
  if (written.asteriskToken !== undefined) return 'it is a generator';
  return returnsPromise(context, written) ? 'it returns a promise' : undefined;
}

function returnsPromise(context: HostContext, written: Written): boolean {
  if (written.type === undefined ? returnsPlain(context, written) : isPlainType(context, written.type))
    return false;
  if (written.type !== undefined && isPromiseType(context, written.type)) return true;
  const { checker } = context.compiler;
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

function returnsPlain(context: HostContext, { body }: Written): boolean {
  if (body === undefined) return false;
  if (!ts.isBlock(body)) return isPlain(context, body);
  const open: ts.Node[] = [body];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) continue;
    if (ts.isReturnStatement(node) && node.expression !== undefined && !isPlain(context, node.expression))
      return false;
    ts.forEachChild(node, (child) => void open.push(child));
  }
  return true;
}

function isTopLevel(declaration: ts.Declaration): boolean {
  const statement = ts.findAncestor(declaration, ts.isStatement) ?? declaration;
  return ts.isSourceFile(statement.parent);
}

/**
 * The first verb that a function calls, in its own body or in a function of the project that it calls. A verb throws
 * wherever it runs, so such a function cannot be run.
 */
function verbCalledIn(context: HostContext, start: ts.Node): VerbCall | undefined {
  const visited = new Set<ts.Node>([start]);
  // The set grows while it is walked.
  for (const written of visited) {
    const { verb, functions } = getOrInsert(context.known.calls, written, () => readCalls(context, written));
    if (verb !== undefined) return verb;
    for (const each of functions) visited.add(each);
  }
  return undefined;
}

function readCalls(context: HostContext, written: ts.Node): Calls {
  const functions: ts.Node[] = [];
  const open: ts.Node[] = [written];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    // The initializers of a class that the function makes are not read by codegen either, and do not run here.
    if (ts.isClassLike(node)) continue;
    if (ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node)) {
      const callee = ts.isCallExpression(node) ? node.expression : node.tag;
      const called = resolveCallee(context, callee);
      if (typeof called === 'string') {
        return { verb: { name: called, place: placeOf(context, callee) }, functions };
      }
      if (called !== undefined) functions.push(called);
    }
    open.push(...childrenOf(node).toReversed());
  }
  return { functions };
}

/**
 * The name of a verb, or the declaration of a function of the project. Follows constants that alias one: `const invoke =
 * sw.call`, `const { call } = sw`.
 */
function resolveCallee(
  context: HostContext,
  callee: ts.Node,
  visited = new Set<ts.Node>(),
): string | ts.Node | undefined {
  if (visited.has(callee)) return undefined;
  visited.add(callee);
  const member = accessOf(callee);
  const owner = member && memberOf(context, member.object);
  if (member !== undefined && owner !== undefined) {
    return verbNamed(`${owner}.${member.name.text}`) ?? verbNamed(member.name.text);
  }
  const name = member?.name ?? (ts.isIdentifier(callee) ? callee : undefined);
  const end = name && resolveAlias(context, name, member?.object);
  if (end === undefined) return undefined;
  const verb = verbNamed(end.ours);
  if (verb !== undefined) return verb;
  const written = end.declaration;
  if (written !== undefined && ts.isBindingElement(written)) return resolveCallee(context, written, visited);
  const initializer =
    written !== undefined && ts.isVariableDeclaration(written) ? written.initializer : undefined;
  const verbBehind = initializer && resolveCallee(context, initializer, visited);
  return typeof verbBehind === 'string' ? verbBehind : functionOf(context, written);
}

interface Access {
  readonly object: ts.Expression;
  readonly name: ts.Identifier | ts.PrivateIdentifier | ts.StringLiteralLike;
}

/** What is taken from which object, where it is written out: `sw.call`, `sw['call']`, `const { call } = sw`. */
function accessOf(node: ts.Node): Access | undefined {
  if (ts.isPropertyAccessExpression(node)) return { object: node.expression, name: node.name };
  if (ts.isElementAccessExpression(node)) {
    const key = node.argumentExpression;
    return ts.isStringLiteralLike(key) ? { object: node.expression, name: key } : undefined;
  }
  if (!ts.isBindingElement(node)) return undefined;
  const name = node.propertyName ?? node.name;
  const used = node.parent.parent;
  const object = ts.isVariableDeclaration(used) ? used.initializer : undefined;
  return object !== undefined && ts.isIdentifier(name) ? { object, name } : undefined;
}

/** The export of this package that is the object of an access: `ask`, or `''` for its namespace. */
function memberOf(context: HostContext, object: ts.Expression): string | undefined {
  const existing = context.names?.access(object);
  if (existing === 'value') return undefined;
  if (existing !== undefined)
    return existing.kind === 'package' ? '' : existing.kind === 'stepwright' ? existing.name : undefined;
  const member = accessOf(object);
  if (member !== undefined && memberOf(context, member.object) === '') return member.name.text;
  const name = member?.name ?? (ts.isIdentifier(object) ? object : undefined);
  const symbol = name && context.compiler.checker.getSymbolAtLocation(name);
  if (name === undefined || symbol === undefined) return undefined;
  return isNamespaceOfPackage(context, symbol) ? '' : resolveAlias(context, name, undefined)?.ours;
}

/** Also true where a module of the project re-exports the namespace: `export * as sw from 'stepwright'`. */
function isNamespaceOfPackage(
  context: HostContext,
  symbol: ts.Symbol,
  visited = new Set<ts.Symbol>(),
): boolean {
  if (isPackageNamespace(symbol)) return true;
  if (visited.has(symbol) || (symbol.flags & ts.SymbolFlags.Alias) === 0) return false;
  const next = context.compiler.checker.getImmediateAliasedSymbol(symbol);
  return next !== undefined && isNamespaceOfPackage(context, next, visited.add(symbol));
}

/** @param object - what it is a member of. */
function resolveAlias(
  context: HostContext,
  name: ts.Identifier | ts.MemberName | ts.StringLiteralLike,
  object: ts.Expression | undefined,
): { readonly declaration: ts.Declaration | undefined; readonly ours?: string } | undefined {
  // The language's own methods.
  if (object !== undefined && isPlain(context, object)) return undefined;
  const target =
    object === undefined && ts.isIdentifier(name) ? context.names?.find(name, 'value') : undefined;
  if (target !== undefined) {
    const declaration = target.kind === 'declared' ? valueAmong(target.declarations) : undefined;
    return { declaration, ...(target.kind === 'stepwright' ? { ours: target.name } : {}) };
  }
  const start = context.compiler.checker.getSymbolAtLocation(name);
  const end = start && followAliases(context, start);
  if (end === undefined || 'lost' in end) return undefined;
  const { symbol, stepwrightName } = end;
  const written = symbol.valueDeclaration;
  const isMember = written !== undefined && (ts.isClassElement(written) || ts.isTypeElement(written));
  const isOwn = written !== undefined && !isMember && isOfPackage(written.getSourceFile().fileName);
  const ours = stepwrightName ?? (isOwn ? symbol.name : undefined);
  return { declaration: written, ...defined({ ours }) };
}

function verbNamed(name: string | undefined): string | undefined {
  return VERBS.find((verb) => verb === name);
}

function functionOf(context: HostContext, valueDeclaration: ts.Declaration | undefined): ts.Node | undefined {
  if (valueDeclaration === undefined || !isOfProject(context, valueDeclaration.getSourceFile()))
    return undefined;
  const isFunction = ts.isFunctionLike(valueDeclaration) || ts.isVariableDeclaration(valueDeclaration);
  return isFunction && !ts.isParameter(valueDeclaration) ? valueDeclaration : undefined;
}

/** By declaration, the name a module exports it by; its own name where there are several. */
export function exportNames(context: HostContext, source: ts.SourceFile): ReadonlyMap<ts.Node, string> {
  const names =
    context.known.exports.get(source) ??
    context.names?.exportNames(source) ??
    readExportNames(context, source);
  context.known.exports.set(source, names);
  return names;
}

function readExportNames(
  { compiler: { checker } }: HostContext,
  source: ts.SourceFile,
): ReadonlyMap<ts.Node, string> {
  const names = new Map<ts.Node, string>();
  const module = checker.getSymbolAtLocation(source);
  if (module === undefined) return names;
  for (const entry of checker.getExportsOfModule(module)) {
    if (entry.name === 'export=' || entry.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration))
      continue;
    const target = entry.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(entry) : entry;
    for (const declaration of target.declarations ?? []) addExportName(names, declaration, entry.name);
  }
  return names;
}
