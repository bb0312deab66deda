import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import { workExpressions } from '../graph/nodes.js';
import { locationOfExpr, locationOfNode } from '../graph/source-location.js';
import { planOf } from '../plan/compile.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { type PlanSecrets, secretsOf } from '../plan/secrets.js';
import type { CheckEnvironment } from './environment.js';

/** Texts that leave the server: masked, they are of no use. */
interface Outgoing {
  readonly to: string;
  /** Expressions by the parameters that they are for. */
  readonly parameters: Readonly<Record<string, Expr | undefined>>;
}

/** SW4038: secrets in messages for a model and in work of the client. */
export function checkSecrets({ graph, nodes }: WorkflowPlan, { tools }: CheckEnvironment): Diagnostic[] {
  const outgoing = nodes.map(({ node }) => ({ node, ...outgoingOf(node) }));
  if (outgoing.every(({ parameters }) => Object.keys(parameters).length === 0)) return [];
  const secrets = secretsOf(planOf(graph), (tool) => tools.get(tool)?.secret ?? []);
  if (!secrets.any) return [];
  return outgoing.flatMap(({ node, to, parameters }) =>
    Object.entries(parameters).flatMap(([parameter, expr]) => {
      const ref = expr && references(expr).find((each) => isSecret(each.ref, graph.name, secrets))?.ref;
      if (expr === undefined || ref === undefined) return [];
      const location = locationOfExpr(expr, locationOfNode(node, graph));
      return [diagnostic('SW4038', location, { step: node.id, parameter, secret: ref.path.join('.'), to })];
    }),
  );
}

function outgoingOf(node: Node): Outgoing {
  if (node.kind !== 'ask') {
    return { to: node.kind === 'delegate' ? 'an agent' : 'the client', parameters: workExpressions(node) };
  }
  return { to: 'a model', parameters: node.mode === 'model' ? { message: node.message } : {} };
}

function isSecret({ root, path: [name, ...path] }: RefExpr, workflow: string, secrets: PlanSecrets): boolean {
  if (root === 'inputs') return secrets.has(workflow, String(name));
  if (root !== 'steps') return false;
  // The text holds the secret if it names it, or a value around it or in it.
  return secrets
    .pathsOf(workflow, String(name))
    .some((secret) => secret.every((key, index) => index >= path.length || path[index] === key));
}
