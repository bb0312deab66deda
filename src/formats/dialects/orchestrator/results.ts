import type { DictEntry, Expr, RefExpr } from '../../../graph/expression/tree.js';
import type { ReferenceLowering } from '../../references/lower-references.js';
import type { Located } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import type { LoweredScope } from './lower-nodes.js';
import { hasResult } from './node-kinds.js';
import type { NodeSpec, ScopeSpec } from './node-specs.js';
import type { WrittenRoutes } from './routes.js';

/** What a workflow returns. */
export interface WrittenResult {
  /** Its value `returns`. */
  readonly returns: Located | undefined;
  readonly references: ReferenceLowering;
  readonly scope: ScopeSpec;
  readonly lowered: LoweredScope;
  readonly routes: WrittenRoutes;
  /** The workflow. */
  readonly name: string;
  readonly at: Located;
}

/**
 * Makes the result of a workflow. Without `returns` it is made of the nodes that no other node uses: the result of the
 * one that ran, an object of several, or null.
 */
export function lowerResult(
  reports: Reports,
  { returns, references, scope, lowered, routes, name, at }: WrittenResult,
): Expr | undefined {
  if (returns !== undefined) return references.value(returns);
  const sinks = sinksIn(scope, lowered);
  const [first, ...others] = sinks;
  if (first === undefined) return undefined;
  if (others.length === 0) {
    const none: Expr = { kind: 'literal', value: null };
    return { kind: 'call', fn: 'coalesce', args: [resultOf(first), none] };
  }
  const areAlternatives = others.every((each) => routes.areExclusive(first, each));
  if (!areAlternatives) reports.report('SW5032', at, { workflow: name, sinks: sinks.map(({ id }) => id) });
  const entries = sinks.map(
    (node): DictEntry => ({ key: node.output?.value ?? node.id, value: resultOf(node) }),
  );
  return { kind: 'call', fn: 'soleEntry', args: [{ kind: 'dict', entries }] };
}

function resultOf({ id }: NodeSpec): RefExpr {
  return { kind: 'ref', root: 'steps', path: [id], find: 'optional' };
}

/** The nodes with a result that no other node waits for. */
function sinksIn(scope: ScopeSpec, { written, dependencies }: LoweredScope): NodeSpec[] {
  const used = new Set(written.flatMap(({ after }) => after));
  for (const [index, edges] of dependencies.data.entries()) {
    // What undoes a node does not use its result.
    if (written[index]?.kind === 'compensate') continue;
    for (const { source } of edges) used.add(written[source]?.id ?? '');
  }
  const lowered = new Set(written.map(({ id }) => id));
  return scope.nodes.filter(({ id, kind }) => hasResult(kind) && lowered.has(id) && !used.has(id));
}
