import { describeKind } from '../../../graph/expression/value.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import { MAX_LOOP_CONCURRENCY } from '../../../graph/limits.js';
import type { ForeachNode } from '../../../graph/model.js';
import { stopsAtFailure } from '../../../graph/nodes.js';
import { partKey } from '../../../plan/instances.js';
import { fail } from '../attempt.js';
import { type Evaluated, readerOf } from '../evaluation.js';
import type { Failure } from '../events.js';
import { failures } from '../failures.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from '../records.js';
import {
  beginParts,
  closeContainer,
  completePart,
  failedWith,
  isFinished,
  type Outcome,
  openContainer,
  passedOn,
  succeededWith,
} from '../scopes.js';
import { containerOf, type RunState } from '../state.js';
import type { Transition } from '../transition.js';

/** Runs its body for each item of a list. [N3, N4] */
export function beginForeach(transition: Transition, node: NodeRecord, model: ForeachNode): void {
  const items = itemsOf(transition, node, model);
  if (!items.ok) {
    fail(transition, node, { failure: items.failure, reached: node.attempt, isPermanent: true });
    return;
  }
  openContainer(transition, node, 0, items.value.length).items = items.value;
  transition.state.items.put(node.key, items.value);
  continueItems(transition, node, model);
}

/** The items of a loop. Their number is checked before any of them runs. */
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

/** Ends an item. A failure that stops the loop stops the running items. */
export function completeItem(
  transition: Transition,
  node: NodeRecord,
  model: ForeachNode,
  scope: ScopeRecord,
): void {
  completePart(transition, node, scope, stopsAtFailure(model) ? 'stop' : undefined);
  continueItems(transition, node, model);
}

function continueItems(transition: Transition, node: NodeRecord, model: ForeachNode): void {
  beginParts(transition, node, Math.min(model.concurrency, MAX_LOOP_CONCURRENCY));
  const container = containerOf(node);
  if (!isFinished(container)) return;
  const outcome = outcomeOfLoop(transition.state, node, model, container);
  // The items that failed a loop are part of its failure, unless it timed out or was cancelled.
  const { failure, failedPart } = container;
  const isByItems = outcome.status === 'failed' && (failure === undefined || failedPart !== undefined);
  if (model.onItemError === 'settle' && isByItems) {
    const { failedItems } = transition.state;
    for (const key of failedItems.inside(node.key))
      if (failedItems.get(key)?.step === node.key) failedItems.delete(key);
  }
  closeContainer(transition, node, outcome);
}

function outcomeOfLoop(
  state: RunState,
  node: NodeRecord,
  model: ForeachNode,
  container: ContainerRecord,
): Outcome {
  const { end, next, interrupted, failure, failedPart, isPermanent } = container;
  const settles = model.onItemError === 'settle';
  if (failure !== undefined && (failedPart === undefined || !settles)) {
    return failedPart === undefined
      ? failedWith(failure, isPermanent)
      : passedOn(failures.item(failure, failedPart, valuesOf(container)), isPermanent);
  }
  if (failure === undefined && (interrupted || next < end)) return { status: 'cancelled' };
  if (settles) {
    const first =
      failure === undefined ? firstFailed(state, node, container) : { failure, part: failedPart ?? 0 };
    if (first !== undefined) {
      const results = resultsOf(state, node, container);
      return failedWith(failures.items(first.failure, first.part, results), isPermanent);
    }
  }
  const all: Json[] = [];
  for (let part = 0; part < end; part += 1) all.push(valueOfItem(state, node, model, part));
  return succeededWith(all);
}

/** The value of an item in that of its loop, when it has ended. */
export function valueOfItem(
  { failedItems }: RunState,
  node: NodeRecord,
  { onItemError }: ForeachNode,
  part: number,
): Json {
  const value = node.container?.values[part]?.value;
  if (value !== undefined || onItemError !== 'report') return value ?? null;
  const failure = failedItems.get(partKey(node, part))?.failure;
  return failure === undefined ? null : { error: inShort(failure) };
}

function inShort({ code, message }: Failure): JsonObject {
  return { code, message };
}

/** The failed item with the lowest index. */
function firstFailed(
  { failedItems }: RunState,
  node: NodeRecord,
  { next }: Pick<ContainerRecord, 'next'>,
): { readonly failure: Failure; readonly part: number } | undefined {
  if (failedItems.size === 0) return undefined;
  for (let part = 0; part < next; part += 1) {
    const failure = failedItems.get(partKey(node, part))?.failure;
    if (failure !== undefined) return { failure, part };
  }
  return undefined;
}

/** How each item of a loop has ended. [Q12] */
function resultsOf(
  { failedItems }: RunState,
  node: NodeRecord,
  { end, next, values, failure, failedPart }: ContainerRecord,
): JsonObject[] {
  const results: JsonObject[] = [];
  for (let part = 0; part < end; part += 1) {
    const own = part === failedPart ? failure : failedItems.get(partKey(node, part))?.failure;
    if (own !== undefined) results.push({ status: 'failed', error: inShort(own) });
    else if (part >= next) results.push({ status: 'not_run' });
    else results.push({ status: 'succeeded', value: values[part]?.value ?? null });
  }
  return results;
}

/** Values of the succeeded items, without absent ones. */
function valuesOf({ next, values }: ContainerRecord): [index: number, value: Json][] {
  const entries: [number, Json][] = [];
  for (let part = 0; part < next; part += 1) {
    const value = values[part]?.value;
    if (value !== undefined) entries.push([part, value]);
  }
  return entries;
}
