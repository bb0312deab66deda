import type { PlannedNode } from '../plan/plan.js';
import { nodesBefore } from '../plan/reachability.js';

/** What a node waits for, without what it only reads and what comes long before anyway. */
export function sourcesOf({ after, sources }: PlannedNode): readonly PlannedNode[] {
  const onlyRead = sources.filter((source) => !after.includes(source));
  if (onlyRead.length === 0 || sources.length === 1) return sources;
  const first = Math.min(...onlyRead.map(({ index }) => index));
  const before = nodesBefore(sources, ({ index }) => index >= first);
  return sources.filter((source) => after.includes(source) || !before.has(source));
}
