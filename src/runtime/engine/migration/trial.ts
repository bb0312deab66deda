import { references } from '../../../graph/expression/traversal.js';
import type { Node } from '../../../graph/model.js';
import { bodiesOf, expressionsOf } from '../../../graph/nodes.js';
import type { Plan } from '../../../plan/plan.js';
import { advance } from '../engine.js';
import type { Fact, OwedCommand } from '../events.js';
import { commandsOf } from '../read.js';
import type { Row } from '../rows.js';
import { restore } from '../snapshot.js';
import type { RunState } from '../state.js';
import { startsIn } from './migrate-rows.js';

/**
 * Starts in a copy of the run what can start at once. A run that had begun with the graph would have started it earlier:
 * that makes no difference as long as it changes nothing that others had before, and reads nothing that they have changed.
 *
 * @param touched the keys of nodes that had started.
 * @returns the keys of nodes that come too late.
 */
export function lateStarts(to: Plan, rows: readonly Row[], touched: ReadonlySet<string>): readonly string[] {
  const ready = startsIn(rows);
  if (ready.length === 0) return [];
  const state = restore(to, rows);
  const hasWritten = rows.some(({ table }) => table === 'fields');
  const late = new Set<string>();
  for (let more = true; more; ) {
    const step = advance(to, state, []);
    for (const fact of step.facts) {
      const node = lateNode(fact, state, hasWritten);
      if (node !== undefined) late.add(node);
    }
    // What had started before must be as it was.
    for (const { table, key } of step.changes) if (table === 'nodes' && touched.has(key)) late.add(key);
    // Whatever ends the run would have ended it earlier.
    if (state.run.status !== 'running') for (const key of ready) late.add(key);
    more = step.more && late.size === 0;
  }
  // With all slots taken, the calls that were made before would have waited.
  if (state.running >= to.maxConcurrency) for (const command of commandsOf(state)) addCall(late, command);
  return [...late];
}

function addCall(late: Set<string>, { kind, node }: OwedCommand): void {
  if (kind !== 'requestAction' && kind !== 'startTimer') late.add(node);
}

function lateNode(fact: Fact, state: RunState, hasWritten: boolean): string | undefined {
  switch (fact.kind) {
    case 'nodeStarted':
    case 'nodeSkipped': {
      const { node } = state.find(fact.node).planned;
      const changesOthers = fact.kind === 'nodeStarted' && CHANGES_OTHERS.has(node.kind);
      return changesOthers || (hasWritten && readsState(node)) ? fact.node : undefined;
    }
    case 'nodeFailed':
      return fact.node;
    default:
      return undefined;
  }
}

/** Kinds of nodes that write to the state, start others over, or end the scope. */
const CHANGES_OTHERS: ReadonlySet<Node['kind']> = new Set(['set', 'goto', 'return', 'error']);

function readsState(node: Node): boolean {
  const values = bodiesOf(node).flatMap(({ scope: { value } }) => (value === undefined ? [] : [value]));
  return [...expressionsOf(node), ...values].some((expr) =>
    references(expr).some(({ ref }) => ref.root === 'state'),
  );
}
