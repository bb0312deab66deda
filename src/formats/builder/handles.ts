import type { ResourceClass } from '../../decorators/resource.js';
import type { ToolClass } from '../../decorators/tool.js';
import type { LiteralFault } from './literal-names.js';
import { type ToolName, toolName, type Uri, uri } from './names.js';

/** A tool by its registered name, for tools without a class at hand. Equal names are one handle. */
export class ToolHandle {
  readonly kind = 'tool';
  readonly name: ToolName;
  // Handles of another kind, or of one's own making, are no substitute.
  readonly #checked = true;

  /** @throws InvalidNameError for what no tool can be called. */
  constructor(name: string) {
    this.name = toolName(name);
    Object.freeze(this);
  }

  /** True for a handle this module made, whatever its prototype says. */
  static is(value: unknown): value is ToolHandle {
    return typeof value === 'object' && value !== null && #checked in value;
  }

  toString(): string {
    return this.name;
  }
}

/** A resource by its URI, for resources without a class at hand. Equal URIs are one handle. */
export class ResourceHandle {
  readonly kind = 'resource';
  readonly uri: Uri;
  readonly #checked = true;

  /** @throws InvalidUriError for text that is no absolute URI. */
  constructor(text: string) {
    this.uri = uri(text);
    Object.freeze(this);
  }

  /** True for a handle this module made, whatever its prototype says. */
  static is(value: unknown): value is ResourceHandle {
    return typeof value === 'object' && value !== null && #checked in value;
  }

  toString(): string {
    return this.uri;
  }
}

/** A family of resources, whose addresses follow from `static readonly uriTemplate`: its class. */
export type TemplateLike = {
  new (...deps: never[]): object;
  readonly uriTemplate: string;
  readonly uri?: undefined;
};

/** A tool: its class, or a handle. */
export type ToolLike = ToolClass | ToolHandle;

/** A resource with an address of its own: its class, or a handle. */
export type ResourceLike = ResourceClass | ResourceHandle;

/**
 * Names a tool that has no class here.
 *
 * @example
 * ```ts
 * step(toolHandle('greet')).arg('name', promptArg('name'))
 * ```
 * @throws InvalidNameError for what no tool can be called.
 */
export function toolHandle<const N extends string>(name: N & LiteralFault<N, 'tool'>): ToolHandle {
  return tools.of(name);
}

/**
 * Names a resource that has no class here. What it is registered as is looked up by its URI.
 *
 * @throws InvalidUriError for text that is no absolute URI.
 */
export function resourceHandle(text: string): ResourceHandle {
  return resources.of(text);
}

/** One handle for each text, for as long as a program holds it. */
class Handles<T extends object> {
  readonly #make: (text: string) => T;
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #forgotten = new FinalizationRegistry<string>((text) => {
    if (this.#known.get(text)?.deref() === undefined) this.#known.delete(text);
  });

  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  of(text: string): T {
    const known = this.#known.get(text)?.deref();
    if (known !== undefined) return known;
    const made = this.#make(text);
    this.#known.set(text, new WeakRef(made));
    this.#forgotten.register(made, text);
    return made;
  }
}

const tools = new Handles((name) => new ToolHandle(name));
const resources = new Handles((text) => new ResourceHandle(text));
