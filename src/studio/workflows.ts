import { isJsonObject, type Json, type JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { nearestName, withSuggestion } from '../graph/names.js';
import { nodesWithTasks } from '../graph/nodes.js';
import type { ChartTool } from '../print/chart/chart.js';
import { type DryRunReport, dryRun } from '../runtime/runs/operate/dry-run.js';
import { noProgress } from '../runtime/runs/request.js';
import type { StoredHead, StoreReader } from '../runtime/runs/store/reader.js';
import { readArguments } from '../runtime/server/catalogue/arguments.js';
import type { Definitions } from '../runtime/server/definitions.js';
import type { StepwrightServer } from '../runtime/server/stepwright-server.js';

/** The workflows of a registry. */
export interface StudioProject {
  /** Of its registry, for readers. */
  readonly file: string;
  readonly definitions: Definitions;
  /** What starts runs, where the page may: it is opened with the first one. */
  readonly server?: () => Promise<StepwrightServer>;
}

/** A workflow of a project. */
export interface ServedDefinition {
  readonly file: string;
  readonly graph: Graph;
  readonly hash: string;
  readonly tools: ReadonlyMap<string, ChartTool>;
  readonly project: StudioProject;
}

/** What becomes of a run when the definitions of today are deployed, in a sentence. */
export type FateOf = (reader: StoreReader, run: StoredHead) => Promise<string>;

/** All workflows of some projects, by their names. */
export function servedDefinitions(projects: readonly StudioProject[]): readonly ServedDefinition[] {
  return projects.flatMap((project) => {
    const { registry, workflows } = project.definitions;
    const tools = new Map(Object.entries(registry.tools));
    return [...workflows.values()].map(({ graph, hash }) => ({
      file: project.file,
      graph,
      hash,
      tools,
      project,
    }));
  });
}

type Stubs = Parameters<typeof dryRun>[0]['stubs'];

/**
 * Runs a workflow on stubs.
 *
 * @param stubs JSON, or an empty text.
 * @returns its report, or what is wrong with the stubs or the arguments.
 */
export async function tryWorkflow(
  { graph, project }: ServedDefinition,
  value: JsonObject,
  stubs: string,
): Promise<DryRunReport | Error> {
  const { registry } = project.definitions;
  const results = stubsIn(stubs, graph);
  if (results instanceof Error) return results;
  const outcome = await dryRun({
    registry,
    graph,
    given: argumentTexts(value),
    stubs: results,
    readArguments,
  });
  switch (outcome.kind) {
    case 'report':
      return outcome.report;
    case 'refused':
      return new Error(outcome.problems.map(({ message }) => message).join('; '));
    case 'unfit':
      return new Error(`The stub of ${outcome.names.join(', ')} does not answer it: ${outcome.problem}`);
    default:
      return outcome satisfies never;
  }
}

function stubsIn(text: string, graph: Graph): Stubs | Error {
  if (text.trim() === '') return {};
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    return new Error(`The stubs are not valid JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) return new Error('The stubs are not a JSON object: write { "step": result }');
  const nodes = nodesWithTasks(graph);
  const names = new Set(nodes.flatMap((node) => [node.id, ...(node.kind === 'call' ? [node.tool] : [])]));
  const unknown = Object.keys(value).find((name) => !names.has(name.slice(name.lastIndexOf('/') + 1)));
  if (unknown !== undefined)
    return new Error(
      withSuggestion(`The workflow has no step and no tool '${unknown}'`, nearestName(unknown, names)),
    );
  const stubs = Object.entries(value).map(([name, each]) => [
    name,
    (Array.isArray(each) ? each : [each]).map(stubIn),
  ]);
  return Object.fromEntries(stubs) as Stubs;
}

function stubIn(value: Json): Stubs[string][number] {
  if (!isJsonObject(value) || !isJsonObject(value.error)) return { value };
  const { code = 'E_TOOL_ERROR', message = 'a stub' } = value.error;
  return { failure: { code: String(code), message: String(message) } };
}

/** Starts a run. Returns its id, or why it was not started. */
export async function startWorkflow(
  { graph, project }: ServedDefinition,
  value: JsonObject,
): Promise<{ readonly run: string } | Error> {
  const server = await project.server?.();
  if (server === undefined) return new Error('This page starts no runs');
  const answer = await server.startRun(graph.name, value, {
    ...{ requestId: 'studio', signal: new AbortController().signal, progress: noProgress, local: true },
  });
  return answer.ok ? { run: answer.envelope.workflow_id } : new Error(answer.failure.message);
}

/** An open run, and what becomes of it when the workflow of today is deployed. */
export interface RunFate {
  readonly run: string;
  /** The graph that it was started on. */
  readonly graph: Graph;
  readonly hash: string;
  /** One sentence. */
  readonly text: string;
}

/** So many open runs of a state are looked at. */
const MOST_RUNS = 100;

/** What becomes of the open runs of a workflow, up to a limit. */
export async function fatesOf(
  name: string,
  reader: StoreReader,
  fateOf: FateOf,
): Promise<readonly RunFate[]> {
  const fates: RunFate[] = [];
  for (const state of ['running', 'waiting', 'paused'] as const) {
    for (const { ref } of await reader.list({ state, workflow: name, limit: MOST_RUNS })) {
      const [head] = await reader.find(ref);
      const read = head && (await reader.read(head));
      if (head === undefined || read === undefined) continue;
      fates.push({ run: ref, graph: read.graph, hash: head.graph, text: await fateOf(reader, head) });
    }
  }
  return fates;
}

/** The arguments of a form as the texts that a prompt takes. */
function argumentTexts(value: JsonObject): Readonly<Record<string, string>> {
  const texts = Object.entries(value).map(([name, each]) => [
    name,
    typeof each === 'string' ? each : JSON.stringify(each),
  ]);
  return Object.fromEntries(texts);
}
