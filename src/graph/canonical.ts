import type { Expr } from './expression/tree.js';
import type { Value } from './json.js';
import type { Graph } from './model.js';
import { sha256Hex } from './sha256.js';

export { sha256Hex } from './sha256.js';

/**
 * JSON with sorted keys and no spaces (RFC 8785): equal values give equal text. Absent properties are dropped,
 * absent items become null.
 * @throws TypeError for what JSON cannot hold (functions, symbols, big integers, non-finite numbers).
 */
export function canonicalJson(value: Value): string {
  return print(value) ?? 'null';
}

/**
 * The canonical JSON of a graph without its places: `source` of everything in it, `at` of expressions. Two graphs
 * that mean the same give the same text, wherever they were written.
 */
export function canonicalGraph(graph: Graph): string {
  return canonicalJson(withoutPlaces(graph) as Value);
}

/** The canonical JSON of an expression without its places: expressions that say the same give the same text. */
export function canonicalExpr(expr: Expr): string {
  return canonicalJson(withoutPlaces(expr) as Value);
}

/** Identity of a graph: sha256 of its canonical JSON, 64 hexadecimal digits. */
export function hashGraph(graph: Graph): string {
  return sha256Hex(canonicalGraph(graph));
}

function print(value: unknown): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? printList(value) : printObject(value);
    default:
      throw new TypeError(`a ${typeof value} has no JSON form`);
  }
}

function printList(items: readonly unknown[]): string {
  return `[${items.map((item) => print(item) ?? 'null').join(',')}]`;
}

function printObject(object: object): string {
  const members: string[] = [];
  // The default order of `sort` is by UTF-16 code units, as RFC 8785 wants it.
  for (const key of Object.keys(object).sort()) {
    const text = print((object as Readonly<Record<string, unknown>>)[key]);
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** Properties of the model whose value is an author's JSON: a `source` in there is data. */
const OPAQUE = new Set(['schema', 'default', 'initial', 'expects', 'responseSchema']);

function withoutPlaces(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutPlaces);
  if (typeof part !== 'object' || part === null) return part;
  const isLiteral = (part as { readonly kind?: unknown }).kind === 'literal';
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(part)) {
    if (key === 'source' || key === 'at') continue;
    const isOpaque = OPAQUE.has(key) || (isLiteral && key === 'value');
    kept.push([key, isOpaque ? value : withoutPlaces(value)]);
  }
  return Object.fromEntries(kept);
}
