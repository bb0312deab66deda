import { decorateClass, optionsOf } from './record.js';
import type { DecoratesClass } from './signatures.js';

/** Options of {@link Resource}. */
export interface ResourceOptions {
  /** Unique among the resources of a registry; `^[a-z][a-z0-9_-]{0,61}$`. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  readonly description?: string;
  /** Default: by the extension of `file`, else `text/plain`. */
  readonly mimeType?: string;
  /** The file that holds the content, relative to the file of the class. Without it the class has a method `read`. */
  readonly file?: string;
}

/** The content of a resource that is made when it is read. */
export interface ReadsContent {
  /** Returns the text of the resource. What it throws is the reason the reader is given. */
  read?: () => string | Promise<string>;
}

/** A class that names a resource: its address is `static readonly uri`. */
export interface ResourceClass {
  new (...deps: never[]): object & ReadsContent;
  /** An absolute URI, such as `resource://logseq/intro`. */
  readonly uri: string;
}

/**
 * Makes a class with `static readonly uri` a resource.
 *
 * @example
 * ```ts
 * @Resource({ name: 'logseq-intro', description: 'How pages are laid out', file: './intro.md' })
 * export class LogseqIntro { static readonly uri = 'resource://logseq/intro'; }
 * ```
 * @throws TypeError when it is given no options, or decorates something that is a tool, resource or workflow already.
 */
export function Resource(options: ResourceOptions): DecoratesClass<ResourceClass>;
export function Resource(...given: readonly unknown[]): DecoratesClass<ResourceClass> {
  const options = optionsOf<ResourceOptions>('Resource', given);
  // The address is not stored: under TC39 decorators a static field has no value yet when its class is decorated.
  return (target, context) =>
    decorateClass('Resource', target, context, () => ({ kind: 'resource', options }));
}
