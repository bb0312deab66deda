import { randomBytes } from 'node:crypto';
import type { Json } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { Graph } from '../../../graph/model.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
import { agentItemOf, isAgentLoop, stepIdIn } from '../../engine/agent-loops.js';
import type { Fact, RunState } from '../../engine/contract.js';
import { SmallMap } from '../../engine/tables.js';
import { childId } from '../run/owner.js';
import type { HostRow } from '../store/journal.js';

/** An item of a loop that an agent drives. Plain JSON. */
interface Child {
  /** Random: it is had from no other id, and no other id from it. */
  readonly id: string;
  /** Key of the loop. */
  readonly loop: string;
  /** From 0. */
  readonly index: number;
  /** When it began, in ms since the epoch. */
  readonly at: number;
  /** Missing while it runs. */
  readonly outcome?: Extract<Fact, { kind: 'partEnded' }>['outcome'];
}

/** The table of a run's rows that has its children, by their ids. */
const TABLE = 'children' as const;

/** The children of a run: the items that agents drive, each with an id that reaches this item alone. */
export class Children {
  readonly #all = new SmallMap<Child>();
  /** The open children of each loop, in the order of their items. */
  readonly #open = new SmallMap<Map<number, Child>>();
  /** Children with rows to write. */
  #changed: Set<string> | undefined;

  /** Takes note of a transition. @param state the run as it is after it. @param at now, in ms since the epoch. */
  note(facts: readonly Fact[], state: RunState, at: number): void {
    for (const fact of facts) {
      if (fact.kind !== 'partStarted' && fact.kind !== 'partEnded') continue;
      const { node: loop, index } = fact;
      if (index === undefined || !isAgentLoop(state.find(loop).planned.node)) continue;
      if (fact.kind === 'partStarted') this.#put({ id: randomBytes(16).toString('hex'), loop, index, at });
      else this.#end(this.#open.get(loop)?.get(index), fact.outcome);
    }
  }

  #end(child: Child | undefined, outcome: NonNullable<Child['outcome']>): void {
    if (child === undefined) return;
    const open = this.#open.get(child.loop);
    open?.delete(child.index);
    if (open?.size === 0) this.#open.delete(child.loop);
    this.#put({ ...child, outcome });
  }

  #put(child: Child): void {
    this.#add(child);
    this.#changed ??= new Set();
    this.#changed.add(child.id);
  }

  #add(child: Child): void {
    this.#all.set(child.id, child);
    if (child.outcome !== undefined) return;
    const { loop, index } = child;
    getOrInsert(this.#open, loop, () => new Map<number, Child>()).set(index, child);
  }

  get(id: string): Child | undefined {
    return this.#all.get(id);
  }

  /** The child of an open item. */
  of({ loop, index }: Pick<Child, 'loop' | 'index'>): Child | undefined {
    return this.#open.get(loop)?.get(index);
  }

  idOf(run: string, child: string): string {
    return childId(run, child);
  }

  /** The child of the agent that sees a node, and the node as it knows it; undefined for a node of no child. */
  around(state: RunState, node: string): { readonly child: string; readonly step: string } | undefined {
    const item = agentItemOf(state, node);
    const child = item && this.of(item);
    return child && { child: child.id, step: stepIdIn(state.find(child.loop), node) };
  }

  /** Whether agents drive a part of the run. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The open children of each loop, in the order in which they began. */
  open(): readonly (readonly Child[])[] {
    return Array.from(this.#open.values(), (children) => [...children.values()]);
  }

  /** The rows that were changed since it was asked last. */
  takeRows(): HostRow[] {
    const rows = [...(this.#changed ?? [])].flatMap((id) => rowsOf(this.#all.get(id)));
    this.#changed = undefined;
    return rows;
  }

  /** Continues from what was written. */
  reload(rows: readonly HostRow[]): void {
    this.#all.clear();
    this.#open.clear();
    this.#changed = undefined;
    for (const { table, row } of rows) if (table === TABLE) this.#add(row as unknown as Child);
  }

  /** The rows of open children for another run, with ids of their own. */
  copies(): HostRow[] {
    return this.open().flatMap((children) =>
      children.flatMap((child) => rowsOf({ ...child, id: randomBytes(16).toString('hex') })),
    );
  }
}

const withAgents = new WeakMap<Graph, boolean>();

/** Whether runs of a workflow may have children. */
export function hasAgents(graph: Graph): boolean {
  return getOrInsert(withAgents, graph, () => nodesWithTasks(graph).some(isAgentLoop));
}

function rowsOf(child: Child | undefined): HostRow[] {
  return child === undefined ? [] : [{ table: TABLE, key: child.id, row: child as unknown as Json }];
}
