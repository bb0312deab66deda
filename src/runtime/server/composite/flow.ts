import { kinds } from '../../../graph/kinds/kinds.js';
import type { Graph, Node } from '../../../graph/model.js';
import { type PlannedNode, planOf, type ScopePlan } from '../../../plan/plan.js';
import { armsOf, attemptOf, fallbackOf, soleBody } from '../../../print/shapes.js';

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

  constructor(graph: Graph, depth: number) {
    this.text = this.#scope(planOf(graph).main.root, depth);
  }

  #scope(scope: ScopePlan, depth: number): string {
    return this.#steps(scope.nodes, depth);
  }

  #steps(nodes: readonly PlannedNode[], depth: number): string {
    const shown = nodes.filter((planned) => this.#isShown(planned));
    if (shown.length === 0) return NOTHING;
    if (depth === 0) return '…';
    const rows = new Map<number, string[]>();
    for (const [planned, level] of this.#levels(nodes)) {
      if (shown.includes(planned)) rows.set(level, [...(rows.get(level) ?? []), this.#label(planned, depth)]);
    }
    const inOrder = [...rows].sort(([one], [other]) => one - other).map(([, row]) => row);
    return inOrder.map((row) => (row.length === 1 ? row[0] : `( ${row.join(' & ')} )`)).join(' → ');
  }

  /** What runs only when it is selected stands with whoever selects it. */
  #isShown(planned: PlannedNode): boolean {
    return kinds[planned.node.kind].isStep && !planned.needsSelection;
  }

  /** How many shown steps come one after the other before each. What is not shown takes no place. */
  #levels(nodes: readonly PlannedNode[]): ReadonlyMap<PlannedNode, number> {
    const levels = new Map<PlannedNode, number>();
    const behind = new Map<PlannedNode, number>();
    for (const planned of nodes) {
      const isShown = this.#isShown(planned);
      const before = [...planned.sources, ...(isShown ? [] : planned.selectors)];
      const level = Math.max(0, ...before.map((each) => behind.get(each) ?? 0));
      levels.set(planned, level);
      behind.set(planned, isShown ? level + 1 : level);
    }
    return levels;
  }

  #label(planned: PlannedNode, depth: number): string {
    const { node } = planned;
    const name = this.#withFallback(planned, this.#name(planned, depth), depth);
    if (node.when === undefined) return name;
    const isBranch = node.kind === 'branch' && name.startsWith('[ ') && soleBody(node) === undefined;
    return `[ ${isBranch ? name.slice(2, -2) : name} | ${NOTHING} ]`;
  }

  #name(planned: PlannedNode, depth: number): string {
    const { node, parts } = planned;
    const inside = (index: number) => this.#inside(parts[index], depth);
    const attempt = attemptOf(node);
    if (attempt !== undefined) {
      const body = parts[0]?.nodes ?? [];
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
        return `( ${parts.map((_body, index) => inside(index)).join(' & ')} )`;
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

  #inside(body: ScopePlan | undefined, depth: number): string {
    return body === undefined ? NOTHING : this.#scope(body, depth - 1);
  }

  /** A step with the one that takes over from it, where that stands nowhere else. */
  #withFallback(planned: PlannedNode, name: string, depth: number): string {
    const id = fallbackOf(planned.node);
    const other = planned.scope.nodes.find(({ node }) => node.id === id);
    if (other === undefined || !other.needsSelection || attemptOf(ownerOf(planned)) !== undefined) {
      return name;
    }
    return `( try ${name}, else ${this.#ending([other], depth)} )`;
  }

  #ending(nodes: readonly PlannedNode[], depth: number): string {
    const [first] = nodes;
    if (nodes.length === 1 && first?.node.kind === 'error') return 'fail';
    if (nodes.length === 1 && first?.node.kind === 'return') return 'done';
    const shown = nodes.filter(({ node }) => kinds[node.kind].isStep);
    return shown.length === 0 ? NOTHING : shown.map((planned) => this.#label(planned, depth)).join(' → ');
  }
}

function ownerOf({ scope, node }: PlannedNode): Node {
  return scope.container?.node ?? node;
}
