import type { JsonObject } from '../../../graph/json.js';
import { clip, jsonText, oneLine } from '../../../graph/printable-text.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { lackingScopes } from '../../runs/run/owner.js';
import type { RunStore } from '../../runs/run-store.js';
import type { Toolset } from '../../tools/toolset.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { longResult, resultContents, runAt } from '../composite/long-results.js';
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
 * Reads a resource: a run or its result, a resource of the registry, or the description of a workflow.
 *
 * @throws ProtocolFault for an address that the caller has not got, and for a resource that cannot be read.
 */
export async function resourceContents(
  uri: string,
  request: IdentifiedRequest,
  parts: ResourceParts,
): Promise<readonly (JsonObject & ResourceContents)[]> {
  const { toolset, workflowResources } = parts;
  const run = await runContents(uri, request, parts);
  if (run !== undefined) return [run];
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

/** A run of the caller as JSON, or its result. A run of others has no address. */
async function runContents(
  uri: string,
  { principal }: IdentifiedRequest,
  { runs, settings, workflowResources }: ResourceParts,
): Promise<(JsonObject & ResourceContents) | undefined> {
  const run = runAt(uri);
  // A domain may be named `runs`.
  if (run === undefined || workflowResources.has(uri)) return undefined;
  const answer = await runs.get(principal, run.id).catch((fault: unknown) => {
    throw storeFault(fault, `reading ${clip(uri)}`, settings.log);
  });
  if (!answer.ok) return undefined;
  const { envelope } = answer;
  if (run.isResult) return resultContents(envelope);
  const fitted = longResult(envelope, settings.maxResultChars)?.envelope ?? envelope;
  // Its sentences are no part of a start.
  const { envelopeResult } = await import('../composite/results.js');
  const { structuredContent = {} } = envelopeResult(fitted);
  return { uri, mimeType: 'application/json', text: jsonText(structuredContent) };
}
