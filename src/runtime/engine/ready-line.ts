import type { PlannedNode } from './plan.js';
import type { Turn } from './turn.js';

/** Whether another call, read or evaluation may be in flight. */
export function hasFreePlace({ recorder, plan }: Turn): boolean {
  return recorder.run.running < plan.maxConcurrency;
}

/** Puts a node at the end of the line for a free place. The line lives in the rows, so no step scans the graph. */
export function standInLine({ recorder }: Turn, planned: PlannedNode): void {
  const { id } = planned.node;
  const { run } = recorder;
  recorder.putNode(id, { ...recorder.node(id), status: 'ready' });
  if (run.readyTail === undefined) {
    recorder.putRun({ ...run, readyHead: id, readyTail: id });
    return;
  }
  recorder.putNode(run.readyTail, { ...recorder.node(run.readyTail), next: id });
  recorder.putRun({ ...run, readyTail: id });
}

/** Takes the node that has waited longest out of the line. */
export function nextInLine({ recorder, plan }: Turn): PlannedNode | undefined {
  const { readyHead, readyTail, ...run } = recorder.run;
  if (readyHead === undefined || readyTail === undefined) return undefined;
  const { next, ...row } = recorder.node(readyHead);
  recorder.putNode(readyHead, row);
  recorder.putRun(next === undefined ? run : { ...run, readyHead: next, readyTail });
  return plan.byId.get(readyHead);
}

/** Empties the line. Gives those who stood in it, the one who waited longest first. */
export function leaveLine(turn: Turn): PlannedNode[] {
  const left: PlannedNode[] = [];
  for (let planned = nextInLine(turn); planned !== undefined; planned = nextInLine(turn)) left.push(planned);
  return left;
}
