import type { ExpressionSyntax, SchemaSyntax } from '../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../verbs.js';
import type { HostContext } from './ast.js';
import { ts } from './typescript.mjs';
import { writtenSchemas } from './written-schemas.js';

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
