import { defined } from '../../../graph/defined.js';
import { type Json, type JsonObject, type JsonSchema, unreachable } from '../../../graph/json.js';
import { jsonText } from '../../../graph/printable-text.js';
import type { ActionRequest } from '../../engine/actions.js';
import type { ActionKind, Failure, RunState } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';

// An action is what a run waits for from outside. A further kind of action is a row of ACTION_KINDS.

/** How actions of a kind are answered. */
interface AnswerForm {
  /** What to send, in one sentence. */
  how(options: readonly string[]): string;
  /** The full answer of a shorthand; undefined for any other value. */
  inFull(result: Json): Json | undefined;
  /** The form that a client shows to its user: one of the schema, one without fields, or none. */
  readonly form: 'schema' | 'empty' | 'none';
}

const FITTING: AnswerForm = {
  how: () => 'Send a result that fits the schema of the action.',
  inFull: () => undefined,
  form: 'schema',
};

export const ACTION_KINDS: Readonly<Record<ActionKind, AnswerForm>> = {
  info: {
    how: () => 'Send no result at all, or {"acknowledged": true}.',
    inFull: (result) => (result === null || result === true ? { acknowledged: true } : undefined),
    // There is nothing to fill in: to accept is the answer.
    form: 'empty',
  },
  confirm: {
    how: () => 'Send true or false, or {"confirmed": true}.',
    inFull: (result) => (typeof result === 'boolean' ? { confirmed: result } : undefined),
    form: 'schema',
  },
  text: {
    how: () => 'Send the text, or {"input": "the text"}.',
    inFull: (result) => (typeof result === 'string' ? { input: result } : undefined),
    form: 'schema',
  },
  choice: {
    how: (options) =>
      `Send one of ${options.map((option) => jsonText(option)).join(', ')}, or {"selected": "that one"}.`,
    inFull: (result) => (typeof result === 'string' ? { selected: result } : undefined),
    form: 'schema',
  },
  yield: FITTING,
  model: {
    ...FITTING,
    how: () => 'Send the value as the result: JSON that fits the schema of the action.',
    // It is for a model: no person is asked.
    form: 'none',
  },
  shell: { ...FITTING, form: 'none' },
  mcp_call: { ...FITTING, form: 'none' },
  delegate: {
    ...FITTING,
    inFull: (result) => (typeof result === 'string' ? { response: result } : undefined),
    form: 'none',
  },
};

/** How an action is answered, in one sentence. */
export function howToAnswer(request: ActionRequest): string {
  if (request.type !== 'prompt') return ACTION_KINDS[request.type].how([]);
  const { type: mode, options = [] } = request.parameters;
  return ACTION_KINDS[mode].how(options);
}

/** What work of the client is to be done: completes "Step 'x' …". */
export function workText(request: Exclude<ActionRequest, { type: 'prompt' }>): string {
  switch (request.type) {
    case 'shell':
      return `has a command for you to run: ${jsonText(request.parameters)}`;
    case 'mcp_call':
      return `has a tool for you to call: ${jsonText(request.parameters)}`;
    case 'delegate':
      return `has a task for ${request.parameters.agent ?? 'you'}: ${jsonText(request.parameters)}`;
    default:
      return unreachable(request);
  }
}

/** An action that is open. */
export interface PendingAction {
  readonly id: string;
  /** Key of the node that asks. */
  readonly node: string;
  readonly action: Action;
}

/** What a run that is not over waits for. */
export interface LiveActions {
  /** The open questions by their ids, the oldest first. */
  readonly asks: Pick<ReadonlyMap<string, PendingAction>, 'get' | 'has' | 'size'> & {
    values(): Iterable<PendingAction>;
  };
  /** Calls about which an operator decides. */
  readonly heldCalls: readonly { readonly node: string; readonly tool: string }[];
  readonly state: RunState;
  /** Whether a command still expects an answer. */
  isOpen(command: string): boolean;
}

/** What a caller sends for an action: one of `result` and `error`, as it came. */
export interface Submission {
  /** May be missing where one action is open. */
  readonly actionId?: string;
  readonly result?: Json;
  readonly error?: Json;
}

/** A question of another owner's run. */
export interface ToAnswer {
  /** What `submit_result` takes as the id of the run. It is not the id, which would reach the run. */
  readonly workflow_id: string;
  readonly action_id: string;
  /** Of the workflow. */
  readonly name: string;
  readonly message: string;
  readonly schema: JsonSchema;
}

/** A response that refuses, as the journal stores it. */
export function refusal({ code, message, details }: Failure): JsonObject {
  return { ok: false, failure: { code, message, ...defined({ details }) } };
}
