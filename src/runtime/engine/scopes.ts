import type { Value } from '../../graph/json.js';
import type { PlannedNode } from '../../plan/plan.js';
import { attemptsInside } from './commands.js';
import type { Failure, NodeRow, ScopeRow } from './contract.js';
import { restartsInside } from './generation.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import { readerIn, type Turn } from './turn.js';

/** How a scope ended. */
export type Outcome =
  | { readonly status: 'succeeded'; readonly value: Value }
  | { readonly status: 'failed'; readonly failure: Failure; readonly final: boolean }
  | { readonly status: 'cancelled' };

/** What a scope knows of the containers around it. */
type Around = Pick<ScopeRow, 'restarts' | 'attempts'>;

/** Begins a scope: its nodes are pending, and those that wait for nothing are due. */
export function openScope(turn: Turn, scope: ScopeInstance, around: Around = {}): void {
  const { nodes } = scope.plan;
  const { tables } = turn.recorder;
  const open = nodes.length;
  tables.scopes.put(scope.key, { open, ...around });
  for (const planned of nodes) {
    const node = turn.instances.node(scope, planned);
    tables.nodes.put(node.key, pendingRow(planned));
    if (isDueAtOnce(planned)) turn.due.add(node);
  }
  if (nodes.length === 0) turn.ended.push({ kind: 'scope', scope });
}

/** Begins a part of a container. */
export function openPart(turn: Turn, container: NodeInstance, part: number): void {
  const { attempt } = turn.recorder.tables.nodes.need(container.key);
  const restarts = restartsInside(turn, container);
  const attempts = attemptsInside(turn, container, attempt);
  openScope(turn, turn.instances.part(container, part), {
    ...(restarts === 0 ? {} : { restarts }),
    ...(attempts === undefined ? {} : { attempts }),
  });
}

/** Rows of nodes that need no selection, by how many they wait for: rows never change, and so many nodes share one. */
const PENDING: readonly NodeRow[] = Array.from({ length: 16 }, (_, waitingFor) => ({
  status: 'pending',
  waitingFor,
  attempt: 0,
}));

function pendingRow({ orders, needsSelection, routers }: PlannedNode): NodeRow {
  const waitingFor = orders.length;
  const shared = needsSelection ? undefined : PENDING[waitingFor];
  if (shared !== undefined) return shared;
  const selection = needsSelection ? { routers: routers.length } : {};
  return { status: 'pending', waitingFor, ...selection, attempt: 0 };
}

/** One that nobody can select is as due as one that waits for nothing: it is skipped. [G18] */
function isDueAtOnce({ orders, needsSelection, routers }: PlannedNode): boolean {
  return needsSelection ? routers.length === 0 : orders.length === 0;
}

/** How a scope ended whose nodes have all settled. A failure goes before what was left out, and that before a value. */
export function outcomeOf(turn: Turn, scope: ScopeInstance): Outcome {
  const { scopes, outputs } = turn.recorder.tables;
  const { failure, final = false, cut, endedBy } = scopes.need(scope.key);
  if (failure !== undefined) return { status: 'failed', failure, final };
  if (cut) return { status: 'cancelled' };
  // The value of the `return` that was reached, which stands for the whole workflow.
  const isTop = scope.plan.container === undefined;
  if (isTop && endedBy !== undefined) return { status: 'succeeded', value: outputs.get(endedBy) };
  const expr = isTop ? scope.workflow.plan.graph.returns : scope.plan.value;
  if (expr === undefined) return { status: 'succeeded', value: isTop ? null : undefined };
  const value = readerIn(turn, scope).value(expr);
  if (value.ok) return { status: 'succeeded', value: value.value };
  scopes.put(scope.key, { ...scopes.need(scope.key), failure: value.failure, final: true });
  return { status: 'failed', failure: value.failure, final: true };
}
