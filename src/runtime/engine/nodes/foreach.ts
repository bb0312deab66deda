import { describeKind } from '../../../graph/expression/value.js';
import type { Json } from '../../../graph/json.js';
import { MAX_LOOP_CONCURRENCY } from '../../../graph/limits.js';
import type { ForeachNode } from '../../../graph/model.js';
import {
  beginParts,
  closeContainer,
  failedWith,
  isOver,
  openContainer,
  partEnded,
  succeededWith,
} from '../containers.js';
import { fail } from '../ending.js';
import type { Evaluated } from '../evaluation.js';
import { failures } from '../failures.js';
import type { NodeInstance, ScopeInstance } from '../instances.js';
import type { Outcome } from '../scopes.js';
import { readerOf, type Turn } from '../turn.js';

/** Runs its body for each item of a list. [N3, N4] */
export function beginForeach(turn: Turn, node: NodeInstance, model: ForeachNode): void {
  const items = itemsOf(turn, node, model);
  if (!items.ok) {
    const { attempt: reached } = turn.recorder.tables.nodes.need(node.key);
    fail(turn, node, { failure: items.failure, reached, final: true });
    return;
  }
  openContainer(turn, node, 0, items.value.length);
  turn.recorder.tables.items.put(node.key, items.value);
  goOnWithItems(turn, node, model);
}

/** How many there are is checked before anything runs. */
function itemsOf(turn: Turn, node: NodeInstance, { items, max }: ForeachNode): Evaluated<readonly Json[]> {
  const evaluated = readerOf(turn, node).value(items);
  if (!evaluated.ok) return evaluated;
  const { value } = evaluated;
  if (!Array.isArray(value)) return { ok: false, failure: failures.foreachItems(describeKind(value)) };
  if (value.length > max) return { ok: false, failure: failures.foreachLimit(value.length, max) };
  return { ok: true, value };
}

/** An item has ended. Where it failed and the loop with it, no further one begins and those that run are stopped. */
export function itemEnded(turn: Turn, node: NodeInstance, model: ForeachNode, scope: ScopeInstance): void {
  partEnded(turn, node, scope, model.onItemError === 'fail' ? 'stop' : undefined);
  goOnWithItems(turn, node, model);
}

function goOnWithItems(turn: Turn, node: NodeInstance, { concurrency }: ForeachNode): void {
  const { containers } = turn.recorder.tables;
  beginParts(turn, node, Math.min(concurrency, MAX_LOOP_CONCURRENCY));
  if (isOver(containers.need(node.key))) closeContainer(turn, node, outcomeOfLoop(turn, node));
}

function outcomeOfLoop(turn: Turn, node: NodeInstance): Outcome {
  const { containers, outputs } = turn.recorder.tables;
  const { end, next, cut, failure, failedPart, final } = containers.need(node.key);
  if (failure !== undefined) {
    const values = failedPart === undefined ? [] : valuesOf(turn, node, next);
    return failedWith(failedPart === undefined ? failure : failures.item(failure, failedPart, values), final);
  }
  if (cut || next < end) return { status: 'cancelled' };
  const values: Json[] = [];
  for (let part = 0; part < end; part += 1) {
    values.push(outputs.get(turn.instances.part(node, part).key) ?? null);
  }
  return succeededWith(values);
}

/** Values of the items that have succeeded, absent ones left out. */
function valuesOf(turn: Turn, node: NodeInstance, next: number): [index: number, value: Json][] {
  const values: [number, Json][] = [];
  for (let part = 0; part < next; part += 1) {
    const value = turn.recorder.tables.outputs.get(turn.instances.part(node, part).key);
    if (value !== undefined) values.push([part, value]);
  }
  return values;
}
