import { begin } from './begin.js';
import { failForGood, skip } from './endings.js';
import { needsSelection, waitsIn } from './order.js';
import { type Instance, isSettled, type Run } from './run.js';
import { attempt, holds } from './values.js';

/** Decides a node that is pending, if it can be decided. Gives whether it was. */
export function decide(run: Run, instance: Instance): boolean {
  const { node, part } = instance;
  const { joined, needed, all, loops, routerLoops, routers } = waitsOf(instance);
  const beside = (ids: Iterable<string>) => part.nodes.filter((each) => new Set(ids).has(each.node.id));
  const maySelect = beside(routers.map(({ id }) => id));
  const isRouted = needsSelection(node, routers);
  const isChosen = !isRouted || instance.selections.length > 0;
  if (!beside(isChosen ? loops : routerLoops).every(isSettled)) return false;
  if (!isChosen) {
    if (!maySelect.every(isSettled)) return false;
    skip(run, instance, run.rules.notSelected);
    return true;
  }
  if (!isRouted && !maySelect.every(isSettled)) return false;
  if (!beside(all).every(isSettled)) return false;

  const collects = part.frame.graph.errorStrategy?.kind === 'collect';
  if (collects && beside(needed).some((each) => countsAs(each) === 'failed')) {
    skip(run, instance, 'upstream_failed');
    return true;
  }
  const counted = { succeeded: 0, failed: 0, skipped: 0 };
  for (const each of beside(joined)) counted[countsAs(each)] += 1;
  const verdict = run.rules.join(node.join, counted);
  if (verdict !== 'run') {
    skip(run, instance, verdict);
    return true;
  }
  attempt(
    () => {
      if (node.when !== undefined && !holds(run, part, node.when))
        skip(run, instance, run.rules.conditionFalse);
      else begin(run, instance);
    },
    (fault) => failForGood(run, instance, fault),
  );
  return true;
}

function waitsOf({ node, part }: Instance) {
  const waits = waitsIn(part.declared).get(node.id);
  if (waits === undefined) throw new Error(`nothing is known of ${node.id}`);
  return waits;
}

function countsAs({ status, reason }: Instance): 'succeeded' | 'failed' | 'skipped' {
  if (status === 'succeeded') return 'succeeded';
  const failed = status === 'failed' || status === 'cancelled' || reason === 'upstream_failed';
  return failed ? 'failed' : 'skipped';
}
