import type { RunnableNode } from '../../plan/plan.js';
import type { NodeInstance } from './instances.js';
import type { Turn } from './turn.js';

/** Whether an attempt of a node takes one of the run's places. Nothing else is in flight while it runs. */
export function takesPlace(node: RunnableNode): boolean {
  return (
    node.kind === 'call' ||
    node.kind === 'resource' ||
    (node.kind === 'compute' && node.function !== undefined)
  );
}

/** Whether another call, read or evaluation may be in flight. */
export function hasFreePlace({ recorder, plan }: Turn): boolean {
  return recorder.run.running < plan.maxConcurrency;
}

/** Takes or gives back a place. */
export function changePlaces({ recorder }: Turn, by: 1 | -1): void {
  recorder.draftRun().running += by;
}

/** Puts a node at the end of the line for a free place. The line lives in the rows, so no step scans the graph. */
export function standInLine(
  { recorder }: Turn,
  { key }: NodeInstance,
  status: 'ready' | 'running' = 'ready',
): void {
  const { run, tables } = recorder;
  const { readyTail } = run;
  const row = { ...tables.nodes.need(key), status };
  if (readyTail === undefined) {
    tables.nodes.put(key, row);
    recorder.putRun({ ...run, readyHead: key, readyTail: key });
    return;
  }
  tables.nodes.put(key, { ...row, previous: readyTail });
  tables.nodes.put(readyTail, { ...tables.nodes.need(readyTail), next: key });
  recorder.putRun({ ...run, readyTail: key });
}

/** Takes the node that has waited longest out of the line. */
export function nextInLine(turn: Turn): NodeInstance | undefined {
  const { readyHead } = turn.recorder.run;
  if (readyHead === undefined) return undefined;
  const node = turn.instances.find(readyHead);
  leaveLine(turn, node);
  return node;
}

/** Takes a node out of the line, wherever it stands in it; one that does not is left alone. */
export function leaveLine({ recorder }: Turn, { key }: NodeInstance): void {
  const { nodes } = recorder.tables;
  if (nodes.need(key).previous === undefined && recorder.run.readyHead !== key) return;
  const { previous, next, ...row } = nodes.need(key);
  const { readyHead, readyTail, ...run } = recorder.run;
  nodes.put(key, row);
  const head = readyHead === key ? next : readyHead;
  const tail = readyTail === key ? previous : readyTail;
  const ends = head === undefined || tail === undefined ? {} : { readyHead: head, readyTail: tail };
  recorder.putRun({ ...run, ...ends });
  if (previous !== undefined) {
    const { next: _key, ...before } = nodes.need(previous);
    nodes.put(previous, next === undefined ? before : { ...before, next });
  }
  if (next !== undefined) {
    const { previous: _key, ...behind } = nodes.need(next);
    nodes.put(next, previous === undefined ? behind : { ...behind, previous });
  }
}
