import type { Json, JsonObject, Value } from '../../src/graph/json.js';
import type { Graph, Node, Scope } from '../../src/graph/model.js';
import type { Agenda, Due } from './agenda.js';
import type { Rules } from './rules.js';
import type { Safety, World } from './world.js';

export type NodeStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'succeeded'
  | 'failed'
  | 'handled'
  | 'skipped'
  | 'cancelled';

export type SkipReason =
  | 'not_selected'
  | 'upstream_skipped'
  | 'condition_false'
  | 'upstream_failed'
  | 'run_ended';

/** A workflow that runs: the graph the run began with, or one that a `workflow` node runs. */
export interface Frame {
  readonly graph: Graph;
  /** What the keys of its nodes begin with. */
  readonly prefix: string;
  readonly inputs: JsonObject;
  readonly depth: number;
  returned?: { readonly value: Value };
  /** Fields of the state that the workflow has for itself. */
  readonly fields: Map<string, Value>;
}

/** A scope that runs. */
export interface Part {
  readonly frame: Frame;
  /** As they are declared. */
  readonly declared: readonly Node[];
  readonly nodes: Instance[];
  readonly value: Scope['value'];
  /** The node it is a body of; missing for the root of the run. */
  readonly owner?: Instance;
  /** The scope around it in the same workflow. */
  readonly outer?: Part;
  /** Items and places of the loop it is the body of. */
  readonly names: ReadonlyMap<string, Json>;
  readonly indices: readonly number[];
  /** Nothing new starts here, because of something in here. */
  ended?: 'failure' | 'error' | 'return';
  /** What the nodes are skipped with that can no longer start. */
  reason?: SkipReason;
  /** Nothing new starts here, because of something outside. */
  stopped?: true;
  /** Running nodes here were aborted as well. */
  aborted?: true;
  /** Because of that, something was left out or cancelled. */
  cut?: true;
  /** What an `error` node in here said. */
  error?: Fault;
  outcome?: Outcome;
}

export type Outcome =
  | { readonly status: 'succeeded'; readonly value: Value }
  | { readonly status: 'failed'; readonly fault: Fault }
  | { readonly status: 'cancelled' };

/** A failure, and whether another try may change it. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
  readonly again: boolean;
  /** It is that of a part of a container, which does not handle it. */
  readonly passedOn?: true;
  /** The node at which it entered the scope it is looked at in; missing where no node failed. */
  readonly from?: Instance;
}

/** A node of a scope that runs. */
export interface Instance {
  readonly node: Node;
  readonly part: Part;
  readonly key: string;
  status: NodeStatus;
  reason?: SkipReason | undefined;
  value?: Value;
  fault?: Fault | undefined;
  /** The failure that a value replaced. */
  replaced?: Fault | undefined;
  /** When it failed or succeeded, counted in settlements. */
  settledAt?: number;
  /** Who selected it. The first one counts. */
  selections: readonly { readonly by: Instance; readonly fault?: Fault | undefined }[];
  /** Attempts of this visit, and how many of them got to the other side. */
  attempts: number;
  reached: number;
  jumps: number;
  /** Another attempt may begin now. */
  again?: boolean;
  /** It has failed in a task, and waits to be made outside or tried again. */
  paused?: boolean;
  /** What ends when this node does: its timers, and the reply it waits for. */
  pending: Due<() => void>[];
  /** It takes one of the run's places. */
  placed?: boolean;
  /** The scopes of a container that have begun, in the order in which they do. */
  parts: Part[];
  /** How the parts of a container begin; as many as it has. */
  open: (() => Part)[];
  /** Nothing new begins in this container, because of something outside. */
  stopped?: boolean;
  /** It was aborted: nothing in it is undone by itself. */
  aborted?: boolean;
  /** What the attempt of a container fails with. */
  verdict?: Fault | undefined;
  /** That is its timeout. */
  timedOut?: boolean;
  /** A `parallel` undoes what its branches did: it waits for the `target`, or for the report. */
  rollback?:
    | {
        readonly failed: JsonObject;
        readonly again: boolean;
        readonly report?: Json;
        readonly target?: Instance;
        /** Of a workflow: what it failed with. */
        readonly fault?: Fault;
      }
    | undefined;
  /** What all attempts of a call send. */
  input?: Json | undefined;
  /** The call that has not been answered. */
  flight?: Flight | undefined;
}

/** A call in flight. */
export interface Flight {
  /** The node it was made for ends without its answer. */
  readonly giveUp: () => void;
}

