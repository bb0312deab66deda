import type { Expr } from './expression/tree.js';
import type { Value } from './json.js';
import type { Node } from './kinds/node.js';
import type { Graph } from './model.js';
import { sha256Hex } from './sha256.js';

/**
 * JSON with sorted keys and no spaces (RFC 8785): equal values give equal text. Absent properties are dropped,
 * absent items become null.
 * @throws TypeError for what JSON cannot hold (functions, symbols, big integers, non-finite numbers).
 */
export function canonicalJson(value: Value): string {
  return print(value, false) ?? 'null';
}

/**
 * The canonical JSON of a graph or a part of one without its places: `source` of everything in it, `at` of expressions.
 * Two that mean the same give the same text.
 */
export function canonicalGraph(graph: Graph | Node | Expr): string {
  return printObject(graph, true);
}

/** Identity of a graph: sha256 of its canonical JSON, 64 hexadecimal digits. */
export function hashGraph(graph: Graph): string {
  return sha256Hex(canonicalGraph(graph));
}

/**
 * A copy of a graph without its places, which shares nothing with it: what its canonical JSON reads as.
 * @throws TypeError for what JSON cannot hold.
 */
export function withoutPlaces(graph: Graph): Graph {
  return copyObject(graph, true) as Graph;
}

/** @param isModel whether it is a part of the model, whose places are left out, and not an author's JSON. */
function print(value: unknown, isModel: boolean): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      return JSON.stringify(finite(value));
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? printList(value, isModel) : printObject(value, isModel);
    default:
      throw noJson(value);
  }
}

function printList(items: readonly unknown[], isModel: boolean): string {
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    text += `${index === 0 ? '' : ','}${print(items[index], isModel) ?? 'null'}`;
  }
  return `${text}]`;
}

function printObject(object: object, isModel: boolean): string {
  let members = '';
  // The default order of `sort` is by UTF-16 code units, as RFC 8785 wants it.
  for (const key of Object.keys(object).sort()) {
    if (isModel && isPlace(key)) continue;
    const value = (object as Readonly<Record<string, unknown>>)[key];
    const text = print(value, isModel && !isData(object, key));
    if (text !== undefined) members += `${members === '' ? '' : ','}${printKey(key)}:${text}`;
  }
  return `{${members}}`;
}

function printKey(key: string): string {
  return /^\w*$/.test(key) ? `"${key}"` : JSON.stringify(key);
}

function copy(value: unknown, isModel: boolean): unknown {
  switch (typeof value) {
    case 'undefined':
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // JSON has no negative zero.
      return finite(value) === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((item) => copy(item, isModel) ?? null);
      return copyObject(value, isModel);
    default:
      throw noJson(value);
  }
}

function copyObject(object: object, isModel: boolean): object {
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    if (isModel && isPlace(key)) continue;
    const value = copy((object as Readonly<Record<string, unknown>>)[key], isModel && !isData(object, key));
    if (value === undefined) continue;
    if (key === '__proto__') {
      Object.defineProperty(copied, key, { value, enumerable: true, configurable: true, writable: true });
    } else copied[key] = value;
  }
  return copied;
}

function isPlace(key: string): boolean {
  return key === 'source' || key === 'at';
}

/** Properties of the model whose value is an author's JSON: a `source` in there is data. */
const OPAQUE = new Set(['schema', 'default', 'initial', 'expects', 'responseSchema']);

function isData(object: object, key: string): boolean {
  if (key === 'value') return (object as { readonly kind?: unknown }).kind === 'literal';
  return OPAQUE.has(key);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
  return value;
}

function noJson(value: unknown): TypeError {
  return new TypeError(`a ${typeof value} has no JSON form`);
}
