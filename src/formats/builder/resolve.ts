import type { CheckEnvironment } from '../../check/check-graph.js';
import { readMetadata } from '../../decorators/metadata.js';
import type { ResourceOptions } from '../../decorators/resource.js';
import { uriFault } from '../../graph/uri.js';
import { parseUriTemplate, type TemplatePart } from '../../graph/uri-template.js';
import {
  InvalidUriError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  reasons,
  type WorkflowError,
} from './errors.js';
import {
  ResourceHandle,
  type ResourceLike,
  type TemplateLike,
  ToolHandle,
  type ToolLike,
} from './handles.js';

/** What a handle or a class stands for, or why it stands for nothing; then `name` is what it is called in texts. */
export type Resolved<T> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly name: string; readonly error: WorkflowError };

/** The registered name of a tool. */
export function resolveTool(tool: ToolLike, workflow: string): Resolved<{ readonly name: string }> {
  if (ToolHandle.is(tool)) return { ok: true, name: tool.name };
  const name = nameOf(tool);
  try {
    const metadata = typeof tool === 'function' ? readMetadata(tool) : undefined;
    if (metadata?.kind === 'tool') return { ok: true, name: metadata.options.name };
  } catch (cause) {
    return { ok: false, name, error: unreadable(name, cause) };
  }
  const because = reasons.notDecorated(name, 'Tool');
  return { ok: false, name, error: new MissingToolError({ workflow, tool: name }, [], 'SW3003', because) };
}

/**
 * The registered name and the URI of a resource. One that is known by its URI alone goes by that until it is looked
 * up in what is registered.
 */
export function resolveResource(
  resource: ResourceLike,
  workflow: string,
  registered: CheckEnvironment | undefined,
): Resolved<{ readonly name: string; readonly uri: string }> {
  const resolved = resolveAddress(resource, workflow, registered);
  if (!resolved.ok || !('template' in resolved)) return resolved;
  const name = nameOf(resource);
  const because = reasons.noAddress(name);
  return {
    ok: false,
    name,
    error: new MissingResourceError({ workflow, resource: name }, [], 'SW3003', because),
  };
}

/** What a resource says of itself beside its address. */
type About = Pick<ResourceOptions, 'title' | 'description' | 'mimeType'>;

/** The same for a resource that may be a template. */
export function resolveAddress(
  resource: ResourceLike | TemplateLike,
  workflow: string,
  registered: CheckEnvironment | undefined,
): Resolved<
  { readonly name: string; readonly about: About } & (
    | { readonly uri: string }
    | { readonly template: readonly TemplatePart[] }
  )
> {
  if (ResourceHandle.is(resource)) {
    const { uri } = resource;
    const entry = [...(registered?.resources ?? [])].find(([, found]) => found.uri === uri);
    return { ok: true, name: entry?.[0] ?? uri, uri, about: {} };
  }
  const name = nameOf(resource);
  const missing = (because: string): Resolved<never> => {
    const error = new MissingResourceError({ workflow, resource: name }, [], 'SW3003', because);
    return { ok: false, name, error };
  };
  try {
    const metadata = typeof resource === 'function' ? readMetadata(resource) : undefined;
    if (metadata?.kind !== 'resource') return missing(reasons.notDecorated(name, 'Resource'));
    const { uri, uriTemplate, options } = metadata;
    const invalid = (address: string, why: string): Resolved<never> => ({
      ok: false,
      name,
      error: new InvalidUriError({ uri: address, why }),
    });
    if (uri === undefined) {
      const parsed = parseUriTemplate(uriTemplate);
      if ('why' in parsed) return invalid(uriTemplate, parsed.why);
      return { ok: true, name: options.name, template: parsed.parts, about: options };
    }
    const why = uriFault(uri);
    return why === undefined ? { ok: true, name: options.name, uri, about: options } : invalid(uri, why);
  } catch (cause) {
    return { ok: false, name, error: unreadable(name, cause) };
  }
}

/** Decorators refuse some classes only when they are read. */
function unreadable(name: string, cause: unknown): WorkflowError {
  return new OtherWorkflowError(reasons.unreadable(name, cause), 'SW3003', { cause });
}

function nameOf(value: unknown): string {
  return typeof value === 'function' && value.name !== '' ? value.name : `(${typeof value})`;
}
