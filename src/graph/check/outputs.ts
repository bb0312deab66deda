import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { dataPaths, formatPath, type PathSegment } from '../expression/paths.js';
import type { Expr } from '../expression/tree.js';
import { expressionsOf } from '../node-expressions.js';
import type { Place } from '../place.js';
import { nearestName } from '../suggest.js';
import { type Known, read } from './known.js';
import { placeOfExpr, placeOfNode } from './places.js';
import type { Subject } from './subject.js';
import type { Names } from './type-of.js';
import type { NamesIn } from './values.js';

/**
 * SW4005 and SW3013: paths that no output of the step, or no value of the argument, they read from can have. Items of
 * loops and fields of the state are SW4005 as well.
 */
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
  return dataPaths(expr).flatMap(({ ref: { root, path: start }, segments }) => {
    if (root !== 'steps' && root !== 'inputs' && root !== 'item' && root !== 'state') return [];
    const step = String(start[0]);
    const missing = missingIn(segments, names[root](step));
    if (missing === undefined) return [];
    const place = placeOfExpr(missing.segment, source);
    const { path, suggestion } = missing;
    switch (root) {
      case 'inputs':
        return diagnostic('SW3013', place, { argument: step, path, suggestion });
      case 'steps':
        return diagnostic('SW4005', place, { step, path, suggestion });
      case 'item':
        return diagnostic('SW4005', place, { step, of: 'item', path, suggestion });
      case 'state':
        return diagnostic('SW4005', place, { step, of: 'state field', path, suggestion });
      default:
        return root satisfies never;
    }
  });
}

/** The first key of a path that nothing has. */
function missingIn(
  segments: readonly PathSegment[],
  value: Known,
):
  | { readonly segment: PathSegment; readonly path: string; readonly suggestion: string | undefined }
  | undefined {
  let known = value;
  for (const [index, segment] of segments.entries()) {
    const next = read(known, segment.key);
    if (next.kind === 'missing') {
      const suggestion = nearestName(String(segment.key), next.keys);
      return { segment, path: formatPath(segments.slice(0, index + 1)), suggestion };
    }
    known = next.known;
  }
  return undefined;
}
