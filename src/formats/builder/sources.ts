import type { VariableNames } from '../../decorators/resource.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { constantExpr } from './constants.js';
import type { ResourceLike, TemplateLike } from './handles.js';
import type { Naming, Path } from './names.js';
import type { NamedFunction } from './transform.js';

/** Where the value of a tool's argument comes from. */
export type DataSource =
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: 'step'; readonly binding: string; readonly path?: Path }
  /** `fault` where the value is not JSON. */
  | { readonly kind: 'constant'; readonly value: Expr }
  | { readonly kind: 'constant'; readonly fault: string }
  | { readonly kind: 'computed'; readonly function: NamedFunction; readonly sources: readonly DataSource[] }
  /** Its text, or a link to it. */
  | {
      readonly kind: 'resource' | 'link';
      readonly resource: ResourceLike | TemplateLike;
      readonly variables?: Readonly<Record<string, DataSource>>;
    };

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
 * fromStep('report', ['totals', 'per day', 0])
 * ```
 */
export function fromStep(binding: Naming<'binding'>, path?: Path): DataSource {
  return { kind: 'step', binding, ...(path === undefined ? {} : { path }) };
}

/** A value that is always the same. It is copied: later changes to it have no effect. */
export function constant(value: Json): DataSource {
  return { kind: 'constant', ...constantExpr(value) };
}

/**
 * The text of a resource, which is read before the step. The class of a template takes a source for each variable.
 *
 * @example
 * ```ts
 * fromResource(Guide)
 * fromResource(PageText, { name: fromStep('page', 'name') })
 * ```
 */
export function fromResource<R extends ResourceLike | TemplateLike>(
  resource: R,
  ...[variables]: VariableSources<R>
): DataSource {
  return { kind: 'resource', resource, ...(variables === undefined ? {} : { variables }) };
}

/** A link to a resource, which names it and does not read it: content of MCP, for a tool's input or the result. */
export function linkTo<R extends ResourceLike | TemplateLike>(
  resource: R,
  ...[variables]: VariableSources<R>
): DataSource {
  return { kind: 'link', resource, ...(variables === undefined ? {} : { variables }) };
}

/**
 * What an exported top-level function makes of several sources, in their order. A source that gives nothing is `null`.
 *
 * @example
 * ```ts
 * step(AddLine).arg('text', computed(headline, [promptArg('task'), fromStep('page', 'title')]))
 * ```
 */
export function computed(given: NamedFunction, sources: readonly DataSource[]): DataSource {
  return { kind: 'computed', function: given, sources: [...sources] };
}

/** A source for each variable of a template; nothing for a resource with one address. */
type VariableSources<R> = R extends { readonly uriTemplate: infer Template extends string }
  ? readonly [variables: { readonly [Name in VariableNames<Template>]: DataSource }]
  : readonly [variables?: undefined];
