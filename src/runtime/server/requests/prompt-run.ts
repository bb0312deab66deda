import { defined } from '../../../graph/defined.js';
import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { Graph, ResourceRef } from '../../../graph/model.js';
import { bodyText, clip, cutText, jsonText, oneLine } from '../../../graph/printable-text.js';
import { planOf } from '../../../plan/compile.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import { advance, failedAtStart } from '../../engine/engine.js';
import { restore, snapshot } from '../../engine/snapshot.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import type { ValuePort } from '../../runs/run/calls-in-flight.js';
import type { Envelope } from '../../runs/run/envelope.js';
import { lackingScopes } from '../../runs/run/owner.js';
import { runInProcess } from '../../runs/run/run-in-process.js';
import { logEnd, logStart } from '../../runs/run-log.js';
import type { RunStore, Waiter } from '../../runs/run-store.js';
import { RunMask } from '../../secrets/run-mask.js';
import { type ResourceOutcome, runRef } from '../../tools/port.js';
import type { ResourceEntry } from '../../tools/registry.js';
import type { Toolset } from '../../tools/toolset.js';
import { Ledger } from '../../trace/ledger.js';
import { type PromptMessage, type PromptTrace, textBlock } from '../../trace/messages.js';
import { createProgress } from '../../trace/progress.js';
import { recallRun } from '../../trace/stored-ledger.js';
import {
  createTrace,
  planText,
  resultMeta,
  type TraceObserver,
  type TraceOptions,
} from '../../trace/trace.js';
import { textOf } from '../composite/results.js';
import type { ServedWorkflow } from '../composite/served-workflows.js';
import type { ResolvedSettings } from '../options.js';
import { submitAll } from '../question-rounds.js';
import { storeFailure, storeFault } from '../store-failure.js';
import { resultsOf, type TaskMeta, taskMeta, toolsOf } from '../tasks/task-meta.js';
import { faultCodes, ProtocolFault } from '../wire.js';
import { limited, unfinished } from './limits.js';

/** A workflow to run for `prompts/get`. */
export interface PromptRun {
  readonly workflow: ServedWorkflow;
  readonly input: JsonObject;
  /** The arguments as the caller wrote them. */
  readonly args: readonly (readonly [name: string, text: string])[];
  readonly toolset: Toolset;
  /** Keeps the run of a workflow that may wait. */
  readonly runs: RunStore;
  /** Supplies values of a model. */
  readonly values: ValuePort;
  readonly settings: ResolvedSettings;
  readonly request: IdentifiedRequest;
}

/**
 * Runs a workflow and writes its conversation. Failures, cancellation and timeouts are part of the
 * conversation; a rejection is a fault of this product. When an instruction cannot be read, no step runs: a model that
 * does not know how to go about the task must not be handed its results.
 *
 * A run that may outlast the request is kept: the conversation ends where nothing goes on without an answer, or when the time is
 * up, and the run can be answered and asked for afterwards. `_meta.workflow_id` names it then, and `_meta.actions` what
 * is open.
 */
