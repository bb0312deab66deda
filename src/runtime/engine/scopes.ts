import type { Value } from '../../graph/json.js';
import { attemptsInside } from './commands.js';
import type { Failure } from './contract.js';
import { restartsInside } from './generation.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from './records.js';
import { readerIn, type Transition } from './transition.js';

/** How a scope ended. */
export type Outcome =
  | { readonly status: 'succeeded'; readonly value: Value }
  | { readonly status: 'failed'; readonly failure: Failure; readonly final: boolean }
  | { readonly status: 'cancelled' };

/** Begins a scope: its nodes are pending, and those that wait for nothing are due. */
export function openScope({ due, ended }: Transition, scope: ScopeRecord): void {
  const { nodes } = scope.plan;
  for (const planned of nodes) if (planned.isDueAtOnce) due.add(scope.node(planned));
  if (nodes.length === 0) ended.push({ kind: 'scope', scope });
}

/** Begins a part of a container. */
export function openPart(
  transition: Transition,
  node: NodeRecord,
  container: ContainerRecord,
  part: number,
): void {
  const { state } = transition;
  const scope = transition.change(state.newPart(node, part));
  scope.restarts = restartsInside(state, node);
  scope.attempts = attemptsInside(node, node.attempt);
  container.parts[part] = scope;
  openScope(transition, scope);
}

/** How a scope ended whose nodes have all settled. A failure goes before what was left out, and that before a value. */
export function outcomeOf(transition: Transition, scope: ScopeRecord): Outcome {
  const { failure, final, cut, endedBy, plan, workflow } = scope;
  if (failure !== undefined) return { status: 'failed', failure, final };
  if (cut) return { status: 'cancelled' };
  // The value of the `return` that was reached, which stands for the whole workflow.
  const isTop = plan.container === undefined;
  if (isTop && endedBy !== undefined) return { status: 'succeeded', value: scope.value };
  const expr = isTop ? workflow.plan.graph.returns : plan.value;
  if (expr === undefined) return { status: 'succeeded', value: isTop ? null : undefined };
  const value = readerIn(transition, scope).value(expr);
  if (value.ok) return { status: 'succeeded', value: value.value };
  transition.change(scope).failure = value.failure;
  scope.final = true;
  return { status: 'failed', failure: value.failure, final: true };
}

/** Deletes a scope that is over, and what is inside it. The value it gave its container stays. */
function wipeScope(transition: Transition, scope: ScopeRecord): void {
  transition.change(scope).isOpen = false;
  for (const node of scope.nodes) {
    if (node === undefined) continue;
    transition.change(node);
    wipeParts(transition, node);
  }
  scope.nodes.length = 0;
}

/** Deletes a part of a container. The value it gave stays. */
export function wipePart(transition: Transition, container: ContainerRecord, part: number): void {
  const scope = container.parts[part];
  if (scope === undefined) return;
  wipeScope(transition, scope);
  container.parts[part] = undefined;
}

/** Deletes everything inside a container, and its account. */
export function wipeParts(transition: Transition, node: NodeRecord): void {
  const { container } = node;
  if (container === undefined) return;
  for (let part = container.first; part < container.next; part += 1) wipePart(transition, container, part);
  wipeContainer(transition, node, container);
}

/** Deletes the account of a container whose parts are deleted. */
export function wipeContainer(transition: Transition, node: NodeRecord, container: ContainerRecord): void {
  const { items, inputs } = transition.state;
  wipeValues(transition, container);
  if (container.items !== undefined) items.delete(node.key);
  if (container.input !== undefined) inputs.delete(node.key);
  transition.change(container).isOpen = false;
  node.container = undefined;
}

/** Forgets what the parts of a container gave. */
export function wipeValues(transition: Transition, { values }: ContainerRecord): void {
  for (const value of values) if (value !== undefined) transition.change(value).value = undefined;
  values.length = 0;
}

/** Forgets the failed items of a loop that starts over, and of those inside. */
export function forgetFailedItems({ state }: Transition, { key }: NodeRecord): void {
  const { failedItems } = state;
  if (failedItems.size === 0) return;
  for (const [row, { step }] of [...failedItems.rows()]) {
    for (
      let each: NodeRecord | undefined = state.find(step);
      each !== undefined;
      each = each.scope.container
    ) {
      if (each.key === key) failedItems.delete(row);
    }
  }
}
