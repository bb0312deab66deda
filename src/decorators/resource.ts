import type { CompletionContext, ResourceContext } from './context.js';
import { decorateClass, optionsOf } from './decorate.js';
import { decorationErrors } from './errors.js';

/** Options of {@link Resource}. */
export interface ResourceOptions {
  /** Unique among the resources of a registry; `^[A-Za-z0-9_.-]{1,128}$`. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  readonly description?: string;
  /** Default: by the extension of `file`, else `text/plain`, or `application/octet-stream` for bytes. */
  readonly mimeType?: string;
  /** The file that holds the content, relative to the file of the class. Without it the class has a method `read`. */
  readonly file?: string;
  /**
   * Variables of the template whose values may begin with a slash or hold segments `.` and `..`. Addresses with such
   * values are refused otherwise: a `read` that joins them to a path would leave its folder.
   */
  readonly dotSegments?: readonly string[];
}

/** Decorates a class with `static readonly uri` or `static readonly uriTemplate`. */
export type DecoratesResource = <T extends AddressedClass>(
  target: T & ResourceFault<T>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class a resource. Its address is `static readonly uri`, or, for a family of resources,
 * `static readonly uriTemplate` (RFC 6570: `{name}`, `{+path}`, `{#part}`). Its content is a `file`, or what `read`
 * returns: text or bytes.
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
 * @throws TypeError when it is given no options, or decorates something that has another decorator already.
 */
export function Resource(options: ResourceOptions): DecoratesResource;
export function Resource(...given: readonly unknown[]): DecoratesResource {
  const options = optionsOf<ResourceOptions>('Resource', given);
  // The address is not stored: under TC39 decorators a static field has no value yet when its class is decorated.
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

/** What `read()` of a resource gives. Bytes travel as base64; a `blob` that is text is base64 already. */
export type ResourceContent =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string }
  | { readonly blob: string | Uint8Array; readonly mimeType?: string };

/** The content of a resource that is made when it is read. */
interface ReadsContent<Variables = Readonly<Record<never, never>>> {
  /**
   * Returns the content. What it throws is the reason the reader is given.
   *
   * A property, not a method, so that the variables it wants are compared strictly with those of the template.
   */
  read?: (variables: Variables, context: ResourceContext) => ResourceContent | Promise<ResourceContent>;
}

/** A class that names a resource: its address is `static readonly uri`. */
export interface ResourceClass {
  new (...deps: never[]): object & ReadsContent;
  /** An absolute URI, such as `resource://logseq/intro`. */
  readonly uri: string;
  readonly uriTemplate?: undefined;
}

/** Helps to fill in the address of a resource. */
interface CompletesAddress<Variables> {
  /**
   * Values of a variable of the template that go on from the text typed so far, the likeliest first. A client that
   * helps to fill in an address asks for them; more than 100 are cut.
   */
  complete?: (
    variable: keyof Variables & string,
    value: string,
    context: CompletionContext,
  ) => readonly string[] | Promise<readonly string[]>;
}

/** A class that names a family of resources: their addresses follow from `static readonly uriTemplate`. */
export interface ResourceTemplateClass<Template extends string = string> {
  new (
    ...deps: never[]
  ): object & ReadsContent<VariablesOf<Template>> & CompletesAddress<VariablesOf<Template>>;
  /** A URI template such as `logseq://pages/{name}`. */
  readonly uriTemplate: Template;
  readonly uri?: undefined;
}

/** A class under `@Resource`, as far as its address goes. */
export type AddressedClass =
  | { new (...deps: never[]): object; readonly uri: string; readonly uriTemplate?: undefined }
  | { new (...deps: never[]): object; readonly uriTemplate: string; readonly uri?: undefined };

/** The template of a resource class; `never` for one with an address of its own. */
type TemplateOf<R> = R extends { readonly uriTemplate: infer Template extends string } ? Template : never;

type ReadResult<R> = R extends abstract new (
  ...deps: never[]
) => {
  read?: (...args: never[]) => infer Content;
}
  ? Awaited<Content>
  : unknown;

type IsText<Content> = Content extends string | { readonly text: string } ? true : false;

/**
 * What reading a resource gives a workflow: its text. `undefined` besides where it may hold bytes; `never` where it
 * never holds anything else. A resource with a file counts as text: which it is, codegen knows.
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

/** What follows the class where a resource is named: the variables of its template, if it has one. */
export type VariablesArguments<R> = [TemplateOf<R>] extends [never]
  ? []
  : string extends TemplateOf<R>
    ? [variables?: VariableValues<string>] // The class is no resource: that is the fault to be told.
    : [variables: VariableValues<TemplateOf<R>>];

/** Why a class cannot stand under `@Resource`, or `unknown`. The texts reach authors. */
type ResourceFault<R> = [TemplateOf<R>] extends [never]
  ? R extends ResourceClass
    ? unknown
    : ['read() takes no variables here, and returns text or bytes']
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

/** Why the text of a resource cannot be read, or `unknown`. The text reaches authors. */
export type ReadFault<R> = [TextOf<R>] extends [never]
  ? ['this resource holds bytes, which a workflow does not read: hand its address on with link(…)']
  : unknown;

/**
 * The variables of a URI template, from its literal type. Templates are those of RFC 6570 up to level 2:
 * `{name}`, `{+path}` and `{#part}`, one variable each.
 */

/** What is written between the braces of a template. */
type ExpressionsOf<Template extends string> = Template extends `${string}{${infer Inside}}${infer Rest}`
  ? Inside | ExpressionsOf<Rest>
  : never;

type NameIn<Inside extends string> = Inside extends `${'+' | '#'}${infer Name}` ? Name : Inside;

/** The names of a template's variables. */
export type VariableNames<Template extends string> = NameIn<ExpressionsOf<Template>>;

/** A template's variables as a reader is given them: text, decoded. */
export type VariablesOf<Template extends string> = { readonly [Name in VariableNames<Template>]: string };

/** A template's variables as a caller gives them; they are percent-encoded on the way into the address. */
type VariableValues<Template extends string> = {
  readonly [Name in VariableNames<Template>]: string | number;
};

/** A character that no variable's name has: those of operators and modifiers that levels 3 and 4 bring. */
type Foreign = ',' | '*' | ':' | '.' | '/' | ';' | '?' | '&' | '=' | '!' | '@' | '|' | ' ' | '{';

/** The expressions of a template that are beyond level 2, or name nothing. */
type BeyondLevel2<Inside extends string> = Inside extends unknown
  ? NameIn<Inside> extends '' | `${string}${Foreign}${string}`
    ? Inside
    : never
  : never;

/** Why a text cannot be a template, or `never`. The texts reach authors. */
type TemplateFault<Template extends string> = string extends Template
  ? ["write the template as a literal: static readonly uriTemplate = '…'"]
  : [ExpressionsOf<Template>] extends [never]
    ? ['a template has variables, such as {name}; an address without any is `static readonly uri`']
    : [BeyondLevel2<ExpressionsOf<Template>>] extends [never]
      ? never
      : ['a variable is written {name}, {+name} or {#name}, not', BeyondLevel2<ExpressionsOf<Template>>];
