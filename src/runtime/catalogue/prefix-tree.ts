/** A node: what leads to it from the node above, and what may follow. */
interface TreeNode {
  run: string;
  isEnd: boolean;
  /** By the first code unit of their runs. */
  next?: Map<number, TreeNode>;
}

/**
 * Texts by their prefixes. Adding one costs its length; looking one up costs as much as it agrees with the text at hand,
 * however many there are.
 */
export class PrefixTree {
  readonly #root: TreeNode = { run: '', isEnd: false };
  /** How many code units were compared to look texts up, so far. */
  comparisons = 0;

  get isEmpty(): boolean {
    return this.#root.next === undefined;
  }

  add(text: string): void {
    let node = this.#root;
    for (let at = 0; at < text.length; ) {
      const code = text.charCodeAt(at);
      const next = node.next?.get(code);
      if (next === undefined) {
        node.next ??= new Map();
        node.next.set(code, { run: text.slice(at), isEnd: true });
        return;
      }
      const common = commonLength(next.run, text, at);
      if (common < next.run.length) split(next, common);
      at += common;
      node = next;
    }
    node.isEnd = true;
  }

  /**
   * Where the longest of the texts ends that begins at a place of `text`; the place itself where none does. The beginning
   * of one counts as well if it has at least `least` code units and `mark` comes next.
   *
   * @param mark the code unit that a shortened text ends with.
   */
  endAt(text: string, at: number, mark: number, least: number): number {
    let end = at;
    let node = this.#root;
    let inRun = 0;
    for (let place = at; ; place += 1) {
      this.comparisons += 1;
      const isAtNode = inRun === node.run.length;
      const code = text.charCodeAt(place);
      if ((isAtNode && node.isEnd) || (code === mark && place - at >= least)) end = place;
      if (isAtNode) {
        const next = node.next?.get(code);
        if (next === undefined) return end;
        node = next;
        inRun = 1;
      } else if (node.run.charCodeAt(inRun) === code) inRun += 1;
      else return end;
    }
  }
}

function commonLength(run: string, text: string, at: number): number {
  let length = 1;
  while (length < run.length && run.charCodeAt(length) === text.charCodeAt(at + length)) length += 1;
  return length;
}

/** Puts a node in the middle of a run. */
function split(node: TreeNode, at: number): void {
  const { run, isEnd, next } = node;
  const rest: TreeNode = { run: run.slice(at), isEnd, ...(next === undefined ? {} : { next }) };
  node.run = run.slice(0, at);
  node.isEnd = false;
  node.next = new Map([[run.charCodeAt(at), rest]]);
}
