import type { JsonObject } from '../../../graph/json.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { lackingScopes } from '../../runs/run/owner.js';
import type { RunStore } from '../../runs/run-store.js';
import type { Toolset } from '../../tools/toolset.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { resultContents, runOfResult } from '../composite/long-results.js';
import type { ResolvedSettings } from '../options.js';
import { storeFault } from '../store-failure.js';
import { faultCodes, ProtocolFault, type ResourceContents } from '../wire.js';
import { limited, unfinished } from './limits.js';

interface ResourceParts {
  readonly runs: RunStore;
  readonly settings: ResolvedSettings;
  readonly toolset: Toolset;
  readonly workflowResources: Catalogue['workflowResources'];
}

/**
 * Reads a resource: the long result of a run, a resource of the registry, or the description of a workflow.
 *
 * @throws ProtocolFault for an address that the caller has not got, and for a resource that cannot be read.
 */
export async function resourceContents(
  uri: string,
  request: IdentifiedRequest,
  parts: ResourceParts,
): Promise<readonly (JsonObject & ResourceContents)[]> {
  const { toolset, workflowResources } = parts;
  const result = await resultAt(uri, request, parts);
  if (result !== undefined) return [result];
  const name = toolset.resourceAt(uri);
  const missing = lackingScopes(workflowResources.scopesOf(uri), request);
  const described =
    name === undefined && missing.length === 0 ? await workflowResources.read(uri) : undefined;
  if (described !== undefined) return [described];
  if (name === undefined) {
    throw new ProtocolFault(faultCodes.resourceNotFound, `Resource not found: ${clip(uri)}`, { uri });
  }
  const { toolTimeoutMs } = parts.settings;
  const reading = await limited(toolTimeoutMs, request.signal, (signal) =>
    toolset.readResource(name, uri, { ...request, signal }),
  );
  if (reading.kind === 'done' && reading.value.ok) {
    const { value, contents = [value] } = reading.value;
    return contents as readonly (JsonObject & ResourceContents)[];
  }
  const failure = reading.kind === 'done' && !reading.value.ok ? reading.value.failure : undefined;
  const message = `Resource ${clip(uri)} cannot be read: ${oneLine(failure?.message ?? unfinished('timedOut', toolTimeoutMs).message)}`;
  throw failure?.code === 'E_RESOURCE_URI'
    ? new ProtocolFault(faultCodes.invalidParams, message, { uri, code: failure.code })
    : new ProtocolFault(faultCodes.internal, message, { uri });
}

/** The result of a run of the caller. A run of others has no address, as one that does not exist. */
async function resultAt(
  uri: string,
  { principal }: IdentifiedRequest,
  { runs, settings }: ResourceParts,
): Promise<(JsonObject & ResourceContents) | undefined> {
  const run = runOfResult(uri);
  const answer =
    run === undefined
      ? undefined
      : await runs.get(principal, run).catch((fault: unknown) => {
          throw storeFault(fault, `reading ${clip(uri)}`, settings.log);
        });
  return answer?.ok === true ? resultContents(answer.envelope) : undefined;
}
