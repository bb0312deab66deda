import { canonicalJson } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import type { NodeRecord } from './records.js';
import { rollbacksAround } from './records.js';
import type { EffectRow, FailedItemRow } from './rows.js';
import { type ChangeList, KeyIndex, RowTable } from './tables.js';

/** An undo record and its key. */
export interface Effect extends EffectRow {
  readonly key: string;
}

/** Key of the `index`-th undo record of a call in one generation. */
export function effectKey(call: string, generation: number, index: number): string {
  return index === 0 ? `${call}@${generation}` : `${call}@${generation}+${index}`;
}

/** Which record of its call and generation this is, from 0. */
export function effectIndex(key: string): number {
  const plus = key.lastIndexOf('+');
  return plus > key.lastIndexOf('@') ? Number.parseInt(key.slice(plus + 1), 10) : 0;
}

/** What these tables need of a run: its list of changes, and its nodes by their keys. */
interface Nodes {
  readonly changes: ChangeList;
  find(key: string): NodeRecord;
}

/** The undo records of a run. */
export class EffectTable extends RowTable<'effects'> {
  readonly #run: Nodes;
  /** Keys of those that are not undone, by key of the `parallel` nodes around that roll back. */
  #inside: KeyIndex | undefined;
  /** By `groupOf`. None before the first record is looked for in this way: most runs never do. */
  #ranked: Map<string, RankedEffects> | undefined;

  constructor(run: Nodes) {
    super('effects', run.changes);
    this.#run = run;
  }

  override put(key: string, row: EffectRow): void {
    const known = this.get(key);
    super.put(key, row);
    this.#updateInside(key, row.call, isOpen(known), isOpen(row));
    if (known?.status !== row.status || known.order !== row.order) this.#rank(key, row);
  }

  override delete(key: string): boolean {
    const known = this.get(key);
    if (known !== undefined) this.#updateInside(key, known.call, isOpen(known), false);
    return super.delete(key);
  }

  /** Those that a call wrote in a generation, the first one first. */
  ofCall(call: string, generation: number): Effect[] {
    const found: Effect[] = [];
    for (let index = 0; ; index += 1) {
      const key = effectKey(call, generation, index);
      const row = this.get(key);
      if (row === undefined) return found;
      found.push({ key, ...row });
    }
  }

  /** The one that a call of this tool with this input undoes: the newest that is active, else the best of the rest. */
  undoneBy(tool: string, input: JsonObject): Effect | undefined {
    return this.#best(undoOf(tool, input));
  }

  /** The newest that is active of a call that nothing says how to undo. A late success is none. */
  keptOf(call: string): Effect | undefined {
    const kept = this.#best(keptBy(call));
    return kept?.status === 'active' ? kept : undefined;
  }

  /** Those that are not undone, the newest first: of the whole run, or of what is inside a `parallel` that rolls back. */
  open(inside?: NodeRecord): Effect[] {
    const found: Effect[] = [];
    const keys = inside === undefined ? this.keys() : (this.#inside?.all(inside.key) ?? []);
    for (const key of keys) {
      const row = this.need(key);
      if (isOpen(row)) found.push({ key, ...row });
    }
    return found.sort(newestFirst);
  }

  #updateInside(key: string, call: string, wasOpen: boolean, isOpen: boolean): void {
    if (wasOpen === isOpen) return;
    for (const around of rollbacksAround(this.#run.find(call))) {
      this.#inside ??= new KeyIndex();
      if (isOpen) this.#inside.add(around.key, key);
      else this.#inside.remove(around.key, key);
    }
  }

  #rank(key: string, row: EffectRow): void {
    if (this.#ranked === undefined) return;
    const group = groupOf(row);
    if (group === undefined) return;
    let ranked = this.#ranked.get(group);
    if (ranked === undefined) {
      ranked = new RankedEffects();
      this.#ranked.set(group, ranked);
    }
    ranked.add({ key, status: row.status, order: row.order });
  }

  #best(group: string): Effect | undefined {
    if (this.#ranked === undefined) {
      this.#ranked = new Map();
      for (const [key, row] of this.rows()) this.#rank(key, row);
    }
    const ranked = this.#ranked.get(group);
    for (let first = ranked?.first; first !== undefined; first = ranked?.first) {
      const { key, status, order } = first;
      const row = this.get(key);
      if (row?.status === status && row.order === order) return { key, ...row };
      ranked?.removeFirst();
    }
    return undefined;
  }
}

/** An undo record as it was when it was ranked. It counts as long as its row has this status and order. */
type Ranked = Pick<Effect, 'key' | 'status' | 'order'>;

/** Which record a compensation is for, where several would do. */
const RANKS = { active: 0, undoing: 1, unknown: 2, undone: 3, failed: 4 } as const;

/** A binary heap of undo records: by status, then the newest first. It does not follow which ones have changed since. */
class RankedEffects {
  readonly #heap: Ranked[] = [];

  get first(): Ranked | undefined {
    return this.#heap[0];
  }

  add(effect: Ranked): void {
    const heap = this.#heap;
    let at = heap.length;
    for (;;) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBetter(effect, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = effect;
  }

  removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      const [left, right] = [heap[below], heap[below + 1]];
      if (left !== undefined && right !== undefined && isBetter(right, left)) below += 1;
      const child = heap[below];
      if (child === undefined || !isBetter(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

function isBetter(one: Ranked, other: Ranked): boolean {
  const difference = RANKS[one.status] - RANKS[other.status];
  return difference < 0 || (difference === 0 && one.order > other.order);
}

/** What a record is looked for by; none for one that only its key names. */
function groupOf({ call, tool, input, own, late }: EffectRow): string | undefined {
  if (own !== undefined) return undefined;
  if (tool === undefined) return late ? undefined : keptBy(call);
  return input === undefined ? undefined : undoOf(tool, input);
}

function undoOf(tool: string, input: JsonObject): string {
  return `${tool}\n${canonicalJson(input)}`;
}

/** No tool is named so: the names of tools have characters. */
function keptBy(call: string): string {
  return `\n${call}`;
}

function isOpen(row: EffectRow | undefined): boolean {
  return row !== undefined && row.status !== 'undone';
}

function newestFirst(one: EffectRow, other: EffectRow): number {
  return other.order - one.order;
}

/** The failed items of a run, by key of the item's scope. */
export class FailedItemTable extends RowTable<'failedItems'> {
  readonly #run: Nodes;
  /** By key of the loop, and of the containers around it. */
  #inside: KeyIndex | undefined;

  constructor(run: Nodes) {
    super('failedItems', run.changes);
    this.#run = run;
  }

  override put(key: string, row: FailedItemRow): void {
    this.#inside ??= new KeyIndex();
    for (const around of this.#around(row)) this.#inside.add(around, key);
    super.put(key, row);
  }

  override delete(key: string): boolean {
    const row = this.get(key);
    if (row !== undefined) for (const around of this.#around(row)) this.#inside?.remove(around, key);
    return super.delete(key);
  }

  /** Keys of the items of a loop, or of the loops inside of a container. */
  inside(container: string): readonly string[] {
    return this.#inside?.all(container) ?? [];
  }

  *#around({ step }: FailedItemRow): Generator<string> {
    let each: NodeRecord | undefined = this.#run.find(step);
    for (; each !== undefined; each = each.scope.container) yield each.key;
  }
}