/** What a call did, and how it is undone. */
export interface Effect {
  /** The key of the call's node, those of the containers around it, and the id of the outermost. */
  readonly call: string;
  readonly around: readonly string[];
  readonly top: string;
  readonly generation: number;
  /** Counts those of one generation. */
  readonly further: number;
  /** Missing where nothing says how it is undone. */
  readonly tool?: string;
  readonly input?: Json;
  readonly ignoreError?: boolean;
  /** What is known of the tool that brought it about. */
  readonly safety: Safety;
  /** The step of a `compensate` node whose own call it is. */
  readonly own?: { readonly node: string; readonly step: number };
  status: 'active' | 'undoing' | 'undone' | 'failed' | 'unknown';
  failure?: Pick<Fault, 'code' | 'message'> | undefined;
  order: number;
  /** It was to be undone. */
  wanted: boolean;
  /** It is that of an abandoned call: no step accounts for it. */
  late?: true | undefined;
  /** The owners that wait for the compensation in flight. */
  joined: ((failure?: Pick<Fault, 'code' | 'message'>) => void)[];
}

/** What a run left behind, with failures by code. */
export interface Remains {
  /** Nodes at the top of which something was undone. */
  readonly steps: readonly string[];
  readonly notUndone: readonly { readonly step: string; readonly input?: Json }[];
  readonly unknown: readonly string[];
  readonly failedItems: readonly string[];
}

/** An end that a node came to. */
export interface End {
  readonly at: number;
  readonly node: string;
  /** With the reason of a skip. */
  readonly status: string;
  /** What it gave. The value of a node that is not there any more is `unknown`. */
  readonly value?: Json | undefined;
  readonly isUnknown?: true;
}

/** A call the run made. */
export interface CallRecord {
  readonly at: number;
  readonly node: string;
  readonly tool: string;
  readonly input: Json;
  /** Calls with one key are the same call, made again. */
  readonly identity: string;
  readonly compensation: boolean;
}

/** All that is known while a run is worked out. */
export interface Run {
  readonly graph: Graph;
  readonly world: World;
  readonly rules: Rules;
  readonly agenda: Agenda<() => void>;
  readonly fields: Map<string, Value>;
  /** Who waits for a place, and what happens when there is one. */
  readonly line: { readonly who: Instance; readonly begin: () => void }[];
  readonly asked: Map<string, number>;
  readonly calls: CallRecord[];
  readonly ends: End[];
  /** By node key: how often a `goto` started it over, and how often it became another call for other reasons. */
  readonly restarts: Map<string, number>;
  readonly reissues: Map<string, number>;
  /** By node key and generation: the input that was sent. */
  readonly issued: Map<string, string>;
  readonly unknown: Map<
    string,
    { readonly step: string; readonly tool: string; readonly calls: Set<object> }
  >;
  readonly failedItems: Map<string, { readonly around: readonly string[]; readonly fault: Fault }>;
  effects: Effect[];
  effectOrder: number;
  running: number;
  settlements: number;
  root: Part;
  end?: Outcome;
  /** Whether what it did is undone. */
  cancelling?: { readonly compensate: boolean; hasBegun?: true };
  /** It has failed, and is undone before it ends. */
  failing?: true;
  /** Compensations that were in flight when the run was cancelled. */
  detached: number;
  /** Nothing is undone any more in a cancelled run, and how it went. */
  isUndone?: true;
  undone?: Json;
}

export const SETTLED: ReadonlySet<NodeStatus> = new Set([
  'succeeded',
  'failed',
  'handled',
  'skipped',
  'cancelled',
]);

export function isSettled({ status }: Instance): boolean {
  return SETTLED.has(status);
}

/** How often somebody asked the world before. */
export function countOf(asked: Map<string, number>, who: string): number {
  const before = asked.get(who) ?? 0;
  asked.set(who, before + 1);
  return before;
}

/** Opens a scope: all of its nodes are pending. */
export function partOf(
  { nodes, value }: { readonly nodes: readonly Node[]; readonly value?: Scope['value'] },
  at: Omit<Part, 'declared' | 'nodes' | 'value'>,
): Part {
  const part: Part = { ...at, declared: nodes, nodes: [], value };
  const suffix = part.indices.map((index) => `[${index}]`).join('');
  for (const node of nodes) {
    const key = part.frame.prefix + node.id + suffix;
    part.nodes.push({
      ...{ node, part, key, status: 'pending', attempts: 0, reached: 0, jumps: 0 },
      ...{ selections: [], pending: [], parts: [], open: [] },
    });
  }
  return part;
}

export function toldStatus({ status, reason }: Pick<Instance, 'status' | 'reason'>): string {
  return status === 'skipped' ? `${status}(${reason})` : status;
}

export function isContainer({ node: { kind } }: Instance): boolean {
  return kind === 'branch' || kind === 'parallel' || kind === 'foreach' || kind === 'workflow';
}
