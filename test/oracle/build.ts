import type { DictExpr, Expr, RefExpr } from '../../src/graph/expression/tree.js';
import type { Json } from '../../src/graph/json.js';
import type { Graph, Node, Retry, Scope } from '../../src/graph/model.js';

/** A constant; absent without `value`. */
export const lit = (value?: Json): Expr =>
  value === undefined ? { kind: 'literal' } : { kind: 'literal', value };

export const ref = (root: RefExpr['root'], ...path: (string | number)[]): Expr => ({
  kind: 'ref',
  root,
  path,
});

export const step = (id: string, ...path: (string | number)[]): Expr => ref('steps', id, ...path);

/** `of.key`, or `of?.key`. A key of a reference is part of its path. */
export const get = (of: Expr, key: string, optional = false): Expr =>
  of.kind === 'ref' && !optional
    ? { ...of, path: [...of.path, key] }
    : { kind: 'get', of, key: lit(key), ...(optional ? { optional: true } : {}) };

/** `value ?? other` */
export const coalesce = (value: Expr, other: Expr): Expr => ({
  kind: 'call',
  fn: 'coalesce',
  args: [value, other],
});

export const isNullish = (value: Expr): Expr => ({ kind: 'call', fn: 'isNullish', args: [value] });

export const not = (of: Expr): Expr => ({ kind: 'not', truth: 'truthy.js', of });

export const equals = (left: Expr, value: Json): Expr => ({
  ...{ kind: 'compare', left },
  ops: [{ op: 'eq.strict', right: lit(value) }],
});

export const list = (...items: readonly Expr[]): Expr => ({
  kind: 'list',
  items: items.map((value) => ({ value })),
});

export const dict = (values: Readonly<Record<string, Expr>> = {}): DictExpr => ({
  kind: 'dict',
  entries: Object.entries(values).map(([key, value]) => ({ key, value })),
});

type Options = Partial<Omit<Node, 'kind' | 'id'>>;
type Own<K extends Node['kind']> = Omit<
  Extract<Node, { kind: K }>,
  'kind' | 'id' | 'after' | 'join' | 'executor'
>;

/** A node of any kind, after nothing, joined by `none_failed`. */
export function node<K extends Node['kind']>(kind: K, id: string, own: Own<K>, options: Options = {}): Node {
  return { kind, id, after: [], join: 'none_failed', executor: 'server', ...own, ...options } as Node;
}

export const call = (id: string, input: Readonly<Record<string, Expr>> = {}, options: Options = {}): Node =>
  node('call', id, { tool: id, input: dict(input) }, options);

export const scope = (nodes: readonly Node[], value?: Expr): Scope =>
  value === undefined ? { nodes } : { nodes, value };

export const graph = (nodes: readonly Node[], options: Partial<Graph> = {}): Graph => ({
  ...{ graphVersion: 1, name: 'sample', description: 'try something', inputs: [], instructions: [] },
  ...{ nodes, ...options },
});

export const again = (extra: number, options: Partial<Retry> = {}): Retry => ({
  ...{ extra, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 },
  ...options,
});

/** Undoes a call by its own result. */
export const undoing = (id: string, options: { readonly ignoreError?: boolean } = {}) => ({
  ...{ tool: `undo_${id}`, input: dict({ of: step(id) }) },
  ...options,
});
