import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { constantExpr } from './constants.js';
import type { ResourceLike } from './handles.js';
import type { Naming } from './names.js';

/** Where the value of a tool's argument comes from. */
export type DataSource =
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: 'step'; readonly binding: string; readonly path?: string }
  /** `fault` where the value is not JSON. */
  | { readonly kind: 'constant'; readonly value: Expr }
  | { readonly kind: 'constant'; readonly fault: string }
  | { readonly kind: 'resource'; readonly resource: ResourceLike };

/** Whether this is a source, and no object of sources, one of which may go by the name `kind`. */
export function isDataSource(value: DataSource | Readonly<Record<string, DataSource>>): value is DataSource {
  return typeof value.kind === 'string';
}

/** What the caller of the workflow gives for an argument. An argument that was left out is left out of the call. */
export function promptArg(name: Naming<'argument'>): DataSource {
  return { kind: 'argument', name };
}

/**
 * The output of an earlier step: the whole of it, or the field at a path of properties and indexes.
 *
 * @example
 * ```ts
 * fromStep('pages')
 * fromStep('pages', 'items.0.title')
 * ```
 */
export function fromStep(binding: Naming<'binding'>, path?: Naming<'field'>): DataSource {
  return { kind: 'step', binding, ...(path === undefined ? {} : { path }) };
}

/** A value that is always the same. It is copied: later changes to it have no effect. */
export function constant(value: Json): DataSource {
  return { kind: 'constant', ...constantExpr(value) };
}

/** The text of a resource, which is read before the step. */
export function fromResource(resource: ResourceLike): DataSource {
  return { kind: 'resource', resource };
}
