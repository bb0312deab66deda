import { describeKind } from '../../../graph/expression/value.js';
import type { Json } from '../../../graph/json.js';
import { MAX_LOOP_CONCURRENCY } from '../../../graph/limits.js';
import type { ForeachNode } from '../../../graph/model.js';
import type { Evaluated } from '../evaluation.js';
import { fail } from '../fail.js';
import { failures } from '../failures.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from '../records.js';
import {
  beginParts,
  closeContainer,
  completePart,
  failedWith,
  isOver,
  type Outcome,
  openContainer,
  succeededWith,
} from '../scopes.js';
import { containerOf } from '../state.js';
import { readerOf, type Transition } from '../transition.js';

/** Runs its body for each item of a list. [N3, N4] */
export function beginForeach(transition: Transition, node: NodeRecord, model: ForeachNode): void {
  const items = itemsOf(transition, node, model);
  if (!items.ok) {
    fail(transition, node, { failure: items.failure, reached: node.attempt, final: true });
    return;
  }
  openContainer(transition, node, 0, items.value.length).items = items.value;
  transition.state.items.put(node.key, items.value);
  goOnWithItems(transition, node, model);
}

/** How many there are is checked before anything runs. */
function itemsOf(
  transition: Transition,
  node: NodeRecord,
  { items, max }: ForeachNode,
): Evaluated<readonly Json[]> {
  const evaluated = readerOf(transition, node).value(items);
  if (!evaluated.ok) return evaluated;
  const { value } = evaluated;
  if (!Array.isArray(value)) return { ok: false, failure: failures.foreachItems(describeKind(value)) };
  if (value.length > max) return { ok: false, failure: failures.foreachLimit(value.length, max) };
  return { ok: true, value };
}

/** An item has ended. Where it failed and the loop with it, no further one begins and those that run are stopped. */
export function completeItem(
  transition: Transition,
  node: NodeRecord,
  model: ForeachNode,
  scope: ScopeRecord,
): void {
  completePart(transition, node, scope, model.onItemError === 'fail' ? 'stop' : undefined);
  goOnWithItems(transition, node, model);
}

function goOnWithItems(transition: Transition, node: NodeRecord, { concurrency }: ForeachNode): void {
  beginParts(transition, node, Math.min(concurrency, MAX_LOOP_CONCURRENCY));
  const container = containerOf(node);
  if (isOver(container)) closeContainer(transition, node, outcomeOfLoop(container));
}

function outcomeOfLoop(container: ContainerRecord): Outcome {
  const { end, next, cut, failure, failedPart, final, values } = container;
  if (failure !== undefined) {
    const isItem = failedPart !== undefined;
    return failedWith(isItem ? failures.item(failure, failedPart, valuesOf(container)) : failure, final);
  }
  if (cut || next < end) return { status: 'cancelled' };
  const all: Json[] = [];
  for (let part = 0; part < end; part += 1) all.push(values[part]?.value ?? null);
  return succeededWith(all);
}

/** Values of the items that have succeeded, absent ones left out. */
function valuesOf({ next, values }: ContainerRecord): [index: number, value: Json][] {
  const found: [number, Json][] = [];
  for (let part = 0; part < next; part += 1) {
    const value = values[part]?.value;
    if (value !== undefined) found.push([part, value]);
  }
  return found;
}
