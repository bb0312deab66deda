import type { CompletionContext, ResourceContext } from './context.js';
import type { TemplateFault, VariableNames, VariablesOf, VariableValues } from './uri-template.js';

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
export type ResourceFault<R> = [TemplateOf<R>] extends [never]
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
