import { append } from '../../../graph/maps.js';
import { entryOf, type Located, type LocatedText } from '../../text/located.js';
import type { NodeSpec, ScopeSpec } from './node-specs.js';

/** A place that names a node which is then selected. */
interface WrittenRoute {
  readonly from: NodeSpec;
  readonly target: string;
  /** The number of the case, if the route is one of a branch. */
  readonly arm?: number;
}

/** The routes between nodes of one list, as they are written. */
export class WrittenRoutes {
  readonly #byTarget = new Map<string, WrittenRoute[]>();

  constructor(scope: ScopeSpec) {
    for (const node of scope.nodes) {
      for (const route of routesFrom(node)) {
        append(this.#byTarget, route.target, route);
      }
    }
  }

  isRouted({ id }: NodeSpec): boolean {
    return this.#byTarget.has(id);
  }

  routesTo({ id }: NodeSpec): readonly WrittenRoute[] {
    return this.#byTarget.get(id) ?? [];
  }

  /** Whether two nodes are different cases of one branch, or one takes over from the other. */
  areExclusive(one: NodeSpec, other: NodeSpec): boolean {
    if (one.scope !== other.scope) return false;
    if (this.#takesOver(one, other) || this.#takesOver(other, one)) return true;
    if (one.dependsOn.length > 0 || other.dependsOn.length > 0) return false;
    const [mine, theirs] = [this.routesTo(one), this.routesTo(other)];
    const [first] = mine;
    if (first?.arm === undefined || theirs.length === 0) return false;
    return [...mine, ...theirs].every((route) => route.from === first.from);
  }

  #takesOver(node: NodeSpec, from: NodeSpec): boolean {
    return this.routesTo(node).some((route) => route.from === from && route.arm === undefined);
  }
}

export function textIn(value: Located | undefined, key: string): LocatedText | undefined {
  const part = value?.kind === 'map' ? entryOf(value, key)?.value : undefined;
  return part?.kind === 'text' ? part : undefined;
}

function routesFrom(node: NodeSpec): WrittenRoute[] {
  const { fields, kind } = node;
  const routes: WrittenRoute[] = [];
  if (kind === 'branch') {
    const cases = fields.value('on');
    const items = cases?.kind === 'list' ? cases.items : [];
    for (const [arm, item] of items.entries()) {
      const target = textIn(item, 'goto') ?? defaultIn(item);
      if (target !== undefined) routes.push({ from: node, target: target.value, arm });
    }
    const fallback = fields.value('default');
    const target = fallback?.kind === 'text' ? fallback : textIn(fallback, 'goto');
    if (target !== undefined) routes.push({ from: node, target: target.value, arm: items.length });
  }
  const fallback = textIn(fields.value('on_error'), 'fallback');
  if (fallback !== undefined) routes.push({ from: node, target: fallback.value });
  const undoing = fields.value('on_partial_failure');
  if (undoing?.kind === 'text') routes.push({ from: node, target: undoing.value });
  return routes;
}

/** The target of `{ default: X }` and `{ default: { goto: X } }`. */
function defaultIn(item: Located): LocatedText | undefined {
  const fallback = item.kind === 'map' ? entryOf(item, 'default')?.value : undefined;
  return fallback?.kind === 'text' ? fallback : textIn(fallback, 'goto');
}
