import { references } from '../graph/expression/references.js';
import type { Expr } from '../graph/expression/tree.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/node-expressions.js';
import { type Placed, type Reader, type Subject, sightOf } from './subject.js';

/** What a node waits for before it runs, all of it in its own scope. */
export interface Waits {
  /** Those it names in `after`. */
  readonly after: ReadonlySet<Placed>;
  /** Those whose states its join looks at: `after`, and what it reads plainly. */
  readonly joined: ReadonlySet<Placed>;
  /** Those, and what it reads in any other way. */
  readonly all: ReadonlySet<Placed>;
}

export type WaitsOf = (placed: Placed) => Waits;

interface Building {
  readonly after: Set<Placed>;
  readonly joined: Set<Placed>;
  readonly all: Set<Placed>;
}

/**
 * The order that `after` and references give. What stands in a container makes the container wait. What is read before
 * it is declared is a fault of its own, and no order.
 */
export function waitsIn(subject: Subject): WaitsOf {
  const waits = new Map<Placed, Building>(
    subject.placed.map((each) => [each, { after: new Set(), joined: new Set(), all: new Set() }]),
  );

  /** The `own` result is there when it is undone. */
  const read = (expr: Expr, reader: Reader, isPlain: boolean, own?: string): void => {
    for (const { ref, guarded } of references(expr)) {
      const id = String(ref.path[0]);
      const target = ref.root === 'steps' && id !== own ? subject.nodes.get(id) : undefined;
      const sight = target === undefined ? undefined : sightOf(target, reader);
      if (sight?.kind !== 'seen' || sight.user === undefined) continue;
      if (sight.source.index > sight.user.index) continue;
      const user = waits.get(sight.user);
      user?.all.add(sight.source);
      if (isPlain && !guarded) user?.joined.add(sight.source);
    }
  };

  for (const each of subject.placed) {
    const { node, scope } = each;
    const own = waits.get(each);
    for (const id of node.after) {
      const target = subject.nodes.get(id);
      if (target === undefined || target.scope !== scope) continue;
      own?.after.add(target);
      own?.joined.add(target);
      own?.all.add(target);
    }
    const reader = { scope, node: each };
    for (const expr of valueExpressions(node)) read(expr, reader, true);
    for (const expr of sideExpressions(node)) read(expr, reader, false);
    for (const { input } of compensationsOf(node)) read(input, reader, false, node.id);
  }
  for (const scope of subject.scopes) if (scope.value !== undefined) read(scope.value, { scope }, true);

  const none: Waits = { after: new Set(), joined: new Set(), all: new Set() };
  return (placed) => waits.get(placed) ?? none;
}
