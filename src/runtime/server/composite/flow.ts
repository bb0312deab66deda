import { isSelectedOnly, routersIn } from '../../../check/routes.js';
import { type Placed, type PlacedScope, subjectOf } from '../../../check/subject.js';
import { waitsIn } from '../../../check/waits.js';
import type { Graph, Node, NodeKind } from '../../../graph/model.js';
import { armsOf, attemptOf, fallbackOf, soleBody } from '../../../print/shapes.js';

/** Kinds of node that a caller notices nothing of. */
const SILENT: ReadonlySet<NodeKind> = new Set(['compute', 'error', 'return']);

const NOTHING = '–';

/**
 * The steps of a workflow in their order: `search → [ reserve | waitlist ] → ( mail & log )`. What may be left out
 * stands beside `–`; what runs side by side has `&` between.
 *
 * @param depth how many levels of steps are shown; deeper ones are `…`.
 */
export function flowOf(graph: Graph, depth: number): string {
  return new Flow(graph, depth).text;
}

class Flow {
  readonly text: string;
  readonly #waits: (placed: Placed) => ReadonlySet<Placed>;
  readonly #routers: (placed: Placed) => readonly Placed[];

  constructor(graph: Graph, depth: number) {
    const subject = subjectOf(graph);
    const waitsOf = waitsIn(subject);
    this.#waits = (placed) => waitsOf(placed).all;
    this.#routers = routersIn(subject);
    this.text = this.#scope(subject.root, depth);
  }

  #scope(scope: PlacedScope, depth: number): string {
    return this.#steps(scope.nodes, depth);
  }

  #steps(nodes: readonly Placed[], depth: number): string {
    const shown = nodes.filter((placed) => this.#isShown(placed));
    if (shown.length === 0) return NOTHING;
    if (depth === 0) return '…';
    const rows = new Map<number, string[]>();
    for (const [placed, level] of this.#levels(nodes)) {
      if (shown.includes(placed)) rows.set(level, [...(rows.get(level) ?? []), this.#label(placed, depth)]);
    }
    const inOrder = [...rows].sort(([one], [other]) => one - other).map(([, row]) => row);
    return inOrder.map((row) => (row.length === 1 ? row[0] : `( ${row.join(' & ')} )`)).join(' → ');
  }

  /** What runs only when it is selected stands with whoever selects it. */
  #isShown(placed: Placed): boolean {
    return !SILENT.has(placed.node.kind) && !isSelectedOnly(placed, this.#routers);
  }

  /** How many shown steps come one after the other before each. What is not shown takes no place. */
  #levels(nodes: readonly Placed[]): ReadonlyMap<Placed, number> {
    const levels = new Map<Placed, number>();
    const behind = new Map<Placed, number>();
    for (const placed of nodes) {
      const isShown = this.#isShown(placed);
      const before = [...this.#waits(placed), ...(isShown ? [] : this.#routers(placed))];
      const level = Math.max(0, ...before.map((each) => behind.get(each) ?? 0));
      levels.set(placed, level);
      behind.set(placed, isShown ? level + 1 : level);
    }
    return levels;
  }

  #label(placed: Placed, depth: number): string {
    const { node } = placed;
    const name = this.#withFallback(placed, this.#name(placed, depth), depth);
    if (node.when === undefined) return name;
    const isBranch = node.kind === 'branch' && name.startsWith('[ ') && soleBody(node) === undefined;
    return `[ ${isBranch ? name.slice(2, -2) : name} | ${NOTHING} ]`;
  }

  #name(placed: Placed, depth: number): string {
    const { node, bodies } = placed;
    const inside = (index: number) => this.#inside(bodies[index], depth);
    const attempt = attemptOf(node);
    if (attempt !== undefined) {
      const body = bodies[0]?.nodes ?? [];
      const part = (nodes: readonly Node[]) => body.filter((each) => nodes.includes(each.node));
      return `( try ${this.#steps(part(attempt.tried), depth)}, else ${this.#ending(part(attempt.otherwise), depth)} )`;
    }
    if (soleBody(node) !== undefined) return inside(0);
    switch (node.kind) {
      case 'branch': {
        let next = 0;
        const arms = armsOf(node).map((arm) => ('goto' in arm ? arm.goto : inside(next++)));
        return `[ ${arms.join(' | ')} ]`;
      }
      case 'parallel':
        return `( ${bodies.map((_body, index) => inside(index)).join(' & ')} )`;
      case 'foreach':
        return `each ${node.as}: { ${inside(0)} }`;
      case 'set':
        return `${node.id} (set ${node.updates.map(({ field }) => field).join(', ')})`;
      case 'goto':
        return `back to ${node.target}`;
      default:
        return node.id;
    }
  }

  #inside(body: PlacedScope | undefined, depth: number): string {
    return body === undefined ? NOTHING : this.#scope(body, depth - 1);
  }

  /** A step with the one that takes over from it, where that stands nowhere else. */
  #withFallback(placed: Placed, name: string, depth: number): string {
    const id = fallbackOf(placed.node);
    const other = placed.scope.nodes.find(({ node }) => node.id === id);
    if (
      other === undefined ||
      !isSelectedOnly(other, this.#routers) ||
      attemptOf(ownerOf(placed)) !== undefined
    ) {
      return name;
    }
    return `( try ${name}, else ${this.#ending([other], depth)} )`;
  }

  #ending(nodes: readonly Placed[], depth: number): string {
    const [first] = nodes;
    if (nodes.length === 1 && first?.node.kind === 'error') return 'fail';
    if (nodes.length === 1 && first?.node.kind === 'return') return 'done';
    const shown = nodes.filter(({ node }) => !SILENT.has(node.kind));
    return shown.length === 0 ? NOTHING : shown.map((placed) => this.#label(placed, depth)).join(' → ');
  }
}

function ownerOf({ scope, node }: Placed): Node {
  return scope.owner?.node ?? node;
}
