import {
  type PullRequest,
  type PullResult,
  upstreamFiles,
  writePulled,
} from '../../../codegen/upstream/pull.js';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { type Diagnostic, diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type Json, type JsonObject, keysOf } from '../../../graph/json.js';
import { nearestName } from '../../../graph/names.js';
import { oneLine } from '../../../graph/printable-text.js';
import type { SourceLocation } from '../../../graph/source-location.js';
import { checkInput } from '../../../runtime/tools/check-input.js';
import {
  cassetteText,
  type Interaction,
  isCassette,
  RecordingUpstream,
} from '../../../runtime/upstream/cassette.js';
import { UpstreamError, type UpstreamPort, type UpstreamTool } from '../../../runtime/upstream/port.js';
import { texts } from '../../command-line.js';
import { checkCassette, type PlannedCall, plannedCalls } from './check-cassette.js';

export interface RecordRequest extends PullRequest {
  readonly upstream: UpstreamPort;
  /** Where a setting under `upstream` of the configuration is written. */
  readonly placeOf: (path: readonly (string | number)[]) => SourceLocation | undefined;
  /** Masks secrets. */
  readonly mask: (value: Json) => Json;
  /** Whether tools may be called that do not say that they only read. */
  readonly allowsWrites: boolean;
}

/**
 * Makes the calls of `record` of a server, one after the other, and writes the answers to its cassette. None is made if
 * one of them would be refused.
 *
 * @throws UpstreamError for a call that is not answered. Nothing is written then.
 */
export async function recordServer(request: RecordRequest): Promise<PullResult> {
  const { root, name, server, listing, upstream, mask } = request;
  const planned = plannedCalls(server);
  const refused = await refusals(planned, request);
  if (refused.length > 0) return { written: [], current: [], notes: [], diagnostics: refused };
  const recording = new RecordingUpstream(upstream, mask);
  for (const { tool, input } of planned) {
    const call = { signal: new AbortController().signal, progress: () => {} };
    try {
      await recording.call({ server: name, tool }, input, call);
    } catch (error) {
      // A refusal is an answer.
      if (!(error instanceof UpstreamError) || error.code !== 'E_UPSTREAM_REFUSED') throw error;
    }
  }
  const { cassette } = recording;
  const { cassette: file } = upstreamFiles(name, server);
  const text = cassetteText(cassette);
  const result = await writePulled(root, [{ file, text, isOurs: isCassette }]);
  const notes = cassette.interactions.flatMap(failureNote);
  if (result.diagnostics.length > 0) return { ...result, notes };
  const fits = { root, file, name, toolLists: [listing.tools], planned };
  return { ...result, notes, diagnostics: await checkCassette(fits) };
}

/** Tells the author of a call that has failed. */
function failureNote({ tool, result, failure }: Interaction): readonly string[] {
  if (failure !== undefined) return [texts.recordedFailure(tool, oneLine(failure.message))];
  if (result?.isError !== true) return [];
  const said = result.content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  return [texts.recordedFailure(tool, oneLine(said.join(' ')))];
}

/** What keeps calls from being made, at their places in the configuration. */
async function refusals(
  planned: readonly PlannedCall[],
  { name, listing, placeOf, allowsWrites }: RecordRequest,
): Promise<readonly Diagnostic[]> {
  const offered = new Map(listing.tools.map((tool) => [tool.name, tool]));
  const schemas = new SchemaCompiler();
  const diagnostics: Diagnostic[] = [];
  for (const { tool, input, index } of planned) {
    const refuse = (path: readonly (string | number)[], problem: string, repair?: string): void => {
      diagnostics.push(
        diagnostic('SW9033', placeOf([name, 'record', tool, ...path]), {
          server: name,
          tool,
          problem,
          repair,
        }),
      );
    };
    const contract = offered.get(tool);
    if (contract === undefined) {
      const near = nearestName(tool, [...offered.keys()]);
      if (index === 0) refuse([], 'the server does not offer it', near && `did you mean \`${near}\`?`);
      continue;
    }
    if (index === 0 && !allowsWrites && contract.annotations?.readOnlyHint !== true)
      refuse(
        [],
        'it has no `readOnlyHint`, so that it may change something',
        'add `--allow-writes` to call it all the same',
      );
    for (const { pointer, message } of await inputProblems(contract, input, schemas))
      refuse([index, ...keysOf(pointer)], message);
  }
  return diagnostics;
}

/** What a server would refuse of an input. */
async function inputProblems(
  { name, inputSchema }: UpstreamTool,
  input: JsonObject,
  schemas: SchemaCompiler,
): Promise<readonly { readonly pointer: string; readonly message: string }[]> {
  const checked = await checkInput(input, { tool: name, jsonSchema: inputSchema }, schemas);
  if (checked.ok) return [];
  const { message, details } = checked.failure;
  if (!isJsonObject(details) || !Array.isArray(details.problems)) return [{ pointer: '', message }];
  return details.problems as unknown as readonly { readonly pointer: string; readonly message: string }[];
}
