import type { Graph } from '../../graph/model.js';
import type { Fact } from '../engine/contract.js';
import { listed } from './trace/outlook.js';

/** Tells a caller how far a run is. `total` is the number of steps in the plan. */
export type ReportProgress = (progress: number, total: number, message: string) => void;

export interface ProgressObserver {
  /** Takes the run's facts, each once and in order. */
  observe(fact: Fact): void;
}

/**
 * Reports `Step i/n: name` before each step, with the number of steps before it as progress, and at the end
 * `(n, n, 'Workflow execution complete')`, however the run ended. Progress only ever rises, as MCP demands: a step that
 * starts while a later one runs already is not reported.
 */
export function createProgress(graph: Graph, report: ReportProgress): ProgressObserver {
  const places = new Map(listed(graph).map((node, index) => [node.id, index]));
  const total = places.size;
  let reported = -1;
  return {
    observe(fact) {
      if (fact.kind === 'finished') {
        report(total, total, 'Workflow execution complete');
        return;
      }
      if (fact.kind !== 'nodeStarted') return;
      const place = places.get(fact.node);
      if (place === undefined || place <= reported) return;
      reported = place;
      report(place, total, `Step ${place + 1}/${total}: ${fact.node}`);
    },
  };
}
