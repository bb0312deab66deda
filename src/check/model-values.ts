import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references } from '../graph/expression/traversal.js';
import type { RefExpr } from '../graph/expression/tree.js';
import { locationOfExpr, locationOfNode } from '../graph/source-location.js';
import { planOf } from '../plan/compile.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { type PlanSecrets, secretsOf } from '../plan/secrets.js';
import type { CheckEnvironment } from './environment.js';

/** SW4038: messages for a model that name a secret. */
export function checkModelMessages(
  { graph, nodes }: WorkflowPlan,
  { tools }: CheckEnvironment,
): Diagnostic[] {
  const asks = nodes.flatMap(({ node }) => (node.kind === 'ask' && node.mode === 'model' ? [node] : []));
  if (asks.length === 0) return [];
  const secrets = secretsOf(planOf(graph), (tool) => tools.get(tool)?.secret ?? []);
  return asks.flatMap((node) => {
    const named = references(node.message).find(({ ref }) => isSecret(ref, graph.name, secrets));
    if (named === undefined) return [];
    const location = locationOfExpr(node.message, locationOfNode(node, graph));
    return [diagnostic('SW4038', location, { step: node.id, secret: named.ref.path.join('.') })];
  });
}

function isSecret({ root, path: [name, ...path] }: RefExpr, workflow: string, secrets: PlanSecrets): boolean {
  if (root === 'inputs') return secrets.has(workflow, String(name));
  if (root !== 'steps') return false;
  // The message holds the secret if it names it, or a value around it or in it.
  return secrets
    .pathsOf(workflow, String(name))
    .some((secret) => secret.every((key, index) => index >= path.length || path[index] === key));
}
