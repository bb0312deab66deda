import type { JsonObject } from '../../graph/json.js';
import type { ResourceRef } from '../../graph/model.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { ResourceOutcome } from '../catalogue/port.js';
import type { Failure, RunState } from '../engine/contract.js';
import { runInProcess } from '../hosts/in-process/run-in-process.js';
import type { PromptTrace } from '../observers/trace/messages.js';
import { createTrace } from '../observers/trace/trace.js';
import { limited } from './limit.js';
import type { RunnableWorkflow } from './offers.js';
import type { ResolvedSettings } from './options.js';
import { promptProgress } from './prompt-progress.js';
import type { RequestContext } from './request.js';
import { texts } from './texts.js';

/** A workflow to run for `prompts/get`. */
export interface PromptRun {
  readonly workflow: RunnableWorkflow;
  readonly input: JsonObject;
  /** The arguments as the caller wrote them. */
  readonly given: readonly (readonly [name: string, text: string])[];
  readonly catalogue: Catalogue;
  readonly settings: Pick<ResolvedSettings, 'promptTimeoutMs' | 'newRunId'>;
  readonly request: RequestContext;
}

/**
 * Runs a workflow and writes its conversation. What fails in it, is cancelled or takes too long is told by the
 * conversation; a rejection is a fault of this product. When an instruction cannot be read, no step runs: a model that
 * does not know how to go about the task must not be handed its results.
 */
export async function runPrompt(run: PromptRun): Promise<PromptTrace> {
  const { workflow, input, given, catalogue, settings, request } = run;
  const { graph } = workflow;
  const began = performance.now();
  const runId = settings.newRunId();
  const instructions = await Promise.all(
    graph.instructions.map((instruction) => readInstruction(instruction, run)),
  );
  const trace = createTrace({
    graph,
    describeTool: (name) => catalogue.describeTool(name),
    given,
    input,
    instructions,
  });
  for (const { uri, outcome } of instructions) {
    if (!outcome.ok) return trace.finish(notBegun(run, runId, uri, outcome.failure));
  }
  const progress = promptProgress(graph, request.progress);
  const { state } = await runInProcess({
    graph,
    input,
    runId,
    calls: catalogue,
    signal: request.signal,
    deadlineMs: Math.max(0, Math.floor(settings.promptTimeoutMs - (performance.now() - began))),
    context: { ...request, progress: progress.ofTool },
    observe: (fact, state) => {
      trace.observe(fact, state);
      progress.observe(fact);
    },
  });
  return trace.finish(state);
}

async function readInstruction({ resource, uri }: ResourceRef, { catalogue, settings, request }: PromptRun) {
  const read = await limited(settings.promptTimeoutMs, request.signal, (signal) =>
    catalogue.readResource(resource, uri, { ...request, signal }),
  );
  return {
    uri,
    outcome: read.kind === 'done' ? read.value : unanswered(read.kind, settings.promptTimeoutMs),
  };
}

function unanswered(kind: 'timedOut' | 'cancelled', limitMs: number): ResourceOutcome {
  const failure =
    kind === 'timedOut'
      ? { code: 'E_TIMEOUT', message: texts.noAnswer(limitMs) }
      : { code: 'E_CANCELLED', message: texts.requestCancelled() };
  return { ok: false, failure };
}

/** The state of a run that ended before its first step. */
function notBegun(
  { workflow, input }: PromptRun,
  runId: string,
  uri: string,
  { code, message }: Failure,
): RunState {
  return {
    run: {
      id: runId,
      workflow: workflow.graph.name,
      graphHash: workflow.hash,
      status: code === 'E_CANCELLED' ? 'cancelled' : 'failed',
      startedAt: Date.now(),
      open: 0,
      running: 0,
      failure: { code, message: texts.instructionUnreadable(uri, message) },
    },
    input,
    nodes: {},
    outputs: {},
    commands: {},
  };
}
