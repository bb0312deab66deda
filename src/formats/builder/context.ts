import type { Expr } from '../../graph/expression/tree.js';
import type { JoinRule, Node } from '../../graph/kinds/node.js';
import { isValidName } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { StepDefinition } from './definition.js';
import type { WorkflowError } from './errors.js';
import type { ArgumentSource } from './sources.js';
import { type Registered, resolveAddress, resolveTool } from './tools-and-resources.js';

/** The state that the lowering of all parts of a workflow shares. */
export interface LoweringContext {
  readonly workflow: string;
  readonly registered: Registered | undefined;
  readonly origins: Origins;
  readonly report: (place: SourceLocation, error: WorkflowError) => void;
  readonly scope: Scope;
  readonly nodes: NodeList;
}

/** The ids and bindings of a workflow while its steps are lowered in order. */
export class Scope {
  /**
   * Ids of the steps, in order: the binding, else the name of the tool or the resource, or how it asks, with a number if
   * that is taken.
   */
  readonly ids: readonly string[];
  readonly args: readonly string[];
  readonly #usedIds: Set<string>;
  readonly #bindings: ReadonlySet<string>;
  readonly #unbound: ReadonlySet<string>;
  readonly #bound = new Map<string, Expr | undefined>();

  constructor(
    workflow: string,
    steps: readonly StepDefinition[],
    args: readonly string[],
    registered: Registered | undefined,
  ) {
    this.args = args;
    this.#bindings = new Set(steps.flatMap(({ binding }) => binding ?? []));
    this.#usedIds = new Set(this.#bindings);
    const names = steps.map((step) => nameOf(step, workflow, registered));
    this.ids = steps.map(({ binding }, index) => binding ?? this.derive(names[index] ?? ''));
    this.#unbound = new Set(
      steps.flatMap(({ kind, binding }, index) =>
        kind === 'call' && binding === undefined ? [names[index] ?? '', this.ids[index] ?? ''] : [],
      ),
    );
  }

  /** Returns a function that lists the bindings of the steps lowered so far, in order. */
  available(): () => readonly string[] {
    const count = this.#bound.size;
    return () => [...this.#bound.keys()].slice(0, count);
  }

  /** Makes a unique id from a name, with a number if the name is taken. */
  derive(base: string): string {
    const start = isValidName('step', base) ? base : 'step';
    let id = start;
    for (let number = 2; this.#usedIds.has(id); number++) id = `${start}-${number}`;
    this.#usedIds.add(id);
    return id;
  }

  /** Whether any step of the workflow has this binding, earlier or later. */
  hasBinding(name: string): boolean {
    return this.#bindings.has(name);
  }

  /** Whether this is the id or the tool name of a step without a binding. */
  isUnbound(name: string): boolean {
    return this.#unbound.has(name);
  }

  /**
   * Binds a value. If two steps have one binding, the first one's value is kept.
   *
   * @param value `undefined` for a value whose error has been reported.
   */
  bind(name: string, value: Expr | undefined): void {
    if (!this.#bound.has(name)) this.#bound.set(name, value);
  }

  /** Whether a step lowered before has this binding. */
  isBound(name: string): boolean {
    return this.#bound.has(name);
  }

  /** Returns the value of a binding; `undefined` if its error has been reported. */
  valueOf(name: string): Expr | undefined {
    return this.#bound.get(name);
  }
}

function nameOf(step: StepDefinition, workflow: string, registered: Registered | undefined): string {
  switch (step.kind) {
    case 'call':
      return resolveTool(step.tool, workflow).name;
    case 'read':
      return resolveAddress(step.source.resource, workflow, registered).name;
    case 'ask':
      return step.mode === 'yield' ? 'value' : step.mode;
    case 'shell':
    case 'delegate':
      return step.kind;
    default:
      return step satisfies never;
  }
}

/** A node without the properties that follow from its position. */
export type Bare<N = Node> = N extends Node
  ? Omit<N, 'after' | 'join' | 'executor'> & Partial<Pick<N, 'executor'>>
  : never;

/** The nodes of a workflow, each of which runs after the one before it. */
export class NodeList {
  readonly all: Node[] = [];
  readonly #join: JoinRule;

  /** @param join the join rule of every node. */
  constructor(join: JoinRule) {
    this.#join = join;
  }

  /** How many there are. */
  get size(): number {
    return this.all.length;
  }

  /** Replaces the first node from an index on for which `changed` returns another one. Returns whether there is one. */
  change(from: number, changed: (node: Node) => Node | undefined): boolean {
    for (const [index, node] of this.all.entries()) {
      const other = index < from ? undefined : changed(node);
      if (other === undefined) continue;
      this.all[index] = other;
      return true;
    }
    return false;
  }

  /** The server executes it, unless it says otherwise. */
  add(node: Bare): void {
    const after = this.all.slice(-1).map(({ id }) => id);
    this.all.push({ executor: 'server', ...node, after, join: this.#join } as Node);
  }
}

/** The call of the builder that a part of the graph comes from, by which diagnostics are translated into errors. */
export type Origin =
  | { readonly kind: 'workflow' }
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: 'instruction' }
  | ({ readonly kind: 'step' } & StepOrigin)
  /** An argument of the tool, or a part of the result. */
  | ({ readonly kind: 'input'; readonly source: ArgumentSource } & StepOrigin)
  /** `guidance` is also the origin of a summary. */
  | ({ readonly kind: 'guidance' | 'transform' } & StepOrigin);

/** The step that contains a part. The result of a workflow counts as a step. */
export interface StepOrigin {
  /** Id of the step. */
  readonly step: string;
  /** Lists the bindings that the step may read, in order. */
  readonly available: () => readonly string[];
}

/** The file name in the places of built graphs, which have no source text. */
const FILE = 'builder';

/** Numbers the parts of a workflow in the order of the calls, and uses the number as the line of the part's place. */
export class Origins {
  readonly #origins: Origin[] = [];

  /** Adds a part, and returns its place. */
  place(origin: Origin): SourceLocation {
    this.#origins.push(origin);
    const line = this.#origins.length;
    return { file: FILE, span: [line, 1, line, 2] };
  }

  /** Returns the origin of a place of this graph; the workflow for any other place. */
  at(place: SourceLocation | undefined): Origin {
    return this.#origins[lineOf(place) - 1] ?? { kind: 'workflow' };
  }
}

/** Returns the number of the part at a place, counted from 1; 0 for a place that is not of a built graph. */
export function lineOf(place: SourceLocation | undefined): number {
  return place?.file === FILE ? place.span[0] : 0;
}
