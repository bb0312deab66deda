import type { DictEntry, Expr } from '../../graph/expression/tree.js';

/** The expressions made here. */
const constants = new WeakSet<Expr>();

/** Whether an expression was made by {@link constantExpr}: another one may be anything. */
export function isConstantExpr(value: Expr): boolean {
  return constants.has(value);
}

/** Deeper constants would exceed what the evaluator takes. */
const MAX_DEPTH = 100;

/**
 * A value as the expression an author would have written: objects and arrays part by part, `undefined` as absent.
 * `fault` says, as the end of a sentence, why a value is not JSON.
 */
export function constantExpr(value: unknown): { readonly value: Expr } | { readonly fault: string } {
  try {
    const made = copy(value, 0);
    constants.add(made);
    return { value: made };
  } catch (error) {
    if (error instanceof NotJson) return { fault: error.message };
    throw error;
  }
}

/** Ends the copy; never leaves this file. */
class NotJson extends Error {}

function copy(value: unknown, depth: number): Expr {
  if (depth > MAX_DEPTH) throw new NotJson(`it is nested deeper than ${MAX_DEPTH} levels`);
  switch (typeof value) {
    case 'undefined':
      return { kind: 'literal' };
    case 'string':
    case 'boolean':
      return { kind: 'literal', value };
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(`it holds ${value}`);
      // JSON has no negative zero.
      return { kind: 'literal', value: value === 0 ? 0 : value };
    case 'object':
      if (value === null) return { kind: 'literal', value };
      if (Array.isArray(value)) {
        const items = Array.from(value, (item) => ({ value: copy(item, depth + 1) }));
        return { kind: 'list', items };
      }
      return { kind: 'dict', entries: entriesOf(value, depth + 1) };
    default:
      throw new NotJson(`it holds a ${typeof value}`);
  }
}

function entriesOf(value: object, depth: number): DictEntry[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw new NotJson('it holds an instance of a class');
  }
  return Object.entries(value).map(([key, item]) => {
    if (key === '__proto__') throw new NotJson('it holds the key `__proto__`');
    return { key, value: copy(item, depth) };
  });
}
