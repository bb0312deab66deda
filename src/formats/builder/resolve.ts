import { readMetadata } from '../../decorators/metadata.js';
import type { CheckEnvironment } from '../../graph/check/check-graph.js';
import { uriFault } from '../../graph/uri.js';
import {
  InvalidUriError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  reasons,
  type WorkflowError,
} from './errors.js';
import { ResourceHandle, type ResourceLike, ToolHandle, type ToolLike } from './handles.js';

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
  if (ResourceHandle.is(resource)) {
    const { uri } = resource;
    const entry = [...(registered?.resources ?? [])].find(([, found]) => found.uri === uri);
    return { ok: true, name: entry?.[0] ?? uri, uri };
  }
  const name = nameOf(resource);
  const missing = (because: string): Resolved<never> => {
    const error = new MissingResourceError({ workflow, resource: name }, [], 'SW3003', because);
    return { ok: false, name, error };
  };
  try {
    const metadata = typeof resource === 'function' ? readMetadata(resource) : undefined;
    if (metadata?.kind !== 'resource') return missing(reasons.notDecorated(name, 'Resource'));
    const { uri } = metadata;
    if (uri === undefined) return missing(reasons.noAddress(name));
    const why = uriFault(uri);
    if (why !== undefined) return { ok: false, name, error: new InvalidUriError({ uri, why }) };
    return { ok: true, name: metadata.options.name, uri };
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
