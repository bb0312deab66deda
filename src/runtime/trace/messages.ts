import type { Answerer } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import { cutText } from '../../graph/printable-text.js';
import type { ActionDetails } from '../engine/actions.js';
import type { RunStatus } from '../engine/events.js';
import type { RemainingEffects } from '../runs/run/envelope.js';

/** The longest `_meta.result`, in bytes of its JSON text. */
export const META_RESULT_LIMIT_BYTES = 1024 * 1024;

/** The conversation a workflow prompt answers with, in no protocol's types. */
export interface PromptTrace {
  readonly description: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta: TraceMeta;
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: TextContent | ResourceContent;
}

interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly _meta?: BlockMeta;
}

interface ResourceContent {
  readonly type: 'resource';
  /** `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`. */
  readonly resource: JsonObject;
  readonly _meta?: BlockMeta;
}

/** Where a content block comes from, so that programs need not parse its text. */
export type BlockMeta = {
  readonly 'stepwright/part':
    | 'instruction'
    | 'intent'
    | 'plan'
    | 'guidance'
    | 'note'
    | 'call'
    | 'result'
    | 'error'
    | 'retry'
    | 'fallback'
    | 'skip'
    | 'branch'
    | 'group'
    | 'item'
    | 'question'
    | 'answer'
    | 'wait'
    | 'state'
    | 'goto'
    | 'undo'
    | 'waiting'
    | 'hand-off';
  /**
   * The step the block belongs to: its id, inside loops and other workflows its key (`line[3]`, `sub/line[3]`).
   * Missing for blocks of the workflow as a whole.
   */
  readonly 'stepwright/step'?: string;
  /** The arm that was taken. */
  readonly 'stepwright/arm'?: string;
  /** The branch that a block of a `parallel` step is about. */
  readonly 'stepwright/branch'?: string;
  /** The item that a block of a loop is about, counted from 0. */
  readonly 'stepwright/item'?: number;
  /** The step whose effect a call undoes. */
  readonly 'stepwright/undoes'?: string;
  /** Code of the failure an `error` or `retry` block reports. */
  readonly 'stepwright/code'?: string;
  /** The attempt that a `retry` block reports, counted from 1. */
  readonly 'stepwright/attempt'?: number;
  /** A `result` block has the summary of the result. */
  readonly 'stepwright/summary'?: true;
  /** Full size in UTF-16 code units of a text that was cut. */
  readonly 'stepwright/size'?: number;
};

/**
 * The trace of a run for programs. `steps` lists the steps of the plan in declaration order, steps of arms and branches
 * after the step around them. It includes steps that end the workflow, compute a value, or are in a loop or another
 * workflow if they failed: every `step` of `errors` is in `steps`.
 *
 * For a run that did not succeed, `pause_reason` says why it stopped, `errors` lists every failure, `calls` the calls of
 * the hand-off, `undone` what was undone. For a run that succeeded, `errors` is empty, `calls` lists the calls that undo
 * remaining side effects, and `result` is the value of the workflow. If its JSON text is longer than
 * {@link META_RESULT_LIMIT_BYTES}, `result_size`, at least that many bytes, replaces it. The members of
 * {@link RemainingEffects} are those of the run's envelope. A run that is not over has `actions`, and `workflow_id` if it
 * is kept.
 */
export type TraceMeta = RemainingEffects & {
  readonly status: RunStatus;
  readonly steps: readonly StepMeta[];
  readonly errors: readonly TraceError[];
  readonly calls: readonly HandOffCall[];
  readonly pause_reason?: PauseReason;
  readonly undone?: readonly Undone[];
  readonly result?: Json;
  readonly result_size?: number;
  readonly workflow_id?: string;
  readonly actions?: readonly OpenAction[];
  /** Of a task: the id of its run. */
  readonly task_id?: string;
  readonly task_status?: TaskStatus;
  /** The calls of steps of a task that wait to be made, in the order of the plan. */
  readonly next?: readonly HandOffCall[];
  /** Why the run is not a task, of a workflow with tasks. */
  readonly task_error?: { readonly code: string; readonly message: string };
};

/** The status of a task: a paused one works. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

export type StepMeta = {
  /** Its id; inside loops and other workflows its key (`line[3]`, `sub/line[3]`). */
  readonly name: string;
  readonly status: StepStatus;
  /** The body around it: `both:left` for an arm or branch, `line[3]` for an item, `sub/` for a workflow. */
  readonly in?: string;
  /** How many items a loop has that has begun. */
  readonly items?: number;
};

/**
 * `pending` steps did not start because the run stopped before them; those that the trace calls skipped are `skipped`, also
 * where a failure was the reason. `handled` ones failed, and another step took over.
 * Only in a run that is not over are there steps that are `running` or `waiting`.
 */
export type StepStatus = 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'handled' | 'skipped';

/** How earlier work was undone: by a step, or, where there is none, because the run was cancelled. Tools by name. */
export type Undone = {
  readonly step?: string;
  readonly done: readonly string[];
  readonly failed: readonly { readonly tool: string; readonly code: string; readonly message: string }[];
  readonly not_run: readonly string[];
};

/**
 * What a run that is not over waits for, in the words of the tools that look after runs. `workflow_id` is missing where
 * nothing keeps the run.
 */
export type OpenAction = {
  readonly action_id: string;
  readonly workflow_id?: string;
  /** Its key, as in {@link StepMeta}. */
  readonly step_id: string;
} & (
  | (ActionDetails & {
      /** What a fitting answer looks like. */
      readonly schema: JsonSchema;
      /** Who may answer, exclusively. Missing: the owner of the run. */
      readonly answer_by?: readonly Answerer[];
      /** RFC 3339. Missing where it stays open for as long as it takes. */
      readonly expires_at?: string;
    })
  /** A time, RFC 3339: no answer is needed. */
  | { readonly type: 'wait'; readonly resume_at: string }
);

