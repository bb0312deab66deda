import type { DictExpr, Expr } from './expression/tree.js';
import type { Json, JsonSchema } from './json.js';
import type { Place } from './place.js';

/** The version of this model. A graph of another version is refused, never guessed at. */
export const GRAPH_VERSION = 1;

/** A workflow as data: what every front end compiles to and the engine runs. Plain JSON throughout. */
export interface Graph {
  readonly graphVersion: typeof GRAPH_VERSION;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly domain?: string;
  readonly version?: string;
  /** What a caller supplies, in declaration order. */
  readonly inputs: readonly Input[];
  readonly state?: readonly StateField[];
  /** Resources a reader should know before the first step, in declaration order. */
  readonly instructions: readonly ResourceRef[];
  /** In declaration order. */
  readonly nodes: readonly Node[];
  /** Every workflow that `workflow` nodes name, directly or not, by name: see `bundle`. None of them has tasks itself. */
  readonly tasks?: readonly Graph[];
  /** The result, where no `return` node gives it. */
  readonly returns?: Expr;
  readonly errorStrategy?: ErrorStrategy;
  /** Whether the first failure stops the run. Default true. */
  readonly failFast?: boolean;
  /** How many nodes may run at once. Default 10. */
  readonly maxConcurrency?: number;
  readonly expose?: readonly Exposure[];
  readonly source?: Place;
}

export type Exposure = 'prompt' | 'tool' | 'resource';

export type ErrorStrategy =
  | { readonly kind: 'failFast' }
  | { readonly kind: 'collect' }
  | { readonly kind: 'retry'; readonly retry: Retry };

/** One argument of a workflow. */
export interface Input {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Schema of the value inside the workflow, after coercion from text. */
  readonly schema: JsonSchema;
  /** Whether a caller must supply it. False where there is a default. */
  readonly required: boolean;
  readonly default?: Json;
  /** Masked in traces, logs and spans. */
  readonly secret?: boolean;
  readonly source?: Place;
}

export interface StateField {
  readonly name: string;
  readonly scope: 'run';
  readonly schema: JsonSchema;
  readonly initial?: Json;
  readonly source?: Place;
}

/** A resource by its registered name, with the URI it is read from. */
export interface ResourceRef {
  readonly resource: string;
  readonly uri: string;
  readonly source?: Place;
}

export type JoinRule =
  | 'all_success'
  | 'none_failed'
  | 'none_failed_min_one_success'
  | 'one_success'
  | 'all_done';

/** `extra` counts tries after the first one; delays are in milliseconds. */
export interface Retry {
  readonly extra: number;
  readonly delayMs: number;
  readonly backoff: 'constant' | 'linear' | 'exponential';
  readonly capMs: number;
  /** Fraction of the delay to vary by, 0 to 1. */
  readonly jitter: number;
}

/**
 * What happens when a node has failed for good: another node takes over, or a value stands in, and the node ends
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
  /** Whether the compensations behind it are carried out although it failed. Default false. */
  readonly ignoreError?: boolean;
}

interface NodeBase {
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
  /** State fields the node may see. */
  readonly reads?: readonly string[];
  /** Name of the result where it differs from the id. */
  readonly output?: string;
  /** A node with scopes of its own is begun anew, with all that is in them. */
  readonly retry?: Retry;
  /** Per attempt, in milliseconds. Default 60 000 for calls, reads and functions; none for everything else. */
  readonly timeoutMs?: number;
  readonly onError?: OnError;
  readonly compensate?: Compensation;
  /** Who carries it out: the server that runs the graph, or the client that called it. */
  readonly executor: 'server' | 'client';
  readonly source?: Place;
}

/** A tool call. The node's value is the tool's normalised result. */
export interface CallNode extends NodeBase {
  readonly kind: 'call';
  readonly tool: string;
  readonly input: DictExpr;
}

/** A resource read. The node's value is `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`. */
export interface ResourceNode extends NodeBase {
  readonly kind: 'resource';
  readonly resource: string;
  readonly uri: Expr;
}

/** An exported pure function beside the graph: the registry imports it, a host runs it, the engine never does. */
export interface FunctionRef {
  /** What it is known by in the registry: the name it is exported by, qualified where that may not be enough. */
  readonly name: string;
  /** sha256 of its source, 64 hexadecimal digits: another body is another graph. */
  readonly hash: string;
}

/** A computed value: that of `value`, or, with `function`, what the function makes of the arguments `value` lists. */
export interface ComputeNode extends NodeBase {
  readonly kind: 'compute';
  /** With `function` a `list` without spreads, one item for each argument; an absent argument is passed as null. */
  readonly value: Expr;
  readonly function?: FunctionRef;
}

/** What a branch does when it takes a case: it runs a body, or it selects a node of its own scope. */
export type Arm = { readonly id: string } & ({ readonly body: Scope } | { readonly goto: string });

export type BranchCase = Arm & { readonly when: Expr };

/**
 * The first case whose condition holds is taken, otherwise `else`; without one the node fails with E_NO_MATCH. Its
 * value is that of the body that ran, absent for an arm with `goto`. Ids of arms are unique in the node.
 */
