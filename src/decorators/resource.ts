import { decorateClass, optionsOf } from './record.js';
import type { AddressedClass, ResourceFault } from './resource-types.js';

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
