import type { Graph } from '../graph/model.js';
import { plannedCompensations } from './compensations.js';
import { stuckIn } from './cycles.js';
import {
  type Draft,
  type DraftScope,
  type DraftWorkflow,
  draftWorkflow,
  type Surroundings,
  shareEmptyLists,
} from './draft.js';
import { addEdges } from './edges.js';
import { planFailures } from './fault.js';
import { faultsOf } from './faults.js';
import { addJumps } from './jumps.js';

import { addRoutes, freeRollbacks } from './routes.js';

/** Compiles one workflow. What is wrong with it goes to `faults`; then the plan must not be run. */
export function compileWorkflow(graph: Graph, surroundings: Surroundings): DraftWorkflow {
  const { faults } = surroundings;
  const before = faults.length;
  faults.push(...faultsOf(graph, surroundings));
  const workflow = draftWorkflow(graph, surroundings);
  if (faults.length > before) return workflow;
  for (const scope of scopesOf(workflow.root)) {
    for (const draft of scope.nodes) addEdges(draft, faults);
    for (const draft of scope.nodes) addRoutes(draft, faults);
    for (const draft of scope.nodes) addJumps(draft, faults);
    turnRound(scope.nodes);
    freeRollbacks(scope.nodes);
    shareEmptyLists(scope.nodes);
    for (const draft of scope.nodes) {
      draft.isDueAtOnce = draft.needsSelection ? draft.routers.length === 0 : draft.orders.length === 0;
      draft.hasSelection = draft.needsSelection || draft.routes.length > 0;
      draft.compensations = plannedCompensations(draft);
    }
    const stuck = stuckIn(scope.nodes);
    if (stuck.length > 0) faults.push({ failure: planFailures.cycle(stuck) });
  }
  return workflow;
}

function* scopesOf(scope: DraftScope): Generator<DraftScope> {
  yield scope;
  for (const { parts } of scope.nodes) for (const part of parts) yield* scopesOf(part);
}

/** Every edge is known from one end; now from the other one as well, in declaration order. */
function turnRound(nodes: readonly Draft[]): void {
  const successors = new Map<Draft, Draft[]>(nodes.map((draft) => [draft, []]));
  const routes = new Map<Draft, Draft[]>(nodes.map((draft) => [draft, []]));
  for (const draft of nodes) {
    for (const before of draft.orders) successors.get(before)?.push(draft);
    for (const router of draft.routers) routes.get(router)?.push(draft);
  }
  for (const draft of nodes) {
    draft.successors = successors.get(draft) ?? [];
    draft.routes = routes.get(draft) ?? [];
  }
}
