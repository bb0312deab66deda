import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import { ownResources } from '../../graph/nodes.js';
import type { Fact, Failure, RunState } from '../engine/contract.js';
import type { NodeRecord, ScopeRecord } from '../engine/records.js';
import { Ledger } from './ledger.js';

/**
 * The account of a run by its state, where its facts are not at hand: after a restart, say. It has what a state has; what
 * happened in items and workflows that failed is forgotten.
 */
export function storedLedger(state: RunState): Ledger {
  const ledger = new Ledger(state.plan);
  recallRun(state, (fact) => ledger.observe(fact, state));
  return ledger;
}

/** Reports what the state of a run has of its facts, as {@link storedLedger} does. */
export function recallRun(state: RunState, observe: Observe): void {
  recallScope(state.root, observe);
}

type Observe = (fact: Fact) => void;

const NO_INPUT: JsonObject = {};
const UNKNOWN_FAILURE: Failure = { code: 'E_UNFINISHED', message: 'no answer came' };

function recallScope({ nodes }: ScopeRecord, observe: Observe): void {
  for (const node of nodes) if (node !== undefined) recallNode(node, observe);
  for (const node of nodes) if (node !== undefined) recallSelections(node, observe);
}

/** Reports what is known of a node, in the order in which it happened. */
function recallNode(node: NodeRecord, observe: Observe): void {
  const { key, planned, status, details } = node;
  const head = { node: key, nodeKind: planned.node.kind };
  if (details.jumps > 0)
    observe({ kind: 'jumped', node: key, target: '', visit: details.jumps, max: details.jumps });
  if (status === 'pending') return;
  if (status === 'skipped') {
    observe({ kind: 'nodeSkipped', ...head, reason: details.reason ?? 'condition_false' });
    return;
  }
  observe({ kind: 'nodeStarted', ...head });
  recallCalls(node, observe);
  recallParts(node, observe);
  recallEnd(node, observe);
}

/** Reports the call or read of a node, once for each attempt that reached its tool or resource. */
function recallCalls(node: NodeRecord, observe: Observe): void {
  const { key, planned, command, details } = node;
  const { node: model } = planned;
  if (model.kind !== 'call' && model.kind !== 'resource') return;
  const id = command?.id ?? key;
  const isInFlight = command?.kind === 'callTool' || command?.kind === 'readResource';
  const reached = reachedBy(node);
  if (reached > 0 || isInFlight || (details.failure !== undefined && isIssued(node))) {
    if (model.kind === 'call') {
      const call = { tool: model.tool, input: details.input ?? NO_INPUT, attempt: Math.max(1, reached) };
      observe({ kind: 'callIssued', node: key, command: id, ...call });
    } else observe({ kind: 'resourceRequested', node: key, command: id, resource: model.resource, uri: '' });
  }
  const { failure = UNKNOWN_FAILURE } = details;
  for (let attempt = 0; attempt < reached; attempt += 1) {
    observe({
      kind: 'callReturned',
      node: key,
      command: id,
      attempted: true,
      outcome: { ok: false, failure },
    });
  }
  const unread = ownResources(model)[details.shown];
  if (details.failure !== undefined && reached === 0 && unread !== undefined && !isIssued(node)) {
    const { resource, uri } = unread;
    const outcome = { ok: false, failure } as const;
    observe({ kind: 'resourceShown', node: key, command: id, resource, uri, outcome });
  }
}

/** How many attempts of a call or read have reached its tool or resource. */
function reachedBy({ status, attempt, details, command }: NodeRecord): number {
  if (details.reached !== undefined) return details.reached;
  const isUnderWay = status === 'running' && command !== undefined;
  return isUnderWay ? Math.max(0, attempt - 1) : attempt;
}

/** Whether the input of a call was complete, so that the call was issued and then refused. */
function isIssued({ details }: NodeRecord): boolean {
  return details.input !== undefined;
}

/** Reports the parts of a container that have started. */
function recallParts({ key, planned, container, details, output }: NodeRecord, observe: Observe): void {
  if (container === undefined) return;
  const { node } = planned;
  const isLoop = node.kind === 'foreach';
  const { first, next, end, parts, values } = container;
  for (let index = first; index < next; index += 1) {
    const arm = planned.parts[isLoop ? 0 : index]?.arm;
    const part = isLoop ? { index } : defined({ arm });
    if (node.kind === 'branch' && arm !== undefined) observe({ kind: 'branchTaken', node: key, arm });
    observe({ kind: 'partStarted', node: key, ...part, count: end - first });
    const scope = parts[index];
    if (scope !== undefined) recallScope(scope, observe);
    const isOver = scope === undefined || scope.open === 0;
    if (!isOver || output !== undefined) continue;
    const failure = scope?.details.failure ?? (container.failedPart === index ? details.failure : undefined);
    const value = values[index]?.value;
    const outcome =
      failure === undefined
        ? { status: 'succeeded' as const, ...defined({ value }) }
        : { status: 'failed' as const, failure };
    observe({ kind: 'partEnded', node: key, ...part, outcome });
  }
}

function recallEnd({ key, planned, status, details, output, command }: NodeRecord, observe: Observe): void {
  const { node } = planned;
  const head = { node: key, nodeKind: node.kind };
  const { failure = UNKNOWN_FAILURE } = details;
  switch (status) {
    case 'succeeded':
      observe({ kind: 'nodeSucceeded', ...head, ...defined({ value: output }) });
      return;
    case 'failed':
      observe({ kind: 'nodeFailed', ...head, failure });
      return;
    case 'handled': {
      const fallbackNode = node.onError && 'fallbackNode' in node.onError ? node.onError.fallbackNode : '';
      observe({ kind: 'handled', ...head, failure, attempts: details.reached ?? 0, fallbackNode });
      return;
    }
    case 'cancelled':
      observe({ kind: 'nodeCancelled', ...head });
      return;
    case 'waiting':
      if (command !== undefined) observe({ kind: 'waiting', ...head, command: command.id });
      return;
    default:
  }
}

/** A branch that led to a node of its own scope is known by what it selected. */
function recallSelections({ planned, details }: NodeRecord, observe: Observe): void {
  for (const { by, why } of details.selections) {
    if (why !== 'goto' || by.planned.node.kind !== 'branch') continue;
    observe({ kind: 'branchTaken', node: by.key, arm: '', goto: planned.node.id });
  }
}
