import { readKey, references, unboundLocals } from '../../graph/expression/traversal.js';
import type { DictEntry, Expr, RefExpr } from '../../graph/expression/tree.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import { graphParts } from '../../graph/schema/parts.js';
import type { Span } from '../../graph/source-location.js';
import { SchemaCompiler } from '../json-schema/schema-compiler.js';
import { pathReason } from './errors.js';
import { checkedKeys, fieldKeys, type Path, shownPath } from './names.js';

/** The expressions made by {@link constantExpr}. */
const constants = new WeakSet<Expr>();

/** Whether an expression was made by {@link constantExpr}. Any other one is unchecked. */
export function isConstantExpr(value: Expr): boolean {
  return constants.has(value);
}

/** The greatest nesting depth of a constant. The evaluator refuses deeper expressions. */
const MAX_DEPTH = 100;

/**
 * Makes an expression of a JSON value: objects and arrays part by part, `undefined` as absent. If the value is not
 * JSON, `fault` is the reason, as the end of a sentence.
 */
export function constantExpr(value: unknown): { readonly value: Expr } | { readonly fault: string } {
  try {
    const expr = copy(value, 0);
    constants.add(expr);
    return { value: expr };
  } catch (error) {
    if (error instanceof NotJson) return { fault: error.message };
    throw error;
  }
}

/** Thrown by `copy`, and caught in this file. */
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

/** A function of a graph: exported from the top level of a module, deterministic, with JSON parameters and result. */
// biome-ignore lint/suspicious/noExplicitAny: its parameters are outputs of tools and arguments of any type
export type NamedFunction = (...args: any[]) => Json | undefined;

/** Makes the value of a step from its output: a field path, an expression over {@link output}, or a function. */
export type Transform = Path | Expr | NamedFunction;

/** The local that {@link output} refers to. Not an identifier, so that no local of an author has this name. */
const OUTPUT = 'output of the step';

/**
 * In an expression of a transform, refers to the output of the step, or to the field of it at a path.
 *
 * @example
 * ```ts
 * step(ListPages).bind('heading').transform({ kind: 'text', style: 'js', parts: ['# ', output('pages.0.title')] })
 * ```
 * @throws InvalidNameError for an invalid path.
 */
export function output(path?: Path): RefExpr {
  const keys = path === undefined ? [] : checkedKeys(path);
  return { kind: 'ref', root: 'local', path: [OUTPUT, ...keys] };
}

/** Lists the references of an applied transform that transforms may not have, as text. */
function foreignReferences(transform: Expr, value: RefExpr): string[] {
  const isForeign = ({ root, path }: RefExpr): boolean =>
    root !== 'inputs' && root !== 'local' && !(root === value.root && path[0] === value.path[0]);
  const foreign = references(transform).flatMap(({ ref }) => (isForeign(ref) ? [ref] : []));
  return [...foreign, ...unboundLocals(transform)].map(({ root, path }) => [root, ...path].join('.'));
}

/**
 * Replaces {@link output} in a transform by the value of the node, and sets the place of every part to `at`. All objects
 * with a `kind` in a tree are expressions, except in the values of literals.
 */
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

export function readPath(value: Expr, path: readonly (string | number)[], at: Span): Expr {
  return path.reduce<Expr>((of, key) => readKey(of, { kind: 'literal', value: key, at }, { at }), {
    ...value,
    at,
  });
}

/**
 * Applies a transform that is a path or an expression.
 *
 * @param refuse receives the reasons if the transform is invalid.
 * @returns `undefined` for an invalid transform.
 */
export function transformed(
  transform: Exclude<Transform, (...args: never[]) => unknown>,
  value: RefExpr,
  at: Span,
  refuse: (reason: string) => void,
): Expr | undefined {
  return typeof transform === 'string' || isList(transform)
    ? byPath(transform, value, at, refuse)
    : byExpression(transform, value, at, refuse);
}

/** `Array.isArray` would narrow the type to `any[]`. */
function isList(transform: Path | Expr): transform is readonly (string | number)[] {
  return Array.isArray(transform);
}

function byPath(path: Path, value: RefExpr, at: Span, refuse: (reason: string) => void): Expr | undefined {
  const keys = fieldKeys(path);
  if (keys !== undefined) return readPath(value, keys, at);
  refuse(pathReason(shownPath(path)));
  return undefined;
}

function byExpression(
  transform: Expr,
  value: RefExpr,
  at: Span,
  refuse: (reason: string) => void,
): Expr | undefined {
  // Programs may pass any value, even one with cycles.
  const plain = constantExpr(transform);
  if ('fault' in plain) {
    refuse(`The transform is not an expression: ${plain.fault}`);
    return undefined;
  }
  const lowered = substitute(transform, value, at) as Expr;
  const parsed = graphParts().expr.safeParse(lowered);
  if (!parsed.success) {
    const { path = [], message = '' } = parsed.error.issues[0] ?? {};
    refuse(`The transform is not an expression: /${path.map(String).join('/')}: ${message}`);
    return undefined;
  }
  const foreign = foreignReferences(lowered, value);
  for (const name of foreign)
    refuse(`The transform reads '${name}'. It may read output() and arguments alone`);
  return foreign.length > 0 ? undefined : lowered;
}

/** Shared, since it is expensive to compile a schema again. */
const schemas = new SchemaCompiler();

/** Why a value is not a JSON Schema. */
export function schemaReasons(schema: JsonSchema): string[] {
  // Programs may pass any value, even one with cycles.
  const plain = constantExpr(schema);
  if ('fault' in plain) return [`'schema' is not JSON: ${plain.fault}`];
  if (plain.value.kind !== 'dict') return ["'schema' is not an object"];
  return schemas
    .faults(schema)
    .map(({ pointer, problem }) => `'schema'${pointer === '' ? '' : ` at '${pointer}'`} ${problem}`);
}

/** Why a default does not fit its schema. */
export function defaultReasons(fallback: Json, schema: JsonSchema): string[] {
  const plain = constantExpr(fallback);
  if ('fault' in plain) return [`'default' does not fit the schema: it is not JSON: ${plain.fault}`];
  return schemas
    .check(schema, fallback)
    .map(
      ({ instancePath, message = 'is not valid' }) =>
        `'default' does not fit the schema: ${instancePath === '' ? 'it' : `'${instancePath}'`} ${message}`,
    );
}
