import type { CompletionContext, ResourceContext } from './context.js';
import type { ListedOptions, OrderOptions } from './decorate.js';
import { decorateClass, decorationErrors, optionsOf } from './decorate.js';

/** Options of {@link Resource}. */
export interface ResourceOptions extends ListedOptions {
  /** Unique among the resources of a registry; `^[A-Za-z0-9_.-]{1,128}$`. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  readonly description?: string;
  /** Default: from the extension of `file`, else `text/plain`, or `application/octet-stream` for bytes. */
  readonly mimeType?: string;
  /** The file with the content, relative to the file of the class. Without it the class has a method `read`. */
  readonly file?: string;
  /**
   * Variables of the template whose values may begin with a slash or contain the segments `.` and `..`. Addresses with
   * such values are refused for all other variables: a `read` that joins them to a path would leave its folder.
   * Default: none.
   */
  readonly dotSegments?: readonly string[];
}

/** The type of a decorator of classes with `static readonly uri` or `static readonly uriTemplate`. */
export type DecoratesResource = <T extends AddressedClass>(
  target: T & ResourceFault<T>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class a resource. Its address is `static readonly uri`, or `static readonly uriTemplate` for a family of
 * resources (RFC 6570, level 2: `{name}`, `{+path}`, `{#part}`). Its content is that of `file`, or the text, the bytes
 * or the list of these that `read` returns.
 *
 * @example
 * ```ts
 * @Resource({ name: 'logseq-intro', description: 'How pages are laid out', file: './intro.md' })
 * export class LogseqIntro { static readonly uri = 'resource://logseq/intro'; }
 *
 * @Resource({ name: 'page', description: 'A page', mimeType: 'text/markdown' })
 * export class Page {
 *   static readonly uriTemplate = 'logseq://pages/{name}';
 *   constructor(private readonly graph: LogseqGraph) {}
 *   read({ name }: { name: string }): Promise<string> { return this.graph.text(name); }
 * }
 * ```
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package, and on a
 *   class with `@Arg` or `@Step` fields.
 */
export function Resource(options: ResourceOptions): DecoratesResource;
export function Resource(...args: readonly unknown[]): DecoratesResource {
  const options = optionsOf<ResourceOptions>('Resource', args);
  // The address is not recorded: under TC39 decorators static fields have no values yet when the class is decorated.
  return (target, context) =>
    decorateClass<AddressedClass>('Resource', target, context, () => ({ kind: 'resource', options }));
}

/** The `static readonly uri` or `static readonly uriTemplate` of a resource class: exactly one of them. */
export type ResourceAddress =
  | { readonly uri: string; readonly uriTemplate?: never }
  | { readonly uriTemplate: string; readonly uri?: never };

/**
 * Reads the address of a resource class.
 *
 * @throws TypeError unless exactly one of `uri` and `uriTemplate` is there, as a string.
 */
export function addressOf(cls: abstract new (...deps: never[]) => object): ResourceAddress {
  const uri: unknown = Reflect.get(cls, 'uri');
  const uriTemplate: unknown = Reflect.get(cls, 'uriTemplate');
  if (typeof uri === 'string' && uriTemplate === undefined) return { uri };
  if (typeof uriTemplate === 'string' && uri === undefined) return { uriTemplate };
  throw new TypeError(
    uri === undefined && uriTemplate === undefined
      ? decorationErrors.noUri(cls.name)
      : decorationErrors.unclearUri(cls.name),
  );
}

/**
 * The result of `read` of a resource. Bytes are sent as base64; a `blob` that is a string is base64 already.
 *
 * A list is several contents of one resource, such as the files of a folder. A workflow reads it as one text: the texts,
 * joined with line breaks, and `[Resource: …]` with the address in place of bytes.
 */
export type ResourceContent =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string }
  | { readonly blob: string | Uint8Array; readonly mimeType?: string }
  | readonly ResourceItem[];

/** One of several contents of a resource. `uri` is an absolute URI. Default: the address that is read. */
export type ResourceItem =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string; readonly uri?: string }
  | { readonly blob: string | Uint8Array; readonly mimeType?: string; readonly uri?: string };

/** The method `read` of a resource without a `file`. */
interface ReadsContent<Variables = Readonly<Record<never, never>>> {
  /**
   * Returns the content. The message of an error it throws goes to the reader.
   *
   * A property, not a method, so that TypeScript compares its parameters strictly with the variables of the template.
   */
  read?: (variables: Variables, context: ResourceContext) => ResourceContent | Promise<ResourceContent>;
}

/** The class of a resource with one address, `static readonly uri`. */
export interface ResourceClass {
  new (...deps: never[]): object & ReadsContent;
  /** An absolute URI, such as `resource://logseq/intro`. */
  readonly uri: string;
  readonly uriTemplate?: undefined;
}

/** The method `complete` of a resource template. */
interface CompletesAddress<Variables> {
  /**
   * Suggests values of a variable for the text typed so far, the most likely first. Called when a client asks for
   * completions; values after the first 100 are dropped.
   */
  complete?: (
    variable: keyof Variables & string,
    value: string,
    context: CompletionContext,
  ) => readonly string[] | Promise<readonly string[]>;
}

/** The class of a family of resources, whose addresses match `static readonly uriTemplate`. */
export interface ResourceTemplateClass<Template extends string = string> {
  new (
    ...deps: never[]
  ): object & ReadsContent<VariablesOf<Template>> & CompletesAddress<VariablesOf<Template>>;
  /** A URI template such as `logseq://pages/{name}`. */
  readonly uriTemplate: Template;
  readonly uri?: undefined;
}

