import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { didYouMeanSentence, nearestName } from '../../../graph/names.js';
import { clip } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { lackingScopes, scopeFailure } from '../callers.js';
import type { ServedWorkflow } from './served-workflows.js';

/** A workflow to start, with its arguments. */
interface Choice {
  readonly workflow: ServedWorkflow;
  readonly args: JsonObject;
  readonly warnings: readonly RunWarning[];
}

/** What a call of `start_workflow` starts, or why it starts no run. */
export function chooseWorkflow(
  workflows: ReadonlyMap<string, ServedWorkflow>,
  input: JsonObject,
  request: IdentifiedRequest,
): Choice | { readonly failure: Failure } {
  const name = String(ownProperty(input, 'name'));
  const workflow = workflows.get(name);
  if (workflow?.isExposed !== true) return unknownName(name, workflows);
  const { graph } = workflow;
  const missing = lackingScopes(graph.scopes, request);
  if (missing.length > 0) return { failure: scopeFailure(missing) };
  const version = ownProperty(input, 'version');
  if (version !== undefined && version !== graph.version) return otherVersion(graph, String(version));
  const given = ownProperty(input, 'inputs') ?? {};
  const args = objectIn(given);
  if (args === undefined)
    return invalid(`\`inputs\` of '${name}' must be an object: write { "inputs": { "name": value } }`);
  return { workflow, args, warnings: given === args ? [] : [STRINGIFIED] };
}

function unknownName(
  name: string,
  workflows: ReadonlyMap<string, ServedWorkflow>,
): { readonly failure: Failure } {
  const names = [...workflows].flatMap(([each, { isExposed }]) => (isExposed ? [each] : []));
  const near = didYouMeanSentence(nearestName(name, names));
  return invalid(
    `The server has no workflow '${clip(name)}'. ${near === undefined ? '' : `${near} `}Take a name from list_workflows`,
  );
}

function otherVersion({ name, version = '0.0.0' }: Graph, requested: string): { readonly failure: Failure } {
  return invalid(
    `The server has version ${version} of workflow '${name}', not ${clip(requested)}: leave \`version\` out, or send "${version}"`,
  );
}

function invalid(message: string): { readonly failure: Failure } {
  return { failure: { code: 'E_INPUT_INVALID', message } };
}

function objectIn(value: Json): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return undefined;
  try {
    const parsed = JSON.parse(value) as Json;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const STRINGIFIED: RunWarning = {
  code: 'W_STRINGIFIED',
  message: '`inputs` came as text that holds JSON, and was read as such: send the JSON itself.',
};
