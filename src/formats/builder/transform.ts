import { readKey } from '../../graph/expression/paths.js';
import { references, unboundLocals } from '../../graph/expression/references.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import type { Span } from '../../graph/place.js';
import { checkedKeys, type Path } from './names.js';

/** A pure function beside the graph: exported from the top level of a module, deterministic, JSON in and out. */
// biome-ignore lint/suspicious/noExplicitAny: what it takes are outputs of tools and arguments, which are their own
export type NamedFunction = (...args: any[]) => Json | undefined;

/** What makes another value of a step's output: a field path, an expression over {@link output}, or a function. */
export type Transform = Path | Expr | NamedFunction;

/** No local of an author has this name, so that none hides it. */
const OUTPUT = 'output of the step';

/**
 * The output of the step whose transform it stands in, or the field of it at a path.
 *
 * @example
 * ```ts
 * step(ListPages).bind('heading').transform({ kind: 'text', style: 'js', parts: ['# ', output('pages.0.title')] })
 * ```
 * @throws InvalidNameError for what is no field path.
 */
export function output(path?: Path): RefExpr {
  const keys = path === undefined ? [] : checkedKeys(path);
  return { kind: 'ref', root: 'local', path: [OUTPUT, ...keys] };
}

/** The references of an applied transform that lead to what no transform may read, as an author would write them. */
export function foreignReferences(transform: Expr, value: RefExpr): string[] {
  const isForeign = ({ root, path }: RefExpr): boolean =>
    root !== 'inputs' && root !== 'local' && !(root === value.root && path[0] === value.path[0]);
  const foreign = references(transform).flatMap(({ ref }) => (isForeign(ref) ? [ref] : []));
  return [...foreign, ...unboundLocals(transform)].map(({ root, path }) => [root, ...path].join('.'));
}

/** The transform with the node's value in the place of its output, every part of it placed at `at`. */
export function applied(transform: Expr, value: RefExpr, at: Span): Expr {
  return substitute(transform, value, at) as Expr;
}

/** A tree is plain data, and all of its parts with a `kind` are expressions, but for the values of literals. */
function substitute(part: unknown, value: RefExpr, at: Span): unknown {
  if (Array.isArray(part)) return part.map((item) => substitute(item, value, at));
  if (typeof part !== 'object' || part === null) return part;
  const { kind, root, path } = part as Partial<RefExpr>;
  if (kind === 'ref' && root === 'local' && path?.[0] === OUTPUT) {
    return { ...value, path: [...value.path, ...path.slice(1)], at };
  }
  if ((kind as unknown) === 'literal') return { ...part, at };
  const parts = Object.entries(part).map(([key, inner]) => [key, substitute(inner, value, at)]);
  return { ...Object.fromEntries(parts), ...(kind === undefined ? {} : { at }) };
}

/** Reads a path from a value. */
export function readPath(value: Expr, path: readonly (string | number)[], at: Span): Expr {
  return path.reduce<Expr>((of, key) => readKey(of, { kind: 'literal', value: key, at }, { at }), {
    ...value,
    at,
  });
}