/** A class with a `uri` or a `uriTemplate`, whatever its methods are. */
export type AddressedClass =
  | { new (...deps: never[]): object; readonly uri: string; readonly uriTemplate?: undefined }
  | { new (...deps: never[]): object; readonly uriTemplate: string; readonly uri?: undefined };

/** The template of a resource class; `never` for a class with `uri`. */
type TemplateOf<R> = R extends { readonly uriTemplate: infer Template extends string } ? Template : never;

type ReadResult<R> = R extends abstract new (
  ...deps: never[]
) => {
  read?: (...args: never[]) => infer Content;
}
  ? Awaited<Content>
  : unknown;

/** A list is read as text, unless all it can hold is bytes. */
type IsText<Content> = Content extends readonly (infer Item)[]
  ? [Extract<Item, string | { readonly text: string }>] extends [never]
    ? false
    : true
  : Content extends string | { readonly text: string }
    ? true
    : false;

/**
 * The value of `read(…)` in a workflow: `string` for text, `string | undefined` if the content may be bytes, `never` if
 * it always is. A resource with a `file` counts as text here; codegen checks the file.
 */
export type TextOf<R> =
  unknown extends ReadResult<R>
    ? string
    :
        | (true extends IsText<ReadResult<R>> ? string : never)
        | (false extends IsText<ReadResult<R>>
            ? true extends IsText<ReadResult<R>>
              ? undefined
              : never
            : never);

/** The arguments of `link(…)` after the class: the variables of its template, if it has one. */
export type VariablesArguments<R> = [TemplateOf<R>] extends [never]
  ? []
  : string extends TemplateOf<R>
    ? [variables?: VariableValues<string>] // The class is not a resource, and only that is reported.
    : [variables: VariableValues<TemplateOf<R>>];

/** The arguments of `read(…)` after the class. A resource with one address has no variables: `read(Guide, {}, options)`. */
export type ReadArguments<R> = [TemplateOf<R>] extends [never]
  ? [variables?: Readonly<Record<string, never>>, options?: OrderOptions]
  : string extends TemplateOf<R>
    ? [variables?: VariableValues<string>, options?: OrderOptions] // As for `VariablesArguments`.
    : [variables: VariableValues<TemplateOf<R>>, options?: OrderOptions];

/** Why `@Resource` does not apply to a class, or `unknown`. Authors see the texts. */
type ResourceFault<R> = [TemplateOf<R>] extends [never]
  ? R extends ResourceClass
    ? unknown
    : ['read() takes no variables here, and returns text, bytes or a list of these']
  : [TemplateFault<TemplateOf<R>>] extends [never]
    ? R extends ResourceTemplateClass<TemplateOf<R>>
      ? R extends { readonly prototype: { read: unknown } }
        ? unknown
        : ['a template needs read(variables): it has one content for each address']
      : [
          'read and complete take the variables of the template, which are text:',
          VariableNames<TemplateOf<R>>,
        ]
    : TemplateFault<TemplateOf<R>>;

/** Why `read(…)` does not take a resource, or `unknown`. Authors see the text. */
export type ReadFault<R> = [TextOf<R>] extends [never]
  ? ['this resource holds bytes, which a workflow does not read: hand its address on with link(…)']
  : unknown;

/**
 * The texts between the braces of a URI template, from its literal type. Templates are those of RFC 6570 up to level 2:
 * `{name}`, `{+path}` and `{#part}`, with one variable each.
 */
type ExpressionsOf<Template extends string> = Template extends `${string}{${infer Inside}}${infer Rest}`
  ? Inside | ExpressionsOf<Rest>
  : never;

type NameIn<Inside extends string> = Inside extends `${'+' | '#'}${infer Name}` ? Name : Inside;

/** The names of a template's variables. */
export type VariableNames<Template extends string> = NameIn<ExpressionsOf<Template>>;

/** The variables of a template as `read` gets them: decoded text, by name. */
export type VariablesOf<Template extends string> = { readonly [Name in VariableNames<Template>]: string };

/** The variables of a template as `read(…)` and `link(…)` take them. They are percent-encoded in the address. */
type VariableValues<Template extends string> = {
  readonly [Name in VariableNames<Template>]: string | number;
} & {};

/** Characters that are not part of a variable's name: operators and modifiers of levels 3 and 4, and others. */
type Foreign = ',' | '*' | ':' | '.' | '/' | ';' | '?' | '&' | '=' | '!' | '@' | '|' | ' ' | '{';

/** The expressions of a template that are beyond level 2, or without a name. */
type BeyondLevel2<Inside extends string> = Inside extends unknown
  ? NameIn<Inside> extends '' | `${string}${Foreign}${string}`
    ? Inside
    : never
  : never;

/** Why a text is not a template, or `never`. Authors see the texts. */
type TemplateFault<Template extends string> = string extends Template
  ? ["write the template as a literal: static readonly uriTemplate = '…'"]
  : [ExpressionsOf<Template>] extends [never]
    ? ['a template has variables, such as {name}; an address without any is `static readonly uri`']
    : [BeyondLevel2<ExpressionsOf<Template>>] extends [never]
      ? never
      : ['a variable is written {name}, {+name} or {#name}, not', BeyondLevel2<ExpressionsOf<Template>>];
