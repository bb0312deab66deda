import { type Diagnostic, hasErrors } from '../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../graph/diagnostics/format.js';
import type { JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import type { ChartTool } from '../print/chart/chart.js';
import type { ShownReport } from '../print/dry-run.js';
import { dryRun } from '../runtime/runs/operate/dry-run.js';
import { missingStubs, readStubs } from '../runtime/runs/operate/stubs.js';
import { noProgress } from '../runtime/runs/request.js';
import { openRuns, type StoredHead } from '../runtime/runs/store/reader.js';
import { readArguments } from '../runtime/server/catalogue/arguments.js';
import type { Definitions } from '../runtime/server/definitions.js';
import type { StepwrightServer } from '../runtime/server/stepwright-server.js';
import { runRef } from '../runtime/tools/port.js';
import type { StudioUser } from './access.js';
import type { StoredRuns } from './run-source.js';

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
export type FateOf = (reader: StoredRuns, run: StoredHead) => Promise<string>;

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

/**
 * Runs a workflow on stubs.
 *
 * @param text YAML or JSON, or an empty text.
 * @returns its report, or what is wrong with the stubs or the arguments.
 */
export async function tryWorkflow(
  { graph, project }: ServedDefinition,
  value: JsonObject,
  text: string,
): Promise<ShownReport | Error> {
  const { registry } = project.definitions;
  const stubbed = { graph, tools: registry.tools };
  const stubs = await readStubs(text.trim() === '' ? undefined : { text }, stubbed);
  const refused = (diagnostics: readonly Diagnostic[]): Error =>
    new Error(formatDiagnostics(diagnostics, stubs.readSource, { color: false }));
  const faults = [...stubs.diagnostics, ...missingStubs(stubbed, stubs.results)];
  if (hasErrors(faults)) return refused(faults);
  // As a prompt takes them.
  const texts = Object.entries(value).map(([name, each]) => [
    name,
    typeof each === 'string' ? each : JSON.stringify(each),
  ]);
  const given: Readonly<Record<string, string>> = Object.fromEntries(texts);
  const outcome = await dryRun({ registry, graph, given, stubs: stubs.results, readArguments });
  switch (outcome.kind) {
    case 'report':
      return outcome.report;
    case 'refused':
      return new Error(outcome.problems.map(({ message }) => message).join('; '));
    case 'unfit':
      return refused([stubs.unfit(outcome.names, outcome.problem)]);
    default:
      return outcome satisfies never;
  }
}

/** Starts a run of a user. Returns its id, or why it was not started. */
export async function startWorkflow(
  { graph, project }: ServedDefinition,
  value: JsonObject,
  { auth }: StudioUser,
): Promise<{ readonly run: string } | Error> {
  const server = await project.server?.();
  if (server === undefined) return new Error('This page starts no runs');
  const answer = await server.startRun(graph.name, value, {
    ...{ requestId: 'studio', signal: new AbortController().signal, progress: noProgress },
    ...(auth === undefined ? { local: true } : { auth }),
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

/** So many runs of a workflow are looked at. */
const MOST_RUNS = 200;

/** A definition of a workflow. */
export interface KnownDefinition {
  readonly graph: Graph;
  /** The latest run that was started on it. Missing for that of the project. */
  readonly run?: { readonly ref: string; readonly startedAt: number };
}

/** The definition of a workflow in the project and those of its latest runs, by their hashes. */
export async function knownDefinitions(
  { graph, hash }: ServedDefinition,
  reader: StoredRuns,
): Promise<ReadonlyMap<string, KnownDefinition>> {
  const definitions = new Map<string, KnownDefinition>([[hash, { graph }]]);
  for (const { ref, startedAt } of await reader.list({ workflow: graph.name, limit: MOST_RUNS })) {
    const [head] = await reader.find(ref);
    const read = head === undefined || definitions.has(head.graph) ? undefined : await reader.read(head);
    if (read !== undefined) definitions.set(read.head.graph, { graph: read.graph, run: { ref, startedAt } });
  }
  return definitions;
}

/** What becomes of the open runs of a workflow, up to a limit. */
export async function fatesOf(name: string, reader: StoredRuns, fateOf: FateOf): Promise<readonly RunFate[]> {
  const fates: RunFate[] = [];
  for await (const head of openRuns(reader, name)) {
    const read = await reader.read(head);
    if (read === undefined) continue;
    const { graph } = read;
    fates.push({ run: runRef(head.id), graph, hash: head.graph, text: await fateOf(reader, head) });
    if (fates.length === MOST_RUNS) break;
  }
  return fates;
}
