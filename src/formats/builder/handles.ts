import type { ResourceClass } from '../../decorators/resource-types.js';
import type { ToolClass } from '../../decorators/tool.js';
import { type ToolName, toolName, type Uri, uri } from './names.js';

/** A tool by its registered name, for tools without a class at hand. Equal names make equal handles. */
export class ToolHandle {
  readonly kind = 'tool';
  readonly name: ToolName;
  // Handles of another kind, or of one's own making, are no substitute.
  readonly #checked = true;

  /** @throws InvalidNameError for what no tool can be called. */
  constructor(name: string) {
    this.name = toolName(name);
  }

  /** True for a handle this module made, whatever its prototype says. */
  static is(value: unknown): value is ToolHandle {
    return typeof value === 'object' && value !== null && #checked in value;
  }

  toString(): string {
    return this.name;
  }
}

/** A resource by its URI, for resources without a class at hand. Equal URIs make equal handles. */
export class ResourceHandle {
  readonly kind = 'resource';
  readonly uri: Uri;
  readonly #checked = true;

  /** @throws InvalidUriError for text that is no absolute URI. */
  constructor(text: string) {
    this.uri = uri(text);
  }

  /** True for a handle this module made, whatever its prototype says. */
  static is(value: unknown): value is ResourceHandle {
    return typeof value === 'object' && value !== null && #checked in value;
  }

  toString(): string {
    return this.uri;
  }
}

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
export function toolHandle(name: string): ToolHandle {
  return new ToolHandle(name);
}

/**
 * Names a resource that has no class here. What it is registered as is looked up by its URI.
 *
 * @throws InvalidUriError for text that is no absolute URI.
 */
export function resourceHandle(text: string): ResourceHandle {
  return new ResourceHandle(text);
}
