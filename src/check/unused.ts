import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references } from '../graph/expression/references.js';
import type { Node } from '../graph/model.js';
import { expressionsOf } from '../graph/node-expressions.js';
import { toolSafetyOf } from '../graph/tool-safety.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { readersOf } from '../plan/visibility.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfNode } from './places.js';

/**
 * SW3010 steps whose only purpose is a value that nothing uses, SW3011 arguments that nothing uses. A call that may
 * have an effect is never idle. Nor is one that only reads, or a resource, where the workflow does not say what it
 * returns, or where the step has guidance: then its result is there to be read in the conversation.
 */
export function checkUnused(plan: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const { graph, nodes, scopes, byId } = plan;
  if (nodes.length === 0) return [];
  const values = scopes.flatMap(({ value }) => value ?? []);
  const returns = graph.returns !== undefined || nodes.some(({ node }) => node.kind === 'return');
  const idle = nodes.flatMap(({ node }) => {
    const what = isRead(byId.get(node.id)) ? undefined : purposeOf(node, returns, environment);
    if (what === undefined) return [];
    return [diagnostic('SW3010', placeOfNode(node, graph), { step: node.id, what })];
  });
  const everything = [...nodes.flatMap(({ node }) => expressionsOf(node)), ...values];
  const refs = everything.flatMap(references).filter(({ ref }) => ref.root === 'inputs');
  const inputs = new Set(refs.map(({ ref }) => String(ref.path[0])));
  const unread = graph.inputs
    .filter(({ name }) => !inputs.has(name))
    .map(({ name, source }) => diagnostic('SW3011', source ?? graph.source, { name, workflow: graph.name }));
  return [...unread, ...idle];
}

/** Of two steps with one id, which is SW4009, the first one counts. */
function isRead(planned: PlannedNode | undefined): boolean {
  const readers = planned && readersOf(planned);
  return readers !== undefined && (readers.isHandedOut || readers.nodes.size > 0);
}

/** What a step is for, where that is its value alone. */
function purposeOf(node: Node, returns: boolean, { tools }: CheckEnvironment): string | undefined {
  if (node.kind === 'compute') return 'computes a value';
  if (!returns || node.guidance !== undefined) return undefined;
  if (node.kind === 'resource') return `reads \`${node.resource}\``;
  const tool = node.kind === 'call' ? tools.get(node.tool) : undefined;
  if (tool === undefined || node.kind !== 'call' || toolSafetyOf(tool) !== 'readOnly') return undefined;
  return `calls \`${node.tool}\`, which changes nothing`;
}