export interface BranchNode extends NodeBase {
  readonly kind: 'branch';
  readonly cases: readonly BranchCase[];
  readonly else?: Arm;
}

/** Runs its branches side by side. Its value is a dict of theirs; a branch that failed is `{ error: { code, message } }`. */
export interface ParallelNode extends NodeBase {
  readonly kind: 'parallel';
  readonly branches: readonly { readonly id: string; readonly body: Scope }[];
  /** How many branches run at once. Default: all. */
  readonly concurrency?: number;
  /**
   * `abort`: the first failure aborts the others. `continue`: the node succeeds if one branch does. `rollback`: all
   * settle; if one failed, what succeeded is undone and the node fails with E_PARTIAL_FAILURE.
   */
  readonly onPartialFailure: 'abort' | 'continue' | 'rollback';
  /** The `compensate` node of the same scope that undoes. Default: the `compensate` of every call inside, last one first. */
  readonly compensateNode?: string;
}

/** Runs its body for each item. Its value is the list of the bodies' values, in the order of the items. */
export interface ForeachNode extends NodeBase {
  readonly kind: 'foreach';
  readonly items: Expr;
  /** Name by which the body refers to the item: `ref{root:'item', path:[as]}`. Unique among the loops around it. */
  readonly as: string;
  /** Name of the item's place, from 0: `ref{root:'index', path:[indexAs]}`. */
  readonly indexAs?: string;
  readonly body: Scope;
  /** How many items run at once, 1 to 100. */
  readonly concurrency: number;
  /** More items than this fail the node before the first one runs. */
  readonly max: number;
  /** `continue` puts null in the place of an item that failed. */
  readonly onItemError: 'fail' | 'continue';
  readonly agent?: string;
}

/** Runs another workflow, one of the graph's `tasks`, with names and inputs of its own. Its value is that one's result. */
export interface WorkflowNode extends NodeBase {
  readonly kind: 'workflow';
  readonly workflow: string;
  readonly input: DictExpr;
}

/**
 * Waits for a person. Its value is the answer: `{acknowledged}`, `{confirmed}`, `{input}`, `{selected}` by mode; for
 * `yield` whatever fits `expects`.
 */
export interface AskNode extends NodeBase {
  readonly kind: 'ask';
  readonly mode: 'info' | 'confirm' | 'text' | 'choice' | 'yield';
  readonly message: Expr;
  /** For `choice`: a list of texts, at least one, none twice. */
  readonly options?: Expr;
  /** For `yield`: schema of the answer. */
  readonly expects?: JsonSchema;
}

export interface ShellNode extends NodeBase {
  readonly kind: 'shell';
  readonly command: Expr;
  readonly argv?: Expr;
  readonly env?: Expr;
}

export interface DelegateNode extends NodeBase {
  readonly kind: 'delegate';
  readonly agent: string | null;
  readonly prompt: Expr;
  readonly tools?: readonly string[];
  readonly responseSchema?: JsonSchema;
}

/** Waits for a time: `durationMs` in milliseconds, or `until`, ms since the epoch or an RFC 3339 time. One of the two. */
export interface WaitNode extends NodeBase {
  readonly kind: 'wait';
  readonly durationMs?: Expr;
  readonly until?: Expr;
}

/** Writes fields of the run's state, all at once; values are read before any is written. Its value is the dict of them. */
export interface SetNode extends NodeBase {
  readonly kind: 'set';
  readonly updates: readonly { readonly field: string; readonly value: Expr }[];
}

/** Ends its workflow with a value, also from within a branch or a loop. */
export interface ReturnNode extends NodeBase {
  readonly kind: 'return';
  readonly value: Expr;
}

/**
 * Goes back to a node declared earlier in its own scope: everything from there to this node starts over, without the
 * outputs it had. State stays.
 */
export interface GotoNode extends NodeBase {
  readonly kind: 'goto';
  readonly target: string;
  /** How often it jumps at most. */
  readonly max: number;
  /** Past that, the node fails with E_LOOP_LIMIT, or succeeds and the run goes on behind it. */
  readonly onLimit: 'fail' | 'continue';
}

/**
 * Ends its scope as failed with this message and code. The failure goes up as any other does, and fails the run where
 * nothing handles it.
 */
export interface ErrorNode extends NodeBase {
  readonly kind: 'error';
  readonly message: Expr;
  /** The author's own code; see `failureCodeFault`. Default: `E_FAIL`. */
  readonly code?: string;
}

/** Undoes earlier work, in the written order. Runs only when it is selected. Its value is `{ done, failed, not_run }`. */
export interface CompensateNode extends NodeBase {
  readonly kind: 'compensate';
  readonly steps: readonly Compensation[];
}

/** A nested list of nodes with ids of its own, and the value it hands out. */
export interface Scope {
  readonly nodes: readonly Node[];
  readonly value?: Expr;
}

export type Node =
  | CallNode
  | ResourceNode
  | ComputeNode
  | BranchNode
  | ParallelNode
  | ForeachNode
  | WorkflowNode
  | AskNode
  | ShellNode
  | DelegateNode
  | WaitNode
  | SetNode
  | ReturnNode
  | GotoNode
  | ErrorNode
  | CompensateNode;

export type NodeKind = Node['kind'];
