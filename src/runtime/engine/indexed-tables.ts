import { canonicalJson } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import { type NodeRecord, rollbacksAround } from './records.js';
import type { EffectRow, FailedItemRow } from './rows.js';
import { type ChangeList, Heap, KeyIndex, RowTable } from './tables.js';

/** An undo record and its key. */
export interface Effect extends EffectRow {
  readonly key: string;
}

/** Key of the `index`-th undo record of a call in one generation. */
export function effectKey(call: string, generation: number, index: number): string {
  return index === 0 ? `${call}@${generation}` : `${call}@${generation}+${index}`;
}

/** Index of an undo record among those of its call and generation, from 0. */
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
  /** Keys of records that are not undone, by key of the `parallel` nodes around that roll back. */
  #inside: KeyIndex | undefined;
  /** By `groupOf`. Built at the first search: most runs need none. */
  #ranked: Map<string, Heap<Ranked>> | undefined;

  constructor(run: Nodes) {
    super('effects', run.changes);
    this.#run = run;
  }

  override put(key: string, row: EffectRow): void {
    const previous = this.get(key);
    super.put(key, row);
    this.#updateInside(key, row.call, isOpen(previous), isOpen(row));
    if (previous?.status !== row.status || previous.order !== row.order) this.#rank(key, row);
  }

  override delete(key: string): boolean {
    const previous = this.get(key);
    if (previous !== undefined) this.#updateInside(key, previous.call, isOpen(previous), false);
    return super.delete(key);
  }

  /** The records of a call in a generation, the first one first. */
  ofCall(call: string, generation: number): Effect[] {
    const records: Effect[] = [];
    for (let index = 0; ; index += 1) {
      const key = effectKey(call, generation, index);
      const row = this.get(key);
      if (row === undefined) return records;
      records.push({ key, ...row });
    }
  }

  /** The record that a call of this tool with this input undoes: the newest active one, else the best by `RANKS`. */
  undoneBy(tool: string, input: JsonObject): Effect | undefined {
    return this.#best(compensationGroup(tool, input));
  }

  /** The newest active record of a call without a compensation. Late successes are left out. */
  uncompensatedOf(call: string): Effect | undefined {
    const newest = this.#best(uncompensatedGroup(call));
    return newest?.status === 'active' ? newest : undefined;
  }

  /** Whether any record has a compensation, and is not undone. */
  get hasUndoable(): boolean {
    for (const [, row] of this.rows()) if (row.tool !== undefined && isOpen(row)) return true;
    return false;
  }

  /** The records that are not undone, the newest first: of the run, or inside a `parallel` that rolls back. */
  open(inside?: NodeRecord): Effect[] {
    const records: Effect[] = [];
    const keys = inside === undefined ? this.keys() : (this.#inside?.all(inside.key) ?? []);
    for (const key of keys) {
      const row = this.need(key);
      if (isOpen(row)) records.push({ key, ...row });
    }
    return records.sort(newestFirst);
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
    const ranked = getOrInsert(this.#ranked, group, () => new Heap(isBetter));
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

/** An undo record as it was ranked. Stale if its row has another status or order now: it is removed when it comes first. */
type Ranked = Pick<Effect, 'key' | 'status' | 'order'>;

/** Which record a compensation undoes if several match. */
const RANKS = { active: 0, undoing: 1, unknown: 2, undone: 3, failed: 4 } as const;

/** By status, then the newest first. */
function isBetter(one: Ranked, other: Ranked): boolean {
  const difference = RANKS[one.status] - RANKS[other.status];
  return difference < 0 || (difference === 0 && one.order > other.order);
}

/** The group in which a record is searched; none for a record that is only found by its key. */
function groupOf({ call, tool, input, compensateStep, isLate }: EffectRow): string | undefined {
  if (compensateStep !== undefined) return undefined;
  if (tool === undefined) return isLate ? undefined : uncompensatedGroup(call);
  return input === undefined ? undefined : compensationGroup(tool, input);
}

function compensationGroup(tool: string, input: JsonObject): string {
  return `${tool}\n${canonicalJson(input)}`;
}

/** Distinct from those of compensations, as no tool has an empty name. */
function uncompensatedGroup(call: string): string {
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

  /** Keys of the failed items of a loop, or of the loops inside a container. */
  inside(container: string): readonly string[] {
    return this.#inside?.all(container) ?? [];
  }

  *#around({ step }: FailedItemRow): Generator<string> {
    let each: NodeRecord | undefined = this.#run.find(step);
    for (; each !== undefined; each = each.scope.container) yield each.key;
  }
}
