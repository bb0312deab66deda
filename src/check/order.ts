import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { placeOfNode, relatedPlace } from './places.js';
import type { RoutersOf } from './routes.js';
import type { Placed, Subject } from './subject.js';
import type { WaitsOf } from './waits.js';

/** SW4006: steps that wait for each other, because of `after`, references, routes or the way back of a `goto`. */
export function checkOrder(subject: Subject, waitsOf: WaitsOf, routersOf: RoutersOf): Diagnostic[] {
  return findCycles(edgesIn(subject, waitsOf, routersOf)).map((cycle) => reportCycle(subject, cycle));
}

function edgesIn(
  { placed, scopes, nodes }: Subject,
  waitsOf: WaitsOf,
  routersOf: RoutersOf,
): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const each of placed) {
    // Of two steps with one id, which is SW4009, the first one counts: together they would seem to wait for themselves.
    if (nodes.get(each.node.id) !== each) continue;
    const targets = new Set<string>();
    for (const target of [...waitsOf(each).all, ...routersOf(each)]) {
      // Of two steps with one id, which is SW4009, neither waits for the other.
      if (target.node.id !== each.node.id || target === each) targets.add(target.node.id);
    }
    edges.set(each.node.id, targets);
  }
  for (const scope of scopes) {
    for (const back of scope.nodes) {
      if (back.node.kind === 'goto') addWayBack(back, back.node.target, edges);
    }
  }
  return edges;
}

/** A `goto` waits for what it would begin anew, and what comes later and waits for any of that waits for the `goto`. */
function addWayBack(back: Placed, target: string, edges: Map<string, Set<string>>): void {
  const { nodes } = back.scope;
  const start = nodes.findIndex(({ node }) => node.id === target);
  if (start < 0 || start >= back.index) return;
  const repeated = new Set(nodes.slice(start, back.index).map(({ node }) => node.id));
  for (const id of repeated) edges.get(back.node.id)?.add(id);
  for (const { node } of nodes.slice(back.index + 1)) {
    const targets = edges.get(node.id);
    if (targets !== undefined && [...targets].some((id) => repeated.has(id))) targets.add(back.node.id);
  }
}

/** Cycles that share no step, each in the order of waiting, beginning with the step that was declared first. */
function findCycles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const left = new Map([...edges].map(([id, targets]) => [id, new Set(targets)]));
  const cycles: string[][] = [];
  for (dropFree(left); left.size > 0; dropFree(left)) {
    const cycle = cycleIn(left);
    for (const id of cycle) left.delete(id);
    cycles.push(cycle);
  }
  const order = [...edges.keys()];
  return cycles.map((cycle) => {
    const first = order.find((id) => cycle.includes(id));
    const start = first === undefined ? 0 : cycle.indexOf(first);
    return [...cycle.slice(start), ...cycle.slice(0, start)];
  });
}

/** Takes out every step that waits, directly or not, for none of those that are left. */
function dropFree(left: Map<string, Set<string>>): void {
  const waiting = new Map<string, string[]>();
  const free: string[] = [];
  for (const [id, targets] of left) {
    for (const target of targets) {
      const users = waiting.get(target);
      if (!left.has(target)) targets.delete(target);
      else if (users === undefined) waiting.set(target, [id]);
      else users.push(id);
    }
    if (targets.size === 0) free.push(id);
  }
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    left.delete(id);
    for (const user of waiting.get(id) ?? []) {
      const targets = left.get(user);
      targets?.delete(id);
      if (targets?.size === 0) free.push(user);
    }
  }
}

/** Every step that is left waits for another one that is left, so that following them comes round. */
function cycleIn(left: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const path: string[] = [];
  const places = new Map<string, number>();
  let [id] = left.keys();
  while (id !== undefined && !places.has(id)) {
    places.set(id, path.length);
    path.push(id);
    [id] = left.get(id) ?? [];
  }
  return path.slice(id === undefined ? 0 : places.get(id));
}

function reportCycle({ graph, nodes }: Subject, cycle: readonly string[]): Diagnostic {
  const [first, ...others] = cycle.flatMap((id) => nodes.get(id)?.node ?? []);
  const place = first === undefined ? graph.source : placeOfNode(first, graph);
  const related = others.flatMap((node) => relatedPlace(`\`${node.id}\` waits here`, node.source));
  const shown = [...cycle, cycle[0]].join(' → ');
  return diagnostic('SW4006', place, { cycle: shown }, { related });
}
