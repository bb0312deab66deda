import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { dataPaths, formatPath } from '../expression/paths.js';
import type { Expr, RefRoot } from '../expression/tree.js';
import { expressionsOf } from '../node-expressions.js';
import type { Place } from '../place.js';
import { nearestName } from '../suggest.js';
import { type Known, read } from './known.js';
import { placeOfExpr, placeOfNode } from './places.js';
import type { Subject } from './subject.js';
import type { Names } from './type-of.js';
import type { NamesIn } from './values.js';

/** SW4005: paths that no output of the step they read from can have, nor an item or a field of the state. */
export function checkOutputPaths(subject: Subject, namesIn: NamesIn): Diagnostic[] {
  const { graph } = subject;
  const ofNodes = subject.placed.flatMap(({ node, scope }) => {
    const source = placeOfNode(node, graph);
    return expressionsOf(node).flatMap((expr) => checkPaths(expr, source, namesIn(scope)));
  });
  const ofScopes = subject.scopes.flatMap((scope) => {
    if (scope.value === undefined) return [];
    const source = scope.owner === undefined ? graph.source : placeOfNode(scope.owner.node, graph);
    return checkPaths(scope.value, source, namesIn(scope));
  });
  return [...ofNodes, ...ofScopes];
}

function checkPaths(expr: Expr, source: Place | undefined, names: Names): Diagnostic[] {
  return dataPaths(expr).flatMap((path) => {
    const step = String(path.ref.path[0]);
    const start = startOf(path.ref.root, step, names);
    if (start === undefined) return [];
    let { known } = start;
    for (const [index, segment] of path.segments.entries()) {
      const next = read(known, segment.key);
      if (next.kind === 'missing') {
        const params = {
          step,
          ...start.params,
          path: formatPath(path.segments.slice(0, index + 1)),
          suggestion: nearestName(String(segment.key), next.keys),
        };
        return [diagnostic('SW4005', placeOfExpr(segment, source), params)];
      }
      known = next.known;
    }
    return [];
  });
}

interface Start {
  readonly known: Known;
  readonly params?: { readonly of: 'item' | 'state field' };
}

function startOf(root: RefRoot, name: string, names: Names): Start | undefined {
  switch (root) {
    case 'steps':
      return { known: names.steps(name) };
    case 'item':
      return { known: names.item(name), params: { of: 'item' } };
    case 'state':
      return { known: names.state(name), params: { of: 'state field' } };
    default:
      return undefined;
  }
}
