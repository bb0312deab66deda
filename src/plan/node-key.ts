/** One workflow's part of a key: a node and the indices of the loops around it there, the outermost first. */
export interface KeyPart {
  readonly id: string;
  readonly indices: readonly number[];
}

/** What keys and command ids are put together with, and ids therefore must not contain. */
const RESERVED = /[/[\]#@:]/;

/** Whether a node may have this id: one from which its key can be told again. */
export function isPlainId(id: string): boolean {
  return id !== '' && !RESERVED.test(id);
}

/** The index of an item that stands for all of a loop that have not begun, where a run is only tried out. */
export const ANY_ITEM = -1;

/** The key of a node under the workflow whose keys start with `prefix`. */
export function nodeKey(prefix: string, id: string, indices: readonly number[]): string {
  let key = prefix + id;
  for (const index of indices) key += `[${index}]`;
  return key;
}

/** Takes a node's key apart: the `workflow` nodes it runs under, the outermost first, then the node itself. */
export function parseNodeKey(key: string): readonly KeyPart[] {
  return key.split('/').map((part) => {
    const [id = '', ...indices] = part.split('[');
    return { id, indices: indices.map((index) => Number.parseInt(index, 10)) };
  });
}
