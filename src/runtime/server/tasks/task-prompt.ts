import type { JsonObject } from '../../../graph/json.js';
import { clip, cutText, jsonText } from '../../../graph/printable-text.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import type { Envelope } from '../../runs/run/envelope.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { type PromptMessage, type PromptTrace, textBlock } from '../../trace/messages.js';
import type { TraceObserver } from '../../trace/trace.js';
import { failedCopy, isPaused, lostCopy } from './paused-run.js';
import { resultsOf, type TaskMeta, taskMeta } from './task-meta.js';

/** A run of a workflow with tasks, when its prompt is answered. */
interface PromptedTask {
  readonly trace: TraceObserver;
  readonly mask: RunMask;
  readonly toolOf: (step: string) => string | undefined;
}

/**
 * The conversation of a task: the trace of its run with the progress of the task under its hand-off, and the state of the
 * task in `_meta`. The hand-off of a paused run is that of a failed one.
 */
export function taskTrace(
  state: RunState,
  envelope: Envelope,
  { trace, mask, toolOf }: PromptedTask,
): PromptTrace {
  const observe = (fact: Fact, after: RunState): void => trace.observe(fact, after);
  const run = { workflowId: envelope.workflow_id };
  const { graph } = state.plan;
  const storeError =
    state.run.status === 'running' && envelope.status === 'failed' ? envelope.error : undefined;
  const paused = isPaused(state);
  const closed =
    storeError !== undefined
      ? trace.finish(lostCopy(state, storeError, observe))
      : paused
        ? trace.finish(failedCopy(state, observe))
        : trace.finish(state, run);
  const shown = storeError === undefined ? envelope : { ...envelope, status: 'running' as const };
  const meta = taskMeta(shown, closed._meta, toolOf);
  const isOpen = meta.task_status === 'working' || meta.task_status === 'input_required';
  const messages = isOpen
    ? withProgress(closed.messages, progressText(meta, resultsOf(graph, state, mask), paused))
    : closed.messages;
  const { status: _, workflow_id: __, ...rest } = closed._meta;
  return {
    ...closed,
    messages,
    _meta: { ...rest, status: state.run.status, workflow_id: envelope.workflow_id, ...meta },
  };
}

/** The conversation of a run without a task, since the store could not take it. */
export function withoutTask(trace: PromptTrace, { code, message }: Failure): PromptTrace {
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

/**
 * How far a task is, for a model: what is done, what remains, and how to continue.
 * @param paused whether it does not continue by itself, also where no call is known that continues it.
 */
function progressText(
  { task_id, task_status, steps, next = [] }: TaskMeta,
  results: JsonObject,
  paused: boolean,
): string {
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
    `**Status:** ${paused || next.length > 0 ? 'paused' : task_status} (${completed.length}/${steps.length} steps completed)`,
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
    // A call of a failed step is recorded also where the server would not have it repeated.
    ...(next.length === 0 && !paused
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
