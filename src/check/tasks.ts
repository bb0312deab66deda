import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { WorkflowPlan } from '../plan/plan.js';

/** Reports SW4051: what is said of tasks in a workflow that clients do not start, or not by a tool. */
export function checkTasks({ graph }: WorkflowPlan): Diagnostic[] {
  const { name, expose, task, taskSupport = 'forbidden' } = graph;
  if (expose === undefined || expose.includes('tool')) return [];
  const isTask = task === true && !expose.includes('prompt');
  if (!isTask && taskSupport === 'forbidden') return [];
  return [diagnostic('SW4051', graph.source, { workflow: name, lacks: isTask ? 'start' : 'tool' })];
}
