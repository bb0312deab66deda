import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { cyclesIn } from '../plan/edges.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { placeOfNode, relatedPlace } from './places.js';

/** SW4006: steps that wait for each other, because of `after`, references, routes or the way back of a `goto`. */
export function checkOrder(plan: WorkflowPlan): Diagnostic[] {
  // Of two steps with one id, which is SW4009, the first one counts: together they would seem to wait for themselves.
  const nodes = plan.nodes.filter((each) => plan.byId.get(each.node.id) === each);
  const waits = nodes.map((each) => {
    const targets = waitsOf(each).filter((target) => target === each || target.node.id !== each.node.id);
    return [each, targets] as const;
  });
  return cyclesIn(new Map(waits)).map((cycle) => reportCycle(plan, cycle));
}

/** What is read before it is declared is a fault of its own, and no order. */
function waitsOf({ index, sources, selectors, slice, orders, routers }: PlannedNode): PlannedNode[] {
  const jumps = [...orders, ...routers].filter((each) => each.node.kind === 'goto' && each.index < index);
  return [...sources, ...selectors, ...slice, ...jumps];
}

function reportCycle({ graph }: WorkflowPlan, cycle: readonly PlannedNode[]): Diagnostic {
  const [first, ...others] = cycle;
  const place = first === undefined ? graph.source : placeOfNode(first.node, graph);
  const related = others.flatMap(({ node }) => relatedPlace(`\`${node.id}\` waits here`, node.source));
  const shown = [...cycle, ...(first === undefined ? [] : [first])].map(({ node }) => node.id).join(' → ');
  return diagnostic('SW4006', place, { cycle: shown }, { related });
}
