import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseJsonDocument } from '../../../formats/text/json-document.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { JsonObject } from '../../../graph/json.js';
import { dataRegistry } from '../../../runtime/tools/data-registry.js';
import { createToolset, type Toolset } from '../../../runtime/tools/toolset.js';
import { type Interaction, isRecorded, parseCassette } from '../../../runtime/upstream/cassette.js';
import type { UpstreamServer } from '../../../runtime/upstream/config.js';
import { UpstreamError, type UpstreamTool } from '../../../runtime/upstream/port.js';

export interface CassetteCheck {
  /** Absolute path of the project. */
  readonly root: string;
  /** The cassette, relative to the root. */
  readonly file: string;
  /** The name of the server in the configuration. Calls of other servers are not looked at. */
  readonly name: string;
  /** Versions of the tools of the server that the cassette has to fit. */
  readonly toolLists: readonly (readonly UpstreamTool[])[];
  /** The calls that the cassette has to have, and no others. Default: any. */
  readonly planned?: readonly PlannedCall[];
}

/**
 * Answers the calls of a cassette with what it has, as a test does, and reports what does not fit (SW9034): tools that
 * are gone, inputs that are refused, results that the output schema does not allow.
 */
export async function checkCassette(check: CassetteCheck): Promise<readonly Diagnostic[]> {
  const { root, file, name, toolLists, planned } = check;
  const again = planned === undefined ? 'stepwright run --record' : `stepwright pull ${name} --record`;
  let text: string;
  try {
    text = readFileSync(path.resolve(root, file), 'utf8');
  } catch {
    const problem = 'there is no such file';
    return [diagnostic('SW9034', undefined, { file, server: name, problem, again })];
  }
  const document = parseJsonDocument(file, text);
  const report = (pointer: string, problem: string): Diagnostic =>
    diagnostic('SW9034', document.placeOf(pointer), { file, server: name, problem, again });
  let interactions: readonly Interaction[];
  try {
    ({ interactions } = parseCassette(text));
  } catch {
    return [report('', 'it is not a cassette of this version')];
  }
  const diagnostics: Diagnostic[] = [];
  const toolsets = toolLists.map((tools) => replaying(tools));
  for (const [index, interaction] of interactions.entries()) {
    if (interaction.server !== name) continue;
    for (const misfitOf of toolsets) {
      const misfit = await misfitOf(interaction);
      if (misfit === undefined) continue;
      diagnostics.push(report(`/interactions/${index}${misfit.at}`, misfit.problem));
      break;
    }
  }
  const ofServer = interactions.flatMap((each, index) => (each.server === name ? [{ ...each, index }] : []));
  if (planned !== undefined) diagnostics.push(...differences(planned, ofServer, report));
  return diagnostics;
}

interface Misfit {
  /** A JSON pointer from the interaction. */
  readonly at: string;
  readonly problem: string;
}

/** Replays calls over tools, by the same checks as a server makes. */
function replaying(tools: readonly UpstreamTool[]): (call: Interaction) => Promise<Misfit | undefined> {
  let answering: Interaction | undefined;
  // Tools have the names of the server here.
  const own = tools.map(({ name, inputSchema, outputSchema }) => ({
    ...{ name, description: name, inputSchema, upstream: { server: '', tool: name } },
    ...defined({ outputSchema }),
  }));
  const toolset: Toolset = createToolset(dataRegistry({ tools: own }), {
    log: () => {},
    upstream: {
      call: async () => {
        const { result, failure } = answering ?? {};
        if (result !== undefined) return result;
        throw new UpstreamError(failure?.code ?? 'E_UPSTREAM_REFUSED', failure?.message ?? '');
      },
      close: async () => {},
    },
  });
  const offered = new Set(tools.map(({ name }) => name));
  return async (interaction) => {
    const { tool, input, failure } = interaction;
    if (!offered.has(tool)) return { at: '/tool', problem: `the server does not offer '${tool}' any more` };
    answering = interaction;
    const context = { signal: new AbortController().signal, requestId: 'check', progress: () => {} };
    const outcome = await toolset.callTool(tool, input, context);
    if (outcome.ok || outcome.failure.code === 'E_TOOL_ERROR') return undefined;
    const isInput = outcome.failure.code === 'E_INPUT_INVALID';
    if (!isInput && failure !== undefined) return undefined;
    const problem = `a call of '${tool}': ${outcome.failure.message}`;
    return { at: isInput ? '/input' : '/result', problem };
  };
}

/** The calls that a cassette lacks, and those that it should not have. */
function differences(
  planned: readonly PlannedCall[],
  recorded: readonly (Interaction & { readonly index: number })[],
  report: (pointer: string, problem: string) => Diagnostic,
): readonly Diagnostic[] {
  const rest = [...recorded];
  const missing = planned.flatMap(({ tool, input }) => {
    const at = rest.findIndex((each) => each.tool === tool && isRecorded(each.input, input));
    if (at < 0) return [report('', `it has no call of '${tool}' with the input ${canonicalJson(input)}`)];
    rest.splice(at, 1);
    return [];
  });
  const needless = rest.map(({ tool, index }) =>
    report(`/interactions/${index}`, `a call of '${tool}' is not in the configuration`),
  );
  return [...missing, ...needless];
}

/** A call that the configuration has recorded. */
export interface PlannedCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** Its index among the calls of the tool. */
  readonly index: number;
}

/** The calls of `record` of a server, in their order. */
export function plannedCalls({ record = {} }: UpstreamServer): readonly PlannedCall[] {
  return Object.entries(record).flatMap(([tool, inputs]) =>
    inputs.map((input, index) => ({ tool, input: input as JsonObject, index })),
  );
}
