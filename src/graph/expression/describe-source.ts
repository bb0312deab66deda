import type { Expr, RefRoot } from './tree.js';

/** `steps.list.pages`, for sentences. */
export function describePath(root: RefRoot, path: readonly (string | number)[]): string {
  // Authors write how a node settled beside its value: `steps.check.status`.
  return `\`${[root === 'nodes' ? 'steps' : root, ...path].join('.')}\``;
}

/** `state.plan.title` for a reference and keys that are written; `other` for all else. */
export function describeSource(expr: Expr | string, other = 'the value before it'): string {
  const keys: (string | number)[] = [];
  let at = expr;
  while (typeof at !== 'string' && at.kind === 'get' && at.key.kind === 'literal') {
    keys.unshift(String(at.key.value));
    at = at.of;
  }
  return typeof at !== 'string' && at.kind === 'ref' ? describePath(at.root, [...at.path, ...keys]) : other;
}
