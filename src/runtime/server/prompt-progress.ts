import type { Graph } from '../../graph/model.js';
import type { Fact } from '../engine/contract.js';
import { createProgress } from '../observers/progress.js';
import type { RequestContext } from './request.js';

/** Reports the progress of a run, and of the tools inside it, on one scale. */
export interface PromptProgress {
  /** Takes the run's facts, each once and in order. */
  observe(fact: Fact): void;
  /** What a tool of the run reports: its share of the step that runs. Without a total it has no share. */
  readonly ofTool: RequestContext['progress'];
}

/** A tool's report stays below the next step, so that progress only ever rises, as MCP demands. */
const LARGEST_SHARE = 0.99;

/** One unit of progress is one step of the workflow's plan. */
export function promptProgress(graph: Graph, report: RequestContext['progress']): PromptProgress {
  let step = { place: 0, total: 0 };
  let reported = -1;
  const steps = createProgress(graph, (place, total, message) => {
    step = { place, total };
    reported = place;
    report(place, total, message);
  });
  return {
    observe: (fact) => steps.observe(fact),
    ofTool(progress, total, message) {
      const share = Math.min(progress / (total ?? Number.NaN), LARGEST_SHARE);
      if (!(step.place + share > reported)) return;
      reported = step.place + share;
      report(reported, step.total, message);
    },
  };
}
