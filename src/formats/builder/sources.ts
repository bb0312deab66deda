import type { VariableNames } from '../../decorators/resource.js';
import { defined } from '../../graph/defined.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { constantExpr, type NamedFunction } from './expressions.js';
import type { Naming, Path } from './names.js';
import type { ResourceLike, TemplateLike } from './tools-and-resources.js';

/** The source of a tool's argument or of a part of the result. Made by the functions of this module. */
export type DataSource =
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: 'step'; readonly binding: string; readonly path?: Path }
  /** With `fault`, the reason, if the value is not JSON. */
  | { readonly kind: 'constant'; readonly value: Expr }
  | { readonly kind: 'constant'; readonly fault: string }
  /** Text with placeholders. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'computed'; readonly function: NamedFunction; readonly sources: readonly DataSource[] }
  /** The text of a resource, or a link to it. */
  | {
      readonly kind: 'resource' | 'link';
      readonly resource: ResourceLike | TemplateLike;
      readonly variables?: Readonly<Record<string, DataSource>>;
    };

/** The text of a resource, or a link to it. */
export type AddressedSource = Extract<DataSource, { kind: 'resource' | 'link' }>;

/** A value that a model supplies for an argument of a tool. Made by {@link fromModel}. */
export interface ModelSource {
  readonly kind: 'model';
  readonly message: DataSource;
}

/** The source of a tool's argument. */
export type ArgumentSource = DataSource | ModelSource;

/** Whether this is a source. In an object of sources, the value of a key `kind` is a source and not a string. */
export function isDataSource(value: DataSource | Readonly<Record<string, DataSource>>): value is DataSource {
  return typeof value.kind === 'string';
}

/** The value of an argument of the workflow. If the caller left it out, the argument of the tool is left out. */
export function promptArg(name: Naming<'argument'>): DataSource {
  return { kind: 'argument', name };
}

/**
 * The value of an earlier step with a binding, or the field of it at a path of properties and indexes.
 *
 * @example
 * ```ts
 * fromStep('pages')
 * fromStep('pages', 'items.0.title')
 * fromStep('report', ['totals', 'per day', 0])
 * ```
 */
export function fromStep(binding: Naming<'binding'>, path?: Path): DataSource {
  return { kind: 'step', binding, ...defined({ path }) };
}

/**
 * A fixed JSON value. It is copied: later changes to it have no effect. A value that is not JSON is an error of the
 * workflow.
 */
export function constant(value: Json): DataSource {
  return { kind: 'constant', ...constantExpr(value) };
}

/**
 * Text with values in it: `{name}` and `{name.field}` are replaced by an argument or an earlier binding, and doubled
 * braces become single ones.
 *
 * @example
 * ```ts
 * text('{task} ({list.first.title})')
 * ```
 */
export function text(template: string): DataSource {
  return { kind: 'text', text: template };
}

/**
 * A value that a model supplies for an argument of a tool: the operator's model, the client's, or the caller's. Its schema
 * is that of the argument.
 *
 * @param message what is asked for; `{name}` is replaced as in {@link text}.
 *
 * @example
 * ```ts
 * step(AddTask).arg('formatted_task', fromModel('Format {task} as a Logseq block'))
 * ```
 */
export function fromModel(message: string): ModelSource {
  return { kind: 'model', message: text(message) };
}

/**
 * The text of a resource, which is read before the step. For the class of a template, `variables` has a source for each
 * variable.
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
  return { kind: 'resource', resource, ...defined({ variables }) };
}

/**
 * A resource link, as MCP defines it, to a resource that is not read. For the class of a template, `variables` has a
 * source for each variable.
 */
export function linkTo<R extends ResourceLike | TemplateLike>(
  resource: R,
  ...[variables]: VariableSources<R>
): DataSource {
  return { kind: 'link', resource, ...defined({ variables }) };
}

/**
 * The result of a function, called before the step with the values of several sources in their order. An absent value
 * is `null`.
 *
 * @param fn an exported top-level function, deterministic, with JSON parameters and result.
 *
 * @example
 * ```ts
 * step(AddLine).arg('text', computed(headline, [promptArg('task'), fromStep('page', 'title')]))
 * ```
 */
export function computed(fn: NamedFunction, sources: readonly DataSource[]): DataSource {
  return { kind: 'computed', function: fn, sources: [...sources] };
}

/** A source for each variable of a template; `undefined` for a resource with one address. */
export type VariableSources<R> = R extends { readonly uriTemplate: infer Template extends string }
  ? readonly [variables: { readonly [Name in VariableNames<Template>]: DataSource }]
  : readonly [variables?: undefined];