export async function runPrompt(run: PromptRun): Promise<PromptTrace> {
  const { workflow, input, args, toolset, settings, request, values } = run;
  const { graph } = workflow;
  const began = performance.now();
  const runId = settings.newRunId();
  const instructions =
    graph.instructions.length === 0
      ? []
      : await Promise.all(graph.instructions.map((instruction) => readInstruction(instruction, run)));
  const { resumes, requestId, principal, peer, auth } = request;
  // That of a run knows the secrets among its results as well.
  const mask =
    (resumes && (await run.runs.inspect(request.principal, resumes.run, (run) => run.mask))) ??
    new RunMask(graph, { input, argumentTexts: args, secretInputs: toolset.secretInputs });
  const describeTool = (name: string) => toolset.describeTool(name);
  const plan = planTextOf(run, describeTool);
  const trace = createTrace({
    graph,
    mask,
    describeTool,
    isPrivate: (tool) => toolset.isPrivate(tool) || lacksScopes(tool, run),
    workflowTool: workflow.tool?.name,
    plan,
    args,
    instructions,
  });
  for (const { uri, outcome } of instructions) {
    if (!outcome.ok) return trace.finish(failedBeforeStart(run, runId, uri, outcome.failure));
  }
  const progress = createProgress(graph, request.progress);
  const observe = (fact: Fact, state: RunState): void => {
    trace.observe(fact, state);
    progress.observe(fact, state);
  };
  const leftMs = Math.max(0, Math.floor(settings.promptTimeoutMs - (performance.now() - began)));
  if (workflow.outlastsRequest || workflow.isTask || request.idempotencyKey !== undefined) {
    const waiter = { answerMs: leftMs, observe, progress: progress.ofTool };
    const started = await startRun(run, mask, trace, waiter);
    if (!('failure' in started)) return started.conversation;
    // The plain run begins with an account of its own, and pauses at no step.
    const { task: _, ...graph } = workflow.graph;
    const plain = { ...workflow, graph, hash: planOf(graph).hash, isTask: false };
    // A journal that cannot take the run would fail it again.
    const { journal: __, ...unrecorded } = settings;
    const { idempotencyKey: ___, ...once } = request;
    const unstored = { ...run, workflow: plain, settings: unrecorded, request: once };
    return withoutTask(await runPrompt(unstored), started.failure);
  }
  const logged = () => ({ ref: runRef(runId), workflow: graph.name });
  logStart(settings.log, logged);
  const { state, status, failure } = await runInProcess({
    graph,
    input,
    runId,
    mask,
    calls: toolset,
    toolSafety: toolset.toolSafety,
    signal: request.signal,
    deadlineMs: leftMs,
    leavesValues: true,
    values,
    context: { requestId, principal, auth, progress: progress.ofTool, ...defined({ peer }) },
    observe,
    ...defined({ journal: settings.journal, telemetry: settings.telemetry }),
  });
  logEnd(settings.log, logged, {
    status: status === 'running' || status === 'paused' ? 'left' : status,
    code: failure?.code,
    node: state.run.failedNode,
    durationMs: performance.now() - began,
  });
  return trace.finish(state);
}

/** Whether the caller of a run may not call a tool. */
function lacksScopes(tool: string, { toolset, request }: PromptRun): boolean {
  return lackingScopes(ownProperty(toolset.registry.tools, tool)?.scopes, request).length > 0;
}

const plans = new WeakMap<Toolset, WeakMap<Graph, string>>();

/**
 * The plan that every conversation of a workflow tells. It is written once for each toolset, which describes the tools.
 */
function planTextOf(
  { toolset, workflow: { graph } }: PromptRun,
  describeTool: TraceOptions['describeTool'],
): string {
  const ofToolset = getOrInsert(plans, toolset, () => new WeakMap());
  return getOrInsert(ofToolset, graph, () => planText({ graph, describeTool }));
}

/**
 * Starts a run that outlasts the request, and shows it up to where it waits. Returns why not where the store cannot take a
 * run that need not outlast the request.
 */
