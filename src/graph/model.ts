import type { Expr } from './expression/tree.js';
import type { Json, JsonSchema } from './json.js';
import type { Node, ResourceRef, Retry } from './kinds/node.js';
import type { SourceLocation } from './source-location.js';

export type * from './kinds/kinds.js';
export type * from './kinds/node.js';

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
  /** Whether the effects of its calls are undone when it fails. Default: they remain. */
  readonly onFailure?: 'undo';
  /** How many nodes may run at once. Default 10. */
  readonly maxConcurrency?: number;
  /** Default: as a prompt and as a tool. */
  readonly expose?: readonly Exposure[];
  /** Whether its runs are tasks: a step that fails waits to be made from outside, or to be tried again. */
  readonly task?: true;
  /** Whether clients may, or must, call its tool as an MCP task. Default: `'optional'` with `task`, else `'forbidden'`. */
  readonly taskSupport?: TaskSupport;
  /** Whether an agent that drives an item of a loop, or has a task, may be given loops and tasks for other agents. */
  readonly allowNestedAgents?: true;
  /** What the run may use at most. Default: as much as any run. */
  readonly limits?: GraphLimits;
  /** What a client needs to start it. Default: none. */
  readonly scopes?: readonly string[];
  readonly source?: SourceLocation;
}

/** Whether a tool may, or must, be called as an MCP task. */
export type TaskSupport = (typeof TASK_SUPPORT)[number];

export const TASK_SUPPORT = ['optional', 'required', 'forbidden'] as const;

/** How a tool is called as a task, where it may be. */
export type ToolTask = Exclude<TaskSupport, 'forbidden'>;

/** The forms in which clients may get a workflow. */
export const EXPOSURES = ['prompt', 'tool', 'resource', 'skill'] as const;

export type Exposure = (typeof EXPOSURES)[number];

/** Limits of a run of the workflow that it is started on. */
export interface GraphLimits {
  /** How many nodes may start; more fail the run with `E_STEP_LIMIT`. */
  readonly steps: number;
  /** Size of the written fields of the state as UTF-8 JSON; a write beyond it fails its node with `E_STATE_SIZE`. */
  readonly stateBytes: number;
}

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
  readonly source?: SourceLocation;
}

export interface StateField {
  readonly name: string;
  /** `run`: one value for the run and the workflows it runs. `workflow`: one for each execution of the workflow. */
  readonly scope: 'run' | 'workflow';
  readonly schema: JsonSchema;
  readonly initial?: Json;
  /** Masked where the state is shown. Steps read its value, and can show it. */
  readonly secret?: true;
  readonly source?: SourceLocation;
}

/** What is said about the workflows of a domain as a whole. */
export interface Domain {
  readonly name: string;
  /** What holds for all of them, a sentence each. */
  readonly rules: readonly string[];
  /** What their users should know, as Markdown. */
  readonly docs?: string;
}

/** The domain of workflows that name none. */
export const DEFAULT_DOMAIN = 'default';

/** Joins what several sources say about domains: each domain once, each rule once, the documents in their order. */
export function mergedDomains(domains: Iterable<Domain>): readonly Domain[] {
  const merged = new Map<string, Domain>();
  for (const { name, rules, docs } of domains) {
    const first = merged.get(name);
    const texts = [first?.docs, docs].filter((each) => each !== undefined);
    merged.set(name, {
      name,
      rules: [...new Set([...(first?.rules ?? []), ...rules])],
      ...(texts.length === 0 ? {} : { docs: [...new Set(texts)].join('\n\n') }),
    });
  }
  return [...merged.values()];
}
