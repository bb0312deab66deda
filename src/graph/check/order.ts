import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { references } from '../expression/references.js';
import { sideExpressions, valueExpressions } from '../node-expressions.js';
import { nearestName } from '../suggest.js';
import { placeOfNode, relatedPlace, type Subject } from './places.js';

/** SW3005 unknown names in `after`, SW4006 steps that wait for each other. */
export function checkOrder(subject: Subject): Diagnostic[] {
  const { graph, nodes } = subject;
  const unknown = graph.nodes.flatMap((node) =>
    node.after
      .filter((target) => !nodes.has(target))
      .map((target) =>
        diagnostic('SW3005', placeOfNode(node, graph), {
          step: node.id,
          target,
          suggestion: nearestName(
            target,
            [...nodes.keys()].filter((id) => id !== node.id),
          ),
        }),
      ),
  );
  return [...unknown, ...findCycles(dependencies(subject)).map((cycle) => reportCycle(subject, cycle))];
}

/** What each step waits for: `after`, and the steps it names. Forward references are SW3004 and no edges here. */
export function dependencies({ graph, nodes }: Subject): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const [index, node] of graph.nodes.entries()) {
    // Of two steps with one id, which is SW4009, the first one counts: together they would seem to wait for themselves.
    if (nodes.get(node.id)?.node !== node) continue;
    const targets = new Set<string>();
    for (const target of node.after) if (nodes.has(target)) targets.add(target);
    for (const { ref } of [...valueExpressions(node), ...sideExpressions(node)].flatMap(references)) {
      const target = ref.root === 'steps' ? nodes.get(String(ref.path[0])) : undefined;
      if (target !== undefined && target.index <= index) targets.add(target.node.id);
    }
    edges.set(node.id, targets);
  }
  return edges;
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
