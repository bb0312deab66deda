import type { DictExpr, Expr } from '../expression/tree.js';
import type { SourceLocation } from '../source-location.js';

export const JOIN_RULES = [
  'all_success',
  'none_failed',
  'none_failed_min_one_success',
  'one_success',
  'all_done',
] as const;

export type JoinRule = (typeof JOIN_RULES)[number];

export const BACKOFFS = ['constant', 'linear', 'exponential'] as const;

/** `extra` counts tries after the first one; delays are in milliseconds. */
export interface Retry {
  readonly extra: number;
  readonly delayMs: number;
  readonly backoff: (typeof BACKOFFS)[number];
  /** The longest delay of an exponential backoff. */
  readonly capMs: number;
  /** Fraction of the delay to vary by, 0 to 1. */
  readonly jitter: number;
}

/** The attempts of a node, as authors write them. */
interface RetryAttempts extends Partial<Omit<Retry, 'extra'>> {
  /** The first one included. */
  readonly attempts: number;
}

/** The longest delay of an exponential backoff, where its author says no other. A delay that is written is never cut. */
export function defaultCapMs(delayMs: number): number {
  return Math.max(60_000, delayMs);
}

export function retryFromAttempts({
  attempts,
  delayMs = 0,
  backoff = 'constant',
  capMs = defaultCapMs(delayMs),
  jitter = 0,
}: RetryAttempts): Retry {
  return { extra: attempts - 1, delayMs, backoff, capMs, jitter };
}

/**
 * What happens when a node has failed permanently: another node takes over, or a value replaces its own, and the node ends
 * succeeded with it. In `value` the root `error` holds the failure: `code`, `message`, `attempts`, `node`.
 */
export type OnError = { readonly fallbackNode: string } | { readonly value: Expr };

/**
 * A call that undoes. Where a step it plainly refers to has not succeeded there is nothing to undo, and no call. The
 * `compensate` of a node refers to the node's own result by the node's id.
 */
export interface Compensation {
  readonly tool: string;
  readonly input: DictExpr;
  /** Whether the compensations after it run although it failed. Default false. */
  readonly ignoreError?: boolean;
}

export interface NodeBase {
  /** Unique in its graph, nested scopes included. */
  readonly id: string;
  readonly title?: string;
  /** What a model should know about this step, with values filled in. */
  readonly guidance?: Expr;
  /** False where observers show the address of a resource and not its text. Default true. */
  readonly embed?: boolean;
  /** The result in short, for observers: evaluated when the node has succeeded, of the inputs and the node's own value. */
  readonly summary?: Expr;
  /** Ids of the same scope this node waits for. Data references order as well, and are not repeated here. */
  readonly after: readonly string[];
  /** How the states of `after` decide whether this node runs. */
  readonly join: JoinRule;
  /** False skips the node with the reason `condition_false`. */
  readonly when?: Expr;
  /** State fields the node may read. Default: all. */
  readonly reads?: readonly string[];
  /** State field to which the node's value is written when it succeeds. Not for kinds without a value. */
  readonly writes?: string;
  /** A node with scopes of its own starts again, with all that is in them. */
  readonly retry?: Retry;
  /** Per attempt, in milliseconds. Default 60 000 for calls, reads and functions; none for everything else. */
  readonly timeoutMs?: number;
  readonly onError?: OnError;
  readonly compensate?: Compensation;
  /** Who executes it: the server that runs the graph, or the client that called it. */
  readonly executor: 'server' | 'client';
  readonly source?: SourceLocation;
}

/** A resource by its registered name, with the URI it is read from. */
export interface ResourceRef {
  readonly resource: string;
  readonly uri: string;
  readonly source?: SourceLocation;
}

/** What nodes have that may show resources of their own. */
export interface ResourceReader {
  /** Read before the node acts, in this order, and shown to observers alone. A failed read fails the attempt. */
  readonly resources?: readonly ResourceRef[];
}

/** A nested list of nodes with ids of its own, and the value it hands out. */
export interface Scope {
  readonly nodes: readonly Node[];
  readonly value?: Expr;
}

/** The types of nodes by their kind. Each file of this folder adds the one it describes. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the files of the kinds
export interface NodesByKind {}

export type NodeKind = keyof NodesByKind;

export type Node = NodesByKind[NodeKind];
