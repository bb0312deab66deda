import type { Json, JsonObject } from '../../../graph/json.js';
import type { RunStatus } from '../../engine/contract.js';

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

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly _meta?: BlockMeta;
}

export interface ResourceContent {
  readonly type: 'resource';
  /** `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`. */
  readonly resource: JsonObject;
  readonly _meta?: BlockMeta;
}

/** Where a content block comes from, so that a reader need not parse its text. */
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
    | 'hand-off';
  /** Id of the step the block belongs to. Missing for blocks of the workflow as a whole. */
  readonly 'stepwright/step'?: string;
  /** Code of the failure an `error` or `retry` block reports. */
  readonly 'stepwright/code'?: string;
  /** The attempt a `retry` block speaks of, counted from 1. */
  readonly 'stepwright/attempt'?: number;
  /** A `result` block gives the result in short. */
  readonly 'stepwright/summary'?: true;
  /** Full size in UTF-16 code units of a text that was cut. */
  readonly 'stepwright/size'?: number;
};

/**
 * What a program should know about the run behind a trace. `steps` lists in declaration order the steps of the plan, and
 * those that end the workflow or compute a value where they failed: every `step` of `errors` is among them.
 *
 * The keys beside `status` and `steps` tell about a run that did not succeed: `pause_reason` why it stopped, `errors`
 * every failure, `calls` the hand-off's list. `errors` and `calls` are empty lists otherwise; `result` is what a
 * `return` gave, left out where its JSON text is longer than {@link META_RESULT_LIMIT_BYTES}: `result_size`, at least
 * that many bytes, stands there instead.
 */
export type TraceMeta = {
  readonly status: RunStatus;
  readonly steps: readonly { readonly name: string; readonly status: StepStatus }[];
  readonly errors: readonly TraceError[];
  readonly calls: readonly HandOffCall[];
  readonly pause_reason?: PauseReason;
  readonly result?: Json;
  readonly result_size?: number;
};

/** `pending` steps did not start because the run stopped before them. */
export type StepStatus = 'pending' | 'completed' | 'failed' | 'skipped';

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

/** A call the client can make to continue; a resource is to be read, not called. */
export type HandOffCall =
  | { readonly step: string; readonly tool: string; readonly arguments: JsonObject; readonly note?: string }
  | { readonly step: string; readonly resource: string; readonly uri: string; readonly note?: string };

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
  | {
      readonly type: 'unresolvedDependency';
      readonly blockedStep: string;
      readonly missingOutput: string;
      readonly producingStep: string;
      readonly suggestedTool?: string;
      readonly code: string;
    };
