import { ts } from 'ts-morph';
import type { VerbCall } from '../syntax.js';
import { VERBS } from '../verbs.js';
import { followAliases, isOurs, isPackageNamespace } from './aliases.js';
import { type HostContext, isOfProject, placeOf } from './context.js';

/**
 * The first verb that a function calls, in its own body or in a function of the project that it calls. A verb throws
 * wherever it runs, so such a function cannot be run.
 */
export function verbCalledIn(context: HostContext, start: ts.Node): VerbCall | undefined {
  const visited = new Set<ts.Node>([start]);
  // The set grows while it is walked.
  for (const written of visited) {
    const { verb, functions } = callsIn(context, written);
    if (verb !== undefined) return verb;
    for (const each of functions) visited.add(each);
  }
  return undefined;
}

interface Calls {
  readonly verb?: VerbCall;
  /** The declarations of what else is called, as far as they are functions of the project. */
  readonly functions: readonly ts.Node[];
}

const known = new WeakMap<ts.Node, Calls>();

function callsIn(context: HostContext, written: ts.Node): Calls {
  const before = known.get(written);
  if (before !== undefined) return before;
  const found = readCalls(context, written);
  known.set(written, found);
  return found;
}

function readCalls(context: HostContext, written: ts.Node): Calls {
  const functions: ts.Node[] = [];
  const open: ts.Node[] = [written];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    // The initializers of a class that the function makes are not read by codegen either, and do not run here.
    if (ts.isClassLike(node)) continue;
    if (ts.isCallExpression(node)) {
      const called = calledBy(context, node.expression);
      if (typeof called === 'string') {
        return { verb: { name: called, place: placeOf(context, node.expression) }, functions };
      }
      if (called !== undefined) functions.push(called);
    }
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    open.push(...children.reverse());
  }
  return { functions };
}

/** The name of a verb, or the declaration of a function of the project. */
function calledBy(context: HostContext, callee: ts.Expression): string | ts.Node | undefined {
  return meantBy(context, callee, new Set());
}

/** Follows constants that stand for something else: `const invoke = sw.call`, `const { call } = sw`. */
function meantBy(context: HostContext, callee: ts.Node, seen: Set<ts.Node>): string | ts.Node | undefined {
  if (seen.has(callee)) return undefined;
  seen.add(callee);
  const member = accessOf(callee);
  const owner = member && memberOf(context, member.object);
  if (member !== undefined && owner !== undefined) {
    return verbNamed(`${owner}.${member.name.text}`) ?? verbNamed(member.name.text);
  }
  const name = member?.name ?? (ts.isIdentifier(callee) ? callee : undefined);
  const end = name && endOf(context, name);
  if (end === undefined) return undefined;
  const verb = verbNamed(end.ours);
  if (verb !== undefined) return verb;
  const written = end.symbol.valueDeclaration;
  if (written !== undefined && ts.isBindingElement(written)) return meantBy(context, written, seen);
  const stands = written !== undefined && ts.isVariableDeclaration(written) ? written.initializer : undefined;
  const verbBehind = stands && meantBy(context, stands, seen);
  return typeof verbBehind === 'string' ? verbBehind : writtenBy(context, end.symbol);
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
  const taken = node.parent.parent;
  const object = ts.isVariableDeclaration(taken) ? taken.initializer : undefined;
  return object !== undefined && ts.isIdentifier(name) ? { object, name } : undefined;
}

/** What this package calls the object of an access: `ask`, or nothing but its namespace. */
function memberOf(context: HostContext, object: ts.Expression): string | undefined {
  const member = accessOf(object);
  if (member !== undefined && memberOf(context, member.object) === '') return member.name.text;
  const name = member?.name ?? (ts.isIdentifier(object) ? object : undefined);
  const symbol = name && context.checker.getSymbolAtLocation(name);
  if (name === undefined || symbol === undefined) return undefined;
  return isNamespaceOfPackage(context, symbol) ? '' : endOf(context, name)?.ours;
}

/** Also where a module of the project hands the namespace on: `export * as sw from 'stepwright'`. */
function isNamespaceOfPackage(context: HostContext, symbol: ts.Symbol, seen = new Set<ts.Symbol>()): boolean {
  if (isPackageNamespace(symbol)) return true;
  if (seen.has(symbol) || (symbol.flags & ts.SymbolFlags.Alias) === 0) return false;
  const next = context.checker.getImmediateAliasedSymbol(symbol);
  return next !== undefined && isNamespaceOfPackage(context, next, seen.add(symbol));
}

function endOf(
  context: HostContext,
  name: ts.Identifier | ts.MemberName | ts.StringLiteralLike,
): { readonly symbol: ts.Symbol; readonly ours?: string } | undefined {
  const start = context.checker.getSymbolAtLocation(name);
  const end = start && followAliases(context, start);
  if (end === undefined || 'lost' in end) return undefined;
  const { symbol, stepwrightName } = end;
  const written = symbol.valueDeclaration;
  const isMember = written !== undefined && (ts.isClassElement(written) || ts.isTypeElement(written));
  const isOwn = written !== undefined && !isMember && isOurs(written.getSourceFile().fileName);
  const ours = stepwrightName ?? (isOwn ? symbol.name : undefined);
  return { symbol, ...(ours === undefined ? {} : { ours }) };
}

function verbNamed(name: string | undefined): string | undefined {
  return VERBS.find((verb) => verb === name);
}

function writtenBy(context: HostContext, { valueDeclaration }: ts.Symbol): ts.Node | undefined {
  if (valueDeclaration === undefined || !isOfProject(context, valueDeclaration.getSourceFile()))
    return undefined;
  const isFunction = ts.isFunctionLike(valueDeclaration) || ts.isVariableDeclaration(valueDeclaration);
  return isFunction && !ts.isParameter(valueDeclaration) ? valueDeclaration : undefined;
}
