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
  if (ts.isIdentifier(callee)) {
    const end = endOf(context, callee);
    return end === undefined ? undefined : (verbNamed(end.ours) ?? writtenBy(context, end.symbol));
  }
  if (!ts.isPropertyAccessExpression(callee)) return undefined;
  const owner = memberOf(context, callee.expression);
  if (owner !== undefined) return verbNamed(`${owner}.${callee.name.text}`) ?? verbNamed(callee.name.text);
  const end = endOf(context, callee.name);
  return end && writtenBy(context, end.symbol);
}

/** What this package calls the object of an access: `ask`, or nothing but its namespace. */
function memberOf(context: HostContext, object: ts.Expression): string | undefined {
  if (ts.isPropertyAccessExpression(object)) {
    return memberOf(context, object.expression) === '' ? object.name.text : undefined;
  }
  if (!ts.isIdentifier(object)) return undefined;
  const symbol = context.checker.getSymbolAtLocation(object);
  if (symbol !== undefined && isPackageNamespace(symbol)) return '';
  return endOf(context, object)?.ours;
}

function endOf(
  context: HostContext,
  name: ts.Identifier | ts.MemberName,
): { readonly symbol: ts.Symbol; readonly ours?: string } | undefined {
  const start = context.checker.getSymbolAtLocation(name);
  const end = start && followAliases(context, start);
  if (end === undefined || 'lost' in end) return undefined;
  const { symbol, stepwrightName } = end;
  const file = symbol.valueDeclaration?.getSourceFile().fileName;
  const ours = stepwrightName ?? (file !== undefined && isOurs(file) ? symbol.name : undefined);
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
