import { ownProperty } from '../../../graph/json.js';
import type { CallNode, Graph, Node, NodeKind, ResourceNode } from '../../../graph/model.js';
import type { Failure, RunState } from '../../engine/contract.js';
import type { StepStatus } from './messages.js';

/** Failures of a call that never began for want of time: nothing has happened, so that it can be made as planned. */
export const NOT_BEGUN: ReadonlySet<string> = new Set(['E_DEADLINE', 'E_CANCELLED']);

/** A step a plan lists: it calls a tool or reads a resource. */
export type PlannedStep = CallNode | ResourceNode;

/** What the facts said about a step, and its state does not. */
export interface StepHistory {
  /** A call or read was issued for it. */
  readonly issued: boolean;
  /** How often the tool or resource was reached. */
  readonly attempts: number;
  /** How its latest call or read failed. */
  readonly failure?: Failure;
}

/** How a step stands when its run has stopped. */
export interface Outlook {
  readonly status: StepStatus;
  readonly failure?: Failure;
  /** Meaningful for a failed step: 0 when nothing was called, so that nothing can have happened. */
  readonly attempts: number;
}

/** Kinds of node that are no steps to a reader: they decide and compute, and nothing outside of the run notices. */
const SILENT: ReadonlySet<NodeKind> = new Set(['compute', 'error', 'return']);

/** The nodes a plan lists, in declaration order. */
export function listed(graph: Graph): Node[] {
  return graph.nodes.filter((node) => !SILENT.has(node.kind));
}

/** How the node `id` stands in `state`. */
export function outlookOf(id: string, state: RunState, history: StepHistory | undefined): Outlook {
  const row = ownProperty(state.nodes, id);
  const attempts = history?.attempts ?? 0;
  const failure = row?.failure ?? history?.failure;
  const fault = failure === undefined ? {} : { failure };
  const status = row?.status;
  switch (status) {
    case 'succeeded':
      return { status: 'completed', attempts };
    case 'failed':
    case 'handled':
      return { status: 'failed', attempts, ...fault };
    case 'skipped':
      // What a failure kept from starting can still be done; what a condition left out was not wanted.
      return { status: row?.reason === 'upstream_failed' ? 'pending' : 'skipped', attempts };
    case 'running':
    case 'waiting':
    case 'cancelled':
      return history?.issued === true
        ? { status: 'failed', attempts: Math.max(1, attempts), ...fault }
        : { status: 'pending', attempts };
    case 'pending':
    case 'ready':
    case undefined:
      return { status: 'pending', attempts };
    default:
      return status satisfies never;
  }
}
