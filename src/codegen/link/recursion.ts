import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { LinkedWorkflow, StepDeclaration } from '../declarations.js';

/** A step whose type is found out from that of another workflow's result. */
interface Inferred {
  readonly from: LinkedWorkflow;
  readonly step: StepDeclaration;
  readonly to: LinkedWorkflow;
}

/**
 * Reports workflows that run each other where none of the steps on the way round says what it gives: what a workflow
 * gives would follow from itself.
 */
export function checkRecursion(
  workflows: readonly LinkedWorkflow[],
  report: (diagnostic: Diagnostic) => void,
): void {
  const byName = new Map(workflows.map((each) => [each.graph.name, each]));
  const edges = workflows.flatMap((from) => inferredFrom(from, byName));
  const seen = new Set<Inferred>();
  for (const edge of edges) {
    const way = seen.has(edge) ? undefined : wayBack(edge, edges);
    if (way === undefined) continue;
    for (const each of way) seen.add(each);
    const cycle = [...way.map(({ from }) => from.graph.name), edge.from.graph.name].join(' → ');
    const related = way.slice(1).map(({ step }) => ({ message: 'by way of this step', place: step.place }));
    report(diagnostic('SW3015', edge.step.place, { step: edge.step.name, cycle }, { related }));
  }
}

function inferredFrom(
  from: LinkedWorkflow,
  byName: ReadonlyMap<string, LinkedWorkflow>,
): readonly Inferred[] {
  return from.runs.flatMap(({ step, workflow }) => {
    const to = byName.get(workflow);
    return step.isAnnotated || to === undefined ? [] : [{ from, step, to }];
  });
}

/** The shortest way round that begins with an edge. */
function wayBack(edge: Inferred, edges: readonly Inferred[]): readonly Inferred[] | undefined {
  const ways: (readonly Inferred[])[] = [[edge]];
  const reached = new Set([edge.to]);
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1)?.to;
    if (last === edge.from) return way;
    for (const next of edges) {
      if (next.from !== last || reached.has(next.to)) continue;
      reached.add(next.to);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
