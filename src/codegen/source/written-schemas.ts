import type { ExpressionSyntax, SchemaSyntax, WrittenSchemas } from '../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../verbs.js';
import { type HostContext, isOfProject, KEYWORD_VALUES, propertyName } from './ast.js';
import { importOf, isOfOtherPackage, originOf } from './names.js';
import { ts } from './typescript.mjs';

/** Constants and calls that are nested deeper are left to the module. */
const MAX_DEPTH = 100;

/** The modules of zod with exports that are read. */
const LIBRARIES: ReadonlySet<string> = new Set(['zod', 'zod/v4']);

/** What leaves something behind for other schemas, or leads out of the library. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['meta', 'register', 'registry', 'globalRegistry', 'config', 'locales'],
  ...['constructor', 'prototype', '__proto__'],
]);

/**
 * The schemas among the options of a tool or of a verb that are written with the functions of zod and literals alone, by the text:
 * their modules need not run to know them. Constants of the project are followed.
 */
export function writtenSchemas(context: HostContext, options: ts.Expression | undefined): WrittenSchemas {
  if (context.names === undefined || options === undefined || !ts.isObjectLiteralExpression(options))
    return {};
  const result: { -readonly [Side in keyof WrittenSchemas]: SchemaSyntax } = {};
  for (const property of options.properties) {
    const side = property.name && propertyName(property.name);
    if (side !== 'input' && side !== 'output' && side !== 'response') continue;
    const value = ts.isPropertyAssignment(property)
      ? property.initializer
      : ts.isShorthandPropertyAssignment(property)
        ? property.name
        : undefined;
    const schema = value && read(context, value, 0);
    if (schema !== undefined) result[side] = schema;
  }
  return result;
}

function read(context: HostContext, node: ts.Expression, depth: number): SchemaSyntax | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const inner = (each: ts.Expression): SchemaSyntax | undefined => read(context, each, depth + 1);
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return inner(node.expression);
  if (ts.isStringLiteralLike(node)) return { kind: 'literal', value: node.text };
  if (ts.isNumericLiteral(node)) return { kind: 'literal', value: Number(node.text) };
  const value = KEYWORD_VALUES.get(node.kind);
  if (value !== undefined) return { kind: 'literal', value };
  if (ts.isPrefixUnaryExpression(node)) {
    const isNegative = node.operator === ts.SyntaxKind.MinusToken && ts.isNumericLiteral(node.operand);
    return isNegative ? { kind: 'literal', value: -Number(node.operand.text) } : undefined;
  }
  if (ts.isArrayLiteralExpression(node)) {
    const items = allOf(node.elements, inner);
    return items && { kind: 'list', items };
  }
  if (ts.isObjectLiteralExpression(node)) {
    const entries = allOf(node.properties, (each) => readEntry(each, inner));
    return entries && { kind: 'object', entries };
  }
  if (ts.isPropertyAccessExpression(node)) {
    const { name } = node;
    if (REFUSED.has(name.text) || node.questionDotToken !== undefined) return undefined;
    const of = inner(node.expression);
    return of && { kind: 'member', of, name: name.text };
  }
  if (ts.isCallExpression(node)) {
    if (node.questionDotToken !== undefined) return undefined;
    const callee = inner(node.expression);
    const args = callee && allOf(node.arguments, inner);
    return args && { kind: 'call', callee, args };
  }
  return ts.isIdentifier(node) ? readName(context, node, depth) : undefined;
}

type Entry = Extract<SchemaSyntax, { kind: 'object' }>['entries'][number];

function readEntry(
  property: ts.ObjectLiteralElementLike,
  inner: (node: ts.Expression) => SchemaSyntax | undefined,
): Entry | undefined {
  if (ts.isSpreadAssignment(property)) {
    const spread = inner(property.expression);
    return spread && { spread };
  }
  const key = property.name && propertyName(property.name);
  const value = ts.isPropertyAssignment(property)
    ? inner(property.initializer)
    : ts.isShorthandPropertyAssignment(property)
      ? inner(property.name)
      : undefined;
  return key === undefined || key === '__proto__' || value === undefined ? undefined : { key, value };
}