/** A failure of the run. `step` is missing where it is the workflow's as a whole. */
export type TraceError = {
  readonly step?: string;
  readonly code: string;
  readonly message: string;
  /** More about it for programs, as `{ problems: [{ pointer, message }], missing: [name] }` of refused input. */
  readonly details?: Json;
  readonly outcomeUnknown?: true;
  /** The tool or resource was not reached: nothing can have happened. */
  readonly attempted?: false;
  /** How many attempts were made, where there was more than one. */
  readonly attempts?: number;
};

/**
 * A call the client can make to continue; a resource is to be read, not called, and what is to be asked is put to the
 * user. `in` is the body around the step, as in {@link StepMeta}; `*` in it means every item of a loop.
 */
export type HandOffCall = {
  readonly step: string;
  readonly in?: string;
  readonly note?: string;
  /** Guidance of several lines, which is a message before the hand-off. */
  readonly guidance?: string;
  /** The call undoes the effect of the step, and does not continue the workflow. */
  readonly undoes?: true;
  /** It was made before without an answer, and may have taken effect: check first. */
  readonly outcomeUnknown?: true;
} & (
  | { readonly tool: string; readonly arguments: JsonObject }
  | { readonly resource: string; readonly uri: string }
  /** A command that the reader runs, as {@link ShellAction} has it. */
  | { readonly command: string; readonly argv?: readonly string[]; readonly env?: JsonObject }
  /** A task for the agent, or for the reader where that is null. */
  | { readonly instructions: string; readonly agent: string | null; readonly tools?: readonly string[] }
  | {
      readonly ask: string;
      readonly options?: readonly string[];
      readonly schema: JsonSchema;
      /** The reader supplies the value, and asks no person for it. */
      readonly mode?: 'model';
      /** Who answers, exclusively. */
      readonly answer_by?: readonly Answerer[];
    }
);

/** Why a run stopped. `suggestedTool` is missing for a step that calls none. */
export type PauseReason =
  | {
      readonly type: 'unresolvableParams';
      readonly blockedStep: string;
      readonly missingParam: string;
      readonly suggestedTool?: string;
      readonly code: string;
    }
  | {
      readonly type: 'schemaMismatch';
      readonly blockedStep: string;
      readonly missingFields: readonly string[];
      readonly suggestedTool?: string;
      readonly code: string;
    }
  | {
      readonly type: 'toolError';
      readonly failedStep: string;
      readonly error: string;
      readonly retryable: boolean;
      readonly suggestedTool?: string;
      readonly code: string;
    }
  /** The workflow ended itself: by a `fail`. */
  | {
      readonly type: 'stopped';
      readonly failedStep: string;
      readonly error: string;
      readonly code: string;
    }
  | {
      readonly type: 'unresolvedDependency';
      readonly blockedStep: string;
      readonly missingOutput: string;
      readonly producingStep: string;
      readonly suggestedTool?: string;
      readonly code: string;
    }
  /** The run is not over: it waits for answers or times. */
  | { readonly type: 'waiting'; readonly waitingSteps: readonly string[]; readonly code: string }
  /** The run is not over, and continues by itself. */
  | { readonly type: 'running'; readonly code: string };

/** What closes a trace of a run that did not succeed: why it stopped or waits, and what can still be done. */
export interface HandOff extends RemainingEffects {
  readonly text: string;
  readonly errors: readonly TraceError[];
  readonly calls: readonly HandOffCall[];
  readonly pause_reason: PauseReason;
  readonly undone?: readonly Undone[];
  readonly workflow_id?: string;
  readonly actions?: readonly OpenAction[];
}

/** Longer texts of results and resources are cut in a trace. UTF-16 code units. */
export const RESULT_LIMIT = 20_000;

/** A text, or how to write it with every value in it masked: for texts that say something of their values. */
export type BlockText = string | ((mask: (value: string) => string) => string);

const writers = new WeakMap<PromptMessage, Exclude<BlockText, string>>();

/** A text of a trace with what programs should know about it. */
export function textBlock(role: PromptMessage['role'], content: BlockText, _meta: BlockMeta): PromptMessage {
  const isText = typeof content === 'string';
  const text = isText ? content : content((value) => value);
  const message: PromptMessage = { role, content: { type: 'text', text, _meta } };
  if (!isText) writers.set(message, content);
  return message;
}

/** A text of a trace with its values masked; other content stays as it is. */
export function maskedBlock(message: PromptMessage, mask: (value: string) => string): PromptMessage {
  const { content } = message;
  if (content.type !== 'text') return message;
  const text = writers.get(message)?.(mask) ?? mask(content.text);
  return { ...message, content: { ...content, text } };
}

/** A text, cut to {@link RESULT_LIMIT}; `size` is its full size where it was. */
export function limited(text: string): { readonly text: string; readonly size?: number } {
  return text.length <= RESULT_LIMIT ? { text } : { text: cutText(text, RESULT_LIMIT), size: text.length };
}

/** The member of a block with the full size of a text that was cut. */
export function sized(size: number | undefined): { 'stepwright/size'?: number } {
  return defined({ 'stepwright/size': size });
}

/** How many items of a loop are shown in full. */
export const ITEMS_IN_FULL = 5;

/** The messages of a conversation without what it waits for. */
export function withoutClosing(messages: readonly PromptMessage[]): readonly PromptMessage[] {
  return messages.filter(({ content }) => {
    const part = content._meta?.['stepwright/part'];
    return part !== 'waiting' && part !== 'hand-off';
  });
}
