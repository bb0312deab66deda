/** Why an item of a group was refused; nothing for one that is safe. */
type Refusal = Error | undefined;

/**
 * Gathers what is to be written while a write is in flight, and writes it together: the cost of making it safe is
 * shared. Items are written in the order in which they came.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<readonly Refusal[]>;
  readonly #gathered: () => unknown;
  #waiting: Waiting<Item>[] = [];
  #isCommitting = false;

  /**
   * @param commit makes a group safe, and says of each item, in order, why it was refused. Where it throws, the whole
   *   group has failed.
   * @param gathered resolves when the first group is complete. Default: what comes in the same go of the event loop's
   *   tasks belongs to it.
   */
  constructor(
    commit: (items: readonly Item[]) => Promise<readonly Refusal[]>,
    gathered: () => unknown = () => undefined,
  ) {
    this.#commit = commit;
    this.#gathered = gathered;
  }

  /** Resolves when the item is safe, rejects with why it is not. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isCommitting) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isCommitting = true;
    await this.#gathered();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#write(group);
    }
    this.#isCommitting = false;
  }

  async #write(group: readonly Waiting<Item>[]): Promise<void> {
    let refusals: readonly Refusal[];
    try {
      refusals = await this.#commit(group.map(({ item }) => item));
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      const refusal = refusals[index];
      if (refusal === undefined) resolve();
      else reject(refusal);
    }
  }
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}
