import type { GotoNode } from '../../src/graph/model.js';
import { release, succeed } from './endings.js';
import { forgetFailedItems, noteRestart } from './records.js';
import type { Instance, Run } from './run.js';
import { NoValue } from './values.js';

/** Jumps back while it may. @throws NoValue */
export function goBack(run: Run, instance: Instance, { target, max, onLimit }: GotoNode): void {
  if (instance.jumps >= run.rules.loopLimit(max)) {
    if (onLimit === 'fail') throw new NoValue('E_LOOP_LIMIT');
    succeed(run, instance, undefined);
    return;
  }
  instance.jumps += 1;
  const { nodes } = instance.part;
  const first = nodes.findIndex(({ node }) => node.id === target);
  const again = nodes.slice(first, nodes.indexOf(instance) + 1);
  for (const each of again) startOver(run, each);
  // They decide their selections again.
  for (const each of nodes) {
    if (each.status === 'pending') each.selections = each.selections.filter(({ by }) => !again.includes(by));
  }
}

function startOver(run: Run, instance: Instance): void {
  release(run, instance);
  noteRestart(run, instance);
  forgetFailedItems(run, instance);
  if (run.rules.jumpForgetsEffects)
    run.effects = run.effects.filter(
      ({ call, around }) => call !== instance.key && !around.includes(instance.key),
    );
  instance.status = 'pending';
  instance.reason = undefined;
  if (run.rules.jumpForgets) instance.value = undefined;
  instance.fault = undefined;
  instance.attempts = 0;
  instance.reached = 0;
  instance.parts = [];
  instance.open = [];
  instance.verdict = undefined;
  instance.rollback = undefined;
  instance.input = undefined;
}