async function startRun(
  { workflow, input, runs, request, settings }: PromptRun,
  mask: RunMask,
  trace: TraceObserver,
  waiter: Pick<Waiter, 'answerMs' | 'observe' | 'progress'>,
): Promise<{ readonly conversation: PromptTrace } | { readonly failure: Failure }> {
  const { graph } = workflow;
  let conversation: PromptTrace | undefined;
  const toolOf = toolsOf(new Ledger(planOf(graph, workflow.hash)));
  const what = `prompt '${clip(graph.name)}'`;
  const { resumes } = request;
  const whole: Waiter = {
    // The questions of a prompt are part of the conversation.
    request: withoutElicitation(request),
    cancels: true,
    conclude(state, envelope) {
      conversation = workflow.isTask
        ? taskTrace(state, envelope, { trace, mask, toolOf })
        : trace.finish(state, { workflowId: envelope.workflow_id });
    },
    ...defined({ awaits: resumes?.awaits }),
    ...waiter,
  };
  if (resumes !== undefined) {
    const said = resumes.said as readonly PromptMessage[];
    await runs.inspect(request.principal, resumes.run, ({ state }) => {
      if (state !== undefined) trace.resume(state, said);
    });
    const envelope = await submitAll(runs, resumes, whole);
    return { conversation: conversation ?? closedTrace(graph.description, said, envelope) };
  }
  const answer = await runs
    .start({ owner: request.principal, graph, input, mask }, whole)
    .catch((fault: unknown) => {
      const failure = workflow.outlastsRequest ? undefined : storeFailure(fault, what, settings.log);
      if (failure === undefined) throw storeFault(fault, what, settings.log);
      return { ok: false, failure } as const;
    });
  if (!answer.ok) {
    const { code, message } = answer.failure;
    const isRefused = code === 'E_NO_ROLES' || code === 'E_STORE_SECRETS';
    if (!workflow.outlastsRequest && !isRefused) return { failure: answer.failure };
    throw new ProtocolFault(isRefused ? faultCodes.refused : faultCodes.exhausted, message, { code });
  }
  const { envelope } = answer;
  // An earlier request has started it. Of its steps the state has the ends, not what was said of them.
  if (conversation === undefined)
    await runs.inspect(request.principal, envelope.workflow_id, ({ state }) => {
      if (state === undefined) return;
      recallRun(state, (fact) => trace.observe(fact, state));
      whole.conclude?.(state, envelope);
    });
  return { conversation: conversation ?? closedTrace(graph.description, [], envelope) };
}

/** The conversation of a run that is over: its steps are no longer stored. */
function closedTrace(description: string, said: readonly PromptMessage[], envelope: Envelope): PromptTrace {
  const { workflow_id, status, result } = envelope;
  const kind = status === 'completed' ? 'succeeded' : status === 'waiting' ? 'running' : status;
  return {
    description,
    messages: [...said, textBlock('assistant', textOf(envelope), { 'stepwright/part': 'result' })],
    _meta: {
      ...{ status: kind, workflow_id, steps: [], errors: [], calls: [] },
      ...(result === undefined ? {} : resultMeta(result)),
    },
  };
}

function withoutElicitation({ peer, ...request }: IdentifiedRequest): IdentifiedRequest {
  const { elicit: _, elicitUrl: __, ...rest } = peer ?? {};
  return { ...request, peer: rest };
}

async function readInstruction({ resource, uri }: ResourceRef, { toolset, settings, request }: PromptRun) {
  const reading = await limited(settings.promptTimeoutMs, request.signal, (signal) =>
    toolset.readResource(resource, uri, { ...request, signal }),
  );
  const isAuthors = isStatic(ownProperty(toolset.registry.resources, resource));
  const outcome: ResourceOutcome =
    reading.kind !== 'done'
      ? { ok: false, failure: unfinished(reading.kind, settings.promptTimeoutMs) }
      : isAuthors
        ? reading.value
        : encoded(reading.value);
  return { uri, outcome };
}

/** Whether the text of a resource is the author's own: it is part of the registry, or a file of the package. */
function isStatic(entry: ResourceEntry | undefined): boolean {
  return entry?.text !== undefined || entry?.file !== undefined;
}

function encoded(outcome: ResourceOutcome): ResourceOutcome {
  if (!outcome.ok || typeof outcome.value.text !== 'string') return outcome;
  return { ok: true, value: { ...outcome.value, text: bodyText(outcome.value.text) } };
}

/** The state of a run that ended before its first step. */
function failedBeforeStart(
  { workflow, input }: PromptRun,
  runId: string,
  uri: string,
  { code, message }: Failure,
): RunState {
  return failedAtStart(
    planOf(workflow.graph, workflow.hash),
    input,
    { runId, at: Date.now() },
    {
      status: code === 'E_CANCELLED' ? 'cancelled' : 'failed',
      failure: { code, message: `Its instruction ${clip(uri)} cannot be read: ${oneLine(message)}` },
    },
  );
}

/** A run of a workflow with tasks, when its prompt is answered. */
interface PromptedTask {
  readonly trace: TraceObserver;
  readonly mask: RunMask;
  readonly toolOf: (step: string) => string | undefined;
}

