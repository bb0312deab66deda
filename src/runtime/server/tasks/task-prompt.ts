import type { JsonObject } from '../../../graph/json.js';
import { clip, cutText, jsonText } from '../../../graph/printable-text.js';
import type { Failure, RunState } from '../../engine/contract.js';
import { advance } from '../../engine/engine.js';
import { restore, snapshot } from '../../engine/snapshot.js';
import type { Envelope } from '../../runs/run/envelope.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { type PromptMessage, type PromptTrace, textBlock } from '../../trace/messages.js';
import type { TraceObserver } from '../../trace/trace.js';
import { resultsOf, type TaskMeta, taskMeta } from './task-meta.js';

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
