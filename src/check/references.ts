import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references, unboundLocals } from '../graph/expression/references.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import { ERROR_FIELDS } from '../graph/failure-code.js';
import type { Node } from '../graph/model.js';
import { expressionsOf, fallbackValue } from '../graph/node-expressions.js';
import type { Place } from '../graph/place.js';
import { nearestName } from '../graph/suggest.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { type Reader, visibilityOf } from '../plan/visibility.js';
import { placeOfExpr, placeOfNode, relatedPlace } from './places.js';

/** What is known of a failure, as `error` in the value that stands in for it and in the node that takes over. */

/**
 * SW3001 unknown bindings, items and local names, SW3002 undeclared arguments, SW3004 steps that are bound after their
 * use, SW3012 failures named where there is none, SW4018 steps that stand where they cannot be read, SW4031 unknown
 * fields of the state, SW4033 fields that a step does not say it reads.
 */
export function checkReferences(plan: WorkflowPlan): Diagnostic[] {
  const { graph } = plan;
  const ofNodes = plan.nodes.flatMap((planned) => {
    const { node, scope } = planned;
    const source = placeOfNode(node, graph);
    const fallback = fallbackValue(node);
    const takesOver = planned.selectors.some((router) => isFallbackOf(node.id, router.node));
    return expressionsOf(node).flatMap((expr) =>
      checkExpression(plan, expr, { scope, node: planned }, source, takesOver || expr === fallback),
    );
  });
  const ofScopes = plan.scopes.flatMap((scope) => {
    if (scope.value === undefined) return [];
    const source = scope.container === undefined ? graph.source : placeOfNode(scope.container.node, graph);
    return checkExpression(plan, scope.value, { scope }, source, false);
  });
  return [...ofNodes, ...ofScopes];
}

function isFallbackOf(id: string, { onError }: Node): boolean {
  return onError !== undefined && 'fallbackNode' in onError && onError.fallbackNode === id;
}

function checkExpression(
  plan: WorkflowPlan,
  expr: Expr,
  reader: Reader,
  source: Place | undefined,
  knowsError: boolean,
): Diagnostic[] {
  const refs = references(expr).map(({ ref }) => ref);
  const unbound = unboundLocals(expr).map((ref) =>
    diagnostic('SW3001', placeOfExpr(ref, source), { name: String(ref.path[0]) }),
  );
  return [
    ...refs.flatMap((ref) => checkReference(plan, ref, reader, placeOfExpr(ref, source), knowsError)),
    ...unbound,
  ];
}

function checkReference(
  plan: WorkflowPlan,
  { root, path }: RefExpr,
  reader: Reader,
  place: Place | undefined,
  knowsError: boolean,
): Diagnostic[] {
  const name = String(path[0]);
  switch (root) {
    case 'inputs': {
      const known = plan.graph.inputs.map((input) => input.name);
      if (known.includes(name)) return [];
      return [diagnostic('SW3002', place, { name, suggestion: nearestName(name, known) })];
    }
    case 'steps':
      return checkStep(plan, name, reader, place);
    case 'state':
      return checkField(plan, name, reader, place);
    case 'item':
    case 'index': {
      const known = reader.scope.loops.flatMap(({ node }) => {
        if (node.kind !== 'foreach') return [];
        return (root === 'item' ? node.as : node.indexAs) ?? [];
      });
      if (known.includes(name)) return [];
      return [diagnostic('SW3001', place, { name, suggestion: nearestName(name, known) })];
    }
    case 'error': {
      const step = (reader.node ?? reader.scope.container)?.node.id ?? 'output';
      if (!knowsError) return [diagnostic('SW3012', place, { step })];
      if (ERROR_FIELDS.includes(name)) return [];
      const suggestion = nearestName(name, ERROR_FIELDS);
      return [diagnostic('SW3001', place, { name: `error.${name}`, suggestion })];
    }
    case 'local':
    case 'run':
      return [];
    default:
      return root satisfies never;
  }
}

function checkStep(plan: WorkflowPlan, name: string, reader: Reader, place: Place | undefined): Diagnostic[] {
  const target = plan.byId.get(name);
  if (target === undefined) {
    return [diagnostic('SW3001', place, { name, suggestion: nearestName(name, plan.byId.keys()) })];
  }
  if (plan.duplicates.has(name)) return [];
  const visible = visibilityOf(target, reader);
  const related = relatedPlace('bound here', target.node.source);
  switch (visible.kind) {
    case 'visible': {
      const { source, user } = visible;
      if (user === undefined || source.index <= user.index) return [];
      const step = reader.node?.node.id ?? user.node.id;
      return [diagnostic('SW3004', place, { name, step }, { related: name === step ? [] : related })];
    }
    case 'inLoop': {
      const loop = visible.loop.node.id;
      const hint = `let the loop hand it out, and read it from \`${loop}\``;
      return [diagnostic('SW4018', place, { name, where: `loop \`${loop}\`` }, { related, hint })];
    }
    case 'inOtherArm': {
      const where = `arm \`${visible.arm}\` of step \`${visible.of.node.id}\``;
      const hint = `read it behind \`${visible.of.node.id}\``;
      return [diagnostic('SW4018', place, { name, where }, { related, hint })];
    }
    default:
      return visible satisfies never;
  }
}

function checkField(
  { graph }: WorkflowPlan,
  field: string,
  reader: Reader,
  place: Place | undefined,
): Diagnostic[] {
  const known = (graph.state ?? []).map(({ name }) => name);
  if (!known.includes(field)) {
    return [
      diagnostic('SW4031', place, { workflow: graph.name, field, suggestion: nearestName(field, known) }),
    ];
  }
  const node = reader.node?.node;
  if (node?.reads === undefined || node.reads.includes(field)) return [];
  return [diagnostic('SW4033', place, { step: node.id, field })];
}
