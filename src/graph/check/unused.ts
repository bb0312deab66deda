import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { references } from '../expression/references.js';
import type { Expr, RefRoot } from '../expression/tree.js';
import type { Node } from '../model.js';
import { sideExpressions, valueExpressions } from '../node-expressions.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfNode, type Subject } from './places.js';

/**
 * SW3010 steps whose only purpose is a value that nothing uses, SW3011 arguments that nothing uses. A call that may
 * have an effect is never idle. Nor is one that only reads, or a resource, where the workflow does not say what it
 * returns, or where the step has guidance: then its result is there to be read in the conversation.
 */
export function checkUnused(subject: Subject, environment: CheckEnvironment): Diagnostic[] {
  const { graph } = subject;
  if (graph.nodes.length === 0) return [];
  const exprs = [
    ...graph.nodes.flatMap((node) => [...valueExpressions(node), ...sideExpressions(node)]),
    ...(graph.returns === undefined ? [] : [graph.returns]),
  ];
  const steps = namesIn(exprs, 'steps');
  const idle = graph.nodes.flatMap((node) => {
    const what = steps.has(node.id) ? undefined : purposeOf(node, subject, environment);
    if (what === undefined) return [];
    return [diagnostic('SW3010', placeOfNode(node, graph), { step: node.id, what })];
  });
  const summaries = graph.nodes.flatMap((node) => (node.summary === undefined ? [] : [node.summary]));
  const inputs = namesIn([...exprs, ...summaries], 'inputs');
  const unread = graph.inputs
    .filter(({ name }) => !inputs.has(name))
    .map(({ name, source }) => diagnostic('SW3011', source ?? graph.source, { name, workflow: graph.name }));
  return [...unread, ...idle];
}

function namesIn(exprs: readonly Expr[], root: RefRoot): ReadonlySet<string> {
  const refs = exprs.flatMap(references).filter(({ ref }) => ref.root === root);
  return new Set(refs.map(({ ref }) => String(ref.path[0])));
}

/** What a step is for, where that is its value alone. */
function purposeOf(node: Node, { graph }: Subject, { tools }: CheckEnvironment): string | undefined {
  if (node.kind === 'compute') return 'computes a value';
  const returns = graph.returns !== undefined || graph.nodes.some((each) => each.kind === 'return');
  if (!returns || node.guidance !== undefined) return undefined;
  if (node.kind === 'resource') return `reads \`${node.resource}\``;
  if (node.kind !== 'call' || tools.get(node.tool)?.annotations?.readOnlyHint !== true) return undefined;
  return `calls \`${node.tool}\`, which changes nothing`;
}
