import { type Diagnostic, type DiagnosticDetails, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Node } from '../graph/model.js';
import { nearestName } from '../graph/suggest.js';
import { placeOfNode } from './places.js';
import { type Placed, type Subject, sightOf } from './subject.js';

/** A way from a node to another one of its scope that it may select. */
export interface Route {
  readonly kind: 'goto' | 'fallbackNode' | 'compensateNode';
  readonly target: string;
  /** For `goto`: the arm that leads there. */
  readonly arm?: string;
}

/** The nodes a node may select, in declaration order. */
export function routesOf(node: Node): Route[] {
  const routes: Route[] = [];
  if (node.kind === 'branch') {
    for (const arm of [...node.cases, ...(node.else === undefined ? [] : [node.else])])
      if ('goto' in arm) routes.push({ kind: 'goto', target: arm.goto, arm: arm.id });
  }
  if (node.kind === 'parallel' && node.compensateNode !== undefined)
    routes.push({ kind: 'compensateNode', target: node.compensateNode });
  if (node.onError !== undefined && 'fallbackNode' in node.onError)
    routes.push({ kind: 'fallbackNode', target: node.onError.fallbackNode });
  return routes;
}

/** The nodes that may select a node. */
export type RoutersOf = (placed: Placed) => readonly Placed[];

/** Who may select whom, as far as routes lead to nodes of their own scope. */
export function routersIn({ placed, nodes }: Subject): RoutersOf {
  const routers = new Map<Placed, Placed[]>();
  for (const router of placed) {
    for (const { target } of routesOf(router.node)) {
      const selected = nodes.get(target);
      if (selected === undefined || selected === router || selected.scope !== router.scope) continue;
      const known = routers.get(selected);
      if (known === undefined) routers.set(selected, [router]);
      else known.push(router);
    }
  }
  return (each) => routers.get(each) ?? [];
}

/** Whether a node runs only when another one selects it. */
export function isSelectedOnly(placed: Placed, routersOf: RoutersOf): boolean {
  const { node } = placed;
  return node.kind === 'compensate' || (node.after.length === 0 && routersOf(placed).length > 0);
}

/**
 * SW4017 names in `after` and in routes that do not stand beside the node, SW3005 such names in `after` that stand
 * nowhere, SW4019 waiting for what only runs when it is selected, SW4025 going on with `goto` instead of back.
 */
export function checkRoutes(subject: Subject, routersOf: RoutersOf): Diagnostic[] {
  return subject.placed.flatMap((placed) => [
    ...placed.node.after.flatMap((target) => checkAfter(placed, target, subject, routersOf)),
    ...routesOf(placed.node).flatMap(({ kind, target }) => checkRoute(placed, kind, target, subject)),
    ...checkGoto(placed, subject),
  ]);
}

function checkAfter(placed: Placed, target: string, subject: Subject, routersOf: RoutersOf): Diagnostic[] {
  const { node, scope } = placed;
  const place = placeOfNode(node, subject.graph);
  const found = subject.nodes.get(target);
  if (found === undefined) {
    const suggestion = nearestName(target, idsBeside(placed));
    return [diagnostic('SW3005', place, { step: node.id, target, suggestion })];
  }
  if (subject.twice.has(target)) return [];
  if (found.scope !== scope) return [misplaced(placed, 'after', found, subject)];
  const { kind } = found.node;
  if (kind !== 'compensate' && (kind !== 'error' || !isSelectedOnly(found, routersOf))) return [];
  return [diagnostic('SW4019', place, { step: node.id, target, kind })];
}

function checkRoute(placed: Placed, option: Route['kind'], target: string, subject: Subject): Diagnostic[] {
  const found = beside(placed, option, target, subject);
  if (!('node' in found)) return [found];
  const fault = (why: string): Diagnostic[] => [routeFault(placed, option, target, why, subject)];
  if (found === placed) return fault('which is the step itself');
  if (option === 'compensateNode' && found.node.kind !== 'compensate')
    return fault('which is not of the kind `compensate`');
  return [];
}

function checkGoto(placed: Placed, subject: Subject): Diagnostic[] {
  const { node } = placed;
  if (node.kind !== 'goto') return [];
  const found = beside(placed, 'target', node.target, subject);
  if (!('node' in found)) return [found];
  if (found.index < placed.index) return [];
  return [diagnostic('SW4025', placeOfNode(node, subject.graph), { step: node.id, target: node.target })];
}

/** The node of this name in the same scope, or why there is none. */
function beside(placed: Placed, option: string, target: string, subject: Subject): Placed | Diagnostic {
  const found = subject.nodes.get(target);
  if (found !== undefined)
    return found.scope === placed.scope ? found : misplaced(placed, option, found, subject);
  const suggestion = nearestName(target, idsBeside(placed));
  const hint = suggestion === undefined ? {} : { hint: `did you mean \`${suggestion}\`?` };
  return routeFault(placed, option, target, 'which is not a step of this workflow', subject, hint);
}

/** The hint names the container that stands beside the node in the place of what it holds. */
function misplaced(placed: Placed, option: string, found: Placed, subject: Subject): Diagnostic {
  const sight = sightOf(found, { scope: placed.scope, node: placed });
  const container = sight.kind === 'seen' && sight.user === placed ? sight.source.node.id : undefined;
  const hint = option === 'after' && container !== undefined ? { hint: `wait for \`${container}\`` } : {};
  return routeFault(placed, option, found.node.id, 'which stands in another list of steps', subject, hint);
}

function routeFault(
  { node }: Placed,
  option: string,
  target: string,
  why: string,
  { graph }: Subject,
  details: DiagnosticDetails = {},
): Diagnostic {
  return diagnostic('SW4017', placeOfNode(node, graph), { step: node.id, option, target, why }, details);
}

function idsBeside({ node, scope }: Placed): string[] {
  return scope.nodes.map((other) => other.node.id).filter((id) => id !== node.id);
}