/**
 * The conversation of a task: the trace of its run with the progress of the task under its hand-off, and the state of the
 * task in `_meta`.
 */
export function taskTrace(
  state: RunState,
  envelope: Envelope,
  { trace, mask, toolOf }: PromptedTask,
): PromptTrace {
  const run = { workflowId: envelope.workflow_id };
  const { graph } = state.plan;
  const storeError =
    state.run.status === 'running' && envelope.status === 'failed' ? envelope.error : undefined;
  const closed =
    storeError === undefined ? trace.finish(state, run) : trace.finish(lostCopy(state, storeError, trace));
  const shown = storeError === undefined ? envelope : { ...envelope, status: 'running' as const };
  const meta = taskMeta(shown, closed._meta, toolOf);
  const isOpen = meta.task_status === 'working' || meta.task_status === 'input_required';
  const messages = isOpen
    ? withProgress(closed.messages, progressText(meta, resultsOf(graph, state, mask)))
    : closed.messages;
  const { status: _, workflow_id: __, ...rest } = closed._meta;
  return {
    ...closed,
    messages,
    _meta: { ...rest, status: state.run.status, workflow_id: envelope.workflow_id, ...meta },
  };
}

/** A copy of a run that was lost while it ran, as a cancelled run: its calls in flight have no known outcome. */
function lostCopy(state: RunState, { code, message: reason }: Failure, trace: TraceObserver): RunState {
  const copy = restore(state.plan, snapshot(state));
  let step = advance(state.plan, copy, [{ kind: 'cancelled', at: Date.now(), reason, code }]);
  for (;;) {
    for (const fact of step.facts) trace.observe(fact, step.state);
    if (!step.more) return step.state;
    step = advance(state.plan, step.state, []);
  }
}

/** The conversation of a run without a task, since the store could not take it. */
function withoutTask(trace: PromptTrace, { code, message }: Failure): PromptTrace {
  return { ...trace, _meta: { ...trace._meta, task_error: { code, message } } };
}

/** The progress of a task is a part of the last message, which its hand-off is. */
function withProgress(messages: readonly PromptMessage[], progress: string): readonly PromptMessage[] {
  const last = messages.at(-1);
  if (last?.content.type !== 'text') return messages;
  const { text, _meta } = last.content;
  const whole = `${text}\n\n${progress}`;
  return [...messages.slice(0, -1), _meta === undefined ? last : textBlock(last.role, whole, _meta)];
}

/** The longest result of a step in a list of progress, in UTF-16 code units. */
const RESULT_LENGTH = 200;

/** How far a task is, for a model: what is done, what remains, and how to continue. */
function progressText({ task_id, task_status, steps, next = [] }: TaskMeta, results: JsonObject): string {
  const id = jsonText(task_id);
  const numbered = steps.map((step, index) => ({ ...step, number: index + 1 }));
  const completed = numbered.filter(({ status }) => status === 'completed');
  const remaining = numbered.filter(({ status }) => status === 'pending' || status === 'failed');
  const lines = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : ['', title, ...items];
  return [
    '## Workflow Progress',
    '',
    `**Task ID:** ${task_id}`,
    `**Status:** ${next.length > 0 ? 'paused' : task_status} (${completed.length}/${steps.length} steps completed)`,
    ...lines(
      '### Completed Steps',
      completed.map(({ number, name }) => `${number}. ${clip(name)}${resultText(results[name])}`),
    ),
    ...lines(
      '### Remaining Steps',
      remaining.map(
        ({ number, name, status }) => `${number}. ${clip(name)}${status === 'failed' ? ' (failed)' : ''}`,
      ),
    ),
    ...(next.length === 0
      ? []
      : [
          '',
          `A call that is sent with _meta {"_task_id": ${id}, "_step": "<step>"} is recorded, and the server then makes the calls that follow by itself. Tool 'resume_workflow' with {"workflow_id": ${id}} has the server try the failed steps again.`,
        ]),
  ].join('\n');
}

function resultText(value: JsonObject[string] | undefined): string {
  return value === undefined ? '' : `: ${cutText(jsonText(value), RESULT_LENGTH)}`;
}
