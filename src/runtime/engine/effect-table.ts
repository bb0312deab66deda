import { canonicalJson } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import type { NodeRecord } from './records.js';
import { RowTable } from './row-table.js';
import type { EffectRow } from './rows.js';
import { type RunState, rollbacksAround } from './state.js';

/** An undo record and its key. */
export interface Effect extends EffectRow {
  readonly key: string;
}

/** Keys of undo records, by what they are asked for. */
class EffectIndex {
  /** By key of the `parallel` nodes around that roll back. */
  readonly inside = new Map<string, Set<string>>();
  /** By tool and input of what undoes them. */
  readonly byUndo = new Map<string, Set<string>>();
  /** By key of the call. */
  readonly byCall = new Map<string, Set<string>>();
}

/** The undo records of a run. */
export class EffectTable extends RowTable<'effects'> {
  readonly #state: RunState;
  #index: EffectIndex | undefined;

  constructor(state: RunState) {
    super('effects', state.changes);
    this.#state = state;
  }

  override put(key: string, row: EffectRow): void {
    const known = this.get(key);
    const isSame = known !== undefined && known.tool === row.tool && known.input === row.input;
    if (!isSame && known !== undefined) this.#update(key, known, removeFrom);
    if (!isSame) this.#update(key, row, addTo);
    super.put(key, row);
  }

  override delete(key: string): boolean {
    const known = this.get(key);
    if (known !== undefined) this.#update(key, known, removeFrom);
    return super.delete(key);
  }

  /** Those of a call. */
  ofCall(call: string): Effect[] {
    return this.#all(this.#index?.byCall.get(call));
  }

  /** Those that a call of this tool with this input undoes. */
  undoneBy(tool: string, input: JsonObject): Effect[] {
    return this.#all(this.#index?.byUndo.get(undoOf(tool, input)));
  }

  /** Those that are not undone, the newest first: of the whole run, or of what is inside a `parallel` that rolls back. */
  open(inside?: NodeRecord): Effect[] {
    const keys = inside === undefined ? this.keys() : this.#index?.inside.get(inside.key);
    return this.#all(keys)
      .filter(({ status }) => status !== 'undone')
      .sort(newestFirst);
  }

  #all(keys: Iterable<string> = []): Effect[] {
    const found: Effect[] = [];
    for (const key of keys) found.push({ key, ...this.need(key) });
    return found;
  }

  #update(key: string, { call, tool, input, own }: EffectRow, change: typeof addTo): void {
    this.#index ??= new EffectIndex();
    const { inside, byUndo, byCall } = this.#index;
    change(byCall, call, key);
    if (tool !== undefined && input !== undefined && own === undefined)
      change(byUndo, undoOf(tool, input), key);
    for (const around of rollbacksAround(this.#state.find(call))) change(inside, around.key, key);
  }
}

/** Who waits for which compensation besides the one that issued it. */
export class Joined {
  #owners: Map<string, Set<string>> | undefined;

  add(command: string, owner: string): void {
    this.#owners ??= new Map();
    addTo(this.#owners, command, owner);
  }

  /** Those that wait for a compensation, which is over. */
  take(command: string): Iterable<string> {
    const owners = this.#owners?.get(command) ?? [];
    this.#owners?.delete(command);
    return owners;
  }
}

function undoOf(tool: string, input: JsonObject): string {
  return `${tool}\n${canonicalJson(input)}`;
}

function newestFirst(one: EffectRow, other: EffectRow): number {
  return other.order - one.order;
}

function addTo(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  if (keys === undefined) index.set(at, new Set([key]));
  else keys.add(key);
}

function removeFrom(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  if (keys?.delete(key) === true && keys.size === 0) index.delete(at);
}
