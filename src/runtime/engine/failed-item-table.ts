import type { NodeRecord } from './records.js';
import type { FailedItemRow } from './rows.js';
import type { RunState } from './state.js';
import { KeyIndex, RowTable } from './tables.js';

/** The failed items of a run, by key of the item's scope. */
export class FailedItemTable extends RowTable<'failedItems'> {
  readonly #state: RunState;
  /** By key of the loop, and of the containers around it. */
  #inside: KeyIndex | undefined;

  constructor(state: RunState) {
    super('failedItems', state.changes);
    this.#state = state;
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
    let each: NodeRecord | undefined = this.#state.find(step);
    for (; each !== undefined; each = each.scope.container) yield each.key;
  }
}
