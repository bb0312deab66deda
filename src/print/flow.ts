import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import type { BranchNode, Graph } from '../graph/model.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, ScopePlan } from '../plan/plan.js';
import { armsOf, attemptOf, fallbackOf, soleBody } from './shapes.js';

/** How much of a flow is shown, and with which names. */
export interface FlowOptions {
  /** How many levels of steps are shown; deeper ones are `…`. Default: all. */
  readonly depth?: number;
  /** Default: the id of the step. */
  readonly nameOf?: (node: Node) => string;
}

const NOTHING = '–';
const MORE = '…';

/** How many steps that select each other are shown one inside the other. */
const MOST_SELECTED = 32;

/**
 * The steps of a workflow in their order: `search → [ reserve | waitlist ] → ( mail & log )`. What may be left out
 * is next to `–`; what runs side by side has `&` between. A step that runs only when it is selected is shown where it is
 * selected, `( try charge, else notify )`, with its own steps the first time; of a long row of such steps the end is `…`.
 */
export function flowText(
  graph: Graph,
  { depth = Number.POSITIVE_INFINITY, nameOf = ({ id }) => id }: FlowOptions = {},
): string {
  return new Flow(nameOf).scope(planOf(graph).main.root, depth);
}

class Flow {
  readonly #nameOf: (node: Node) => string;
  /** Those that were shown where they are selected. */
  readonly #selected = new Set<PlannedNode>();
  #nesting = 0;

  constructor(nameOf: (node: Node) => string) {
    this.#nameOf = nameOf;
  }

  scope(scope: ScopePlan, depth: number): string {
    return this.#steps(scope.nodes, depth);
  }

  #steps(nodes: readonly PlannedNode[], depth: number): string {
    const shown = nodes.filter((planned) => this.#isShown(planned));
    if (shown.length === 0) return NOTHING;
    if (depth === 0) return MORE;
    const rows = new Map<number, string[]>();
    for (const [planned, level] of this.#levels(nodes)) {
      if (shown.includes(planned)) rows.set(level, [...(rows.get(level) ?? []), this.#label(planned, depth)]);
    }
    const inOrder = [...rows].sort(([one], [other]) => one - other).map(([, row]) => row);
    return inOrder.map((row) => (row.length === 1 ? row[0] : `( ${row.join(' & ')} )`)).join(' → ');
  }

  /** A step that runs only when it is selected is shown with the step that selects it. */
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
      return this.#attempt(this.#steps(part(attempt.tried), depth), part(attempt.otherwise), depth);
    }
    if (soleBody(node) !== undefined) return inside(0);
    switch (node.kind) {
      case 'branch':
        return `[ ${this.#arms(node, planned, depth).join(' | ')} ]`;
      case 'parallel':
        return `( ${parts.map((_body, index) => inside(index)).join(' & ')} )`;
      case 'foreach':
        return `each ${node.as}: { ${inside(0)} }`;
      case 'set':
        return `${this.#nameOf(node)} (set ${node.updates.map(({ field }) => field).join(', ')})`;
      case 'goto':
        return `back to ${this.#target(planned, node.target)}`;
      default:
        return this.#nameOf(node);
    }
  }

  /** The arms of a branch. One that leads to a step which runs in any case has nothing of its own. */
  #arms(branch: BranchNode, { scope, parts }: PlannedNode, depth: number): string[] {
    let next = 0;
    return armsOf(branch).map((arm) => {
      if (!('goto' in arm)) return this.#inside(parts[next++], depth);
      const target = scope.nodes.find(({ node }) => node.id === arm.goto);
      return target?.needsSelection ? this.#ending([target], depth) : NOTHING;
    });
  }

  #target({ scope }: PlannedNode, id: string): string {
    const target = scope.workflow.byId.get(id);
    return target === undefined ? id : this.#nameOf(target.node);
  }

  #inside(body: ScopePlan | undefined, depth: number): string {
    return body === undefined ? NOTHING : this.scope(body, depth - 1);
  }

  /** A step with its fallback, if that is not shown elsewhere. */
  #withFallback(planned: PlannedNode, name: string, depth: number): string {
    const id = fallbackOf(planned.node);
    const other = planned.scope.nodes.find(({ node }) => node.id === id);
    if (
      other === undefined ||
      !other.needsSelection ||
      attemptOf(planned.scope.container?.node ?? planned.node) !== undefined
    ) {
      return name;
    }
    return this.#attempt(name, [other], depth);
  }

  /** Steps that only word the failure are left out: a step that fails without them fails as well. */
  #attempt(tried: string, otherwise: readonly PlannedNode[], depth: number): string {
    const [first, ...others] = otherwise;
    if (first?.node.kind === 'error' && others.length === 0) return tried;
    return `( try ${tried}, else ${this.#ending(otherwise, depth)} )`;
  }

  #ending(nodes: readonly PlannedNode[], depth: number): string {
    const [first] = nodes;
    if (nodes.length === 1 && first?.node.kind === 'error') return 'fail';
    if (nodes.length === 1 && first?.node.kind === 'return') return 'done';
    const shown = nodes.filter(({ node }) => kinds[node.kind].isStep);
    return shown.length === 0 ? NOTHING : shown.map((planned) => this.#once(planned, depth)).join(' → ');
  }

  /** A step that is selected again has its name alone: branches that join after each other would be shown 2^n times. */
  #once(planned: PlannedNode, depth: number): string {
    if (this.#selected.has(planned)) return this.#nameOf(planned.node);
    if (this.#nesting === MOST_SELECTED) return MORE;
    this.#selected.add(planned);
    this.#nesting += 1;
    const label = this.#label(planned, depth);
    this.#nesting -= 1;
    return label;
  }
}