/** Nothing if there is none of one of them. */
function allOf<Each, Found>(
  all: readonly Each[],
  find: (each: Each) => Found | undefined,
): readonly Found[] | undefined {
  const results: Found[] = [];
  for (const each of all) {
    const one = find(each);
    if (one === undefined) return undefined;
    results.push(one);
  }
  return results;
}

/** An import of the library, or a constant of the project. */
function readName(context: HostContext, name: ts.Identifier, depth: number): SchemaSyntax | undefined {
  const origin = originOf(name);
  if (origin.specifier !== undefined && LIBRARIES.has(origin.specifier)) {
    const imported = importOf(name);
    if (imported === undefined || REFUSED.has(imported) || !isOfOtherPackage(context.modules, name))
      return undefined;
    const library = { kind: 'library', specifier: origin.specifier } as const;
    return imported === '*' ? library : { kind: 'member', of: library, name: imported };
  }
  const target = context.names?.find(name, 'value');
  if (target?.kind !== 'declared' || target.declarations.length !== 1) return undefined;
  const [declared] = target.declarations;
  if (declared === undefined || !ts.isVariableDeclaration(declared) || declared.initializer === undefined)
    return undefined;
  const isConstant =
    isOfProject(context, declared.getSourceFile()) &&
    (ts.getCombinedNodeFlags(declared) & ts.NodeFlags.Const) !== 0 &&
    ts.isSourceFile(declared.parent.parent.parent);
  return isConstant && !mayChange(declared.initializer)
    ? read(context, declared.initializer, depth + 1)
    : undefined;
}

/** A list or an object that is not `as const` may be another one by the time that the schema is made. */
function mayChange(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node)) return mayChange(node.expression);
  return ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node);
}

/** Forms of verbs other than a plain call. They become calls, so that all phases read one form. */

/** The verbs that are tags of templates. */
const TAGS: readonly string[] = ['shell', 'jinja'];

/** The verb of this package that a callee or a tag names. */
function nameOf(callee: ExpressionSyntax): string | undefined {
  const symbol = symbolOf(unwrap(callee));
  return symbol?.kind === 'stepwright' ? symbol.name : undefined;
}

/** `` shell`…` ``, `` shell({ … })`…` `` and their like as calls with the template and the options; undefined for other tags. */
export function taggedCall({
  tag,
  parts,
  place,
}: Extract<ExpressionSyntax, { kind: 'tagged' }>): CallSyntax | undefined {
  const inner = unwrap(tag);
  const [callee, options] = inner.kind === 'call' ? [inner.callee, inner.args] : [inner, []];
  if (!TAGS.includes(nameOf(callee) ?? '')) return undefined;
  return {
    kind: 'call',
    place,
    callee,
    args: [{ kind: 'template', place, parts }, ...options],
    optional: false,
  };
}

/** `onClient(call(…))` as the call, with a mark; any other call as it is. */
export function clientCall(call: CallSyntax): CallSyntax {
  const [first, ...others] = call.args;
  if (first === undefined || others.length > 0 || nameOf(call.callee) !== 'onClient') return call;
  const inner = unwrap(first);
  return inner.kind === 'call' && nameOf(inner.callee) === 'call' ? { ...inner, executor: 'client' } : call;
}

/** The schema that a call of `delegate` gives the reply, where its text says all of it. */
export function responseSchema(context: HostContext, node: ts.CallExpression): SchemaSyntax | undefined {
  const { expression: callee } = node;
  const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
  if (!ts.isIdentifier(name) || name.text !== 'delegate') return undefined;
  return writtenSchemas(context, node.arguments[2]).response;
}
