import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, jsonOf } from '../../../graph/json.js';
import { jsonText } from '../../../graph/printable-text.js';
import { JSON_RESPONSE, WORK_RESULTS } from '../../../print/agent-texts.js';
import type { ActionDetails } from '../../engine/actions.js';
import type { ActionKind, Failure } from '../../engine/contract.js';
import { normalizeResult } from '../../tools/call-result.js';

// An action is what a run waits for from outside. A further kind of action is a row of ACTION_KINDS.

/** An answer as the engine takes it. */
export type Answer =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'failure'; readonly failure: Failure };

/** How actions of a kind are answered. */
interface AnswerForm {
  /** What to send, in one sentence. */
  how(options: readonly string[]): string;
  /** What a result may mean, the likeliest first. */
  meanings(result: Json): readonly Answer[];
  /** The form that a client shows to its user: one of the schema, one without fields, or none. */
  readonly form: 'schema' | 'empty' | 'none';
}

const FITTING: AnswerForm = {
  how: () => 'Send a result that fits the schema of the action.',
  meanings: (result) => [value(result)],
  form: 'schema',
};

/** A shorthand of this type is short for an object with one member. */
function short(type: 'string' | 'boolean', member: string): AnswerForm['meanings'] {
  return (result) =>
    typeof result === type ? [value(result), value({ [member]: result })] : [value(result)];
}

export const ACTION_KINDS: Readonly<Record<ActionKind, AnswerForm>> = {
  info: {
    how: () => 'Send no result at all, or {"acknowledged": true}.',
    meanings: (result) =>
      result === null || result === true ? [value(result), value({ acknowledged: true })] : [value(result)],
    // There is nothing to fill in: to accept is the answer.
    form: 'empty',
  },
  confirm: {
    how: () => 'Send true or false, or {"confirmed": true}.',
    meanings: short('boolean', 'confirmed'),
    form: 'schema',
  },
  text: {
    how: () => 'Send the text, or {"input": "the text"}.',
    meanings: short('string', 'input'),
    form: 'schema',
  },
  choice: {
    how: (options) =>
      `Send one of ${options.map((option) => jsonText(option)).join(', ')}, or {"selected": "that one"}.`,
    meanings: short('string', 'selected'),
    form: 'schema',
  },
  yield: FITTING,
  model: {
    ...FITTING,
    how: () => 'Send the value as the result: JSON that fits the schema of the action.',
    // It is for a model: no person is asked.
    form: 'none',
  },
  shell: { ...FITTING, how: () => WORK_RESULTS.shell, form: 'none' },
  mcp_call: { how: () => WORK_RESULTS.mcp_call, meanings: toolResult, form: 'none' },
  step: { how: () => WORK_RESULTS.step, meanings: toolResult, form: 'none' },
  delegate: { how: () => WORK_RESULTS.delegate, meanings: responses, form: 'none' },
};

function value(result: Json): Answer {
  return { kind: 'value', value: result };
}

/** The value of a tool is that of its `CallToolResult`, where it comes as one. */
function toolResult(result: Json): readonly Answer[] {
  const normal = normalizeResult(result);
  return [normal.ok ? value(normal.value) : { kind: 'failure', failure: normal.failure }];
}

/** The response of an agent may come alone, and JSON in it as text, in a fence or without one. */
function responses(result: Json): readonly Answer[] {
  const answer = isJsonObject(result) && 'response' in result ? result : { response: result };
  const { response } = answer;
  const parsed = typeof response === 'string' ? jsonIn(response) : undefined;
  return [
    // A text may also hold the object: it is read so before it counts as the response.
    ...(typeof result === 'string' ? [value(result)] : []),
    value(answer),
    ...(parsed === undefined ? [] : [value({ ...answer, response: parsed })]),
  ];
}

/** The JSON that a text is, with or without a fence around it. */
export function jsonIn(text: string): Json | undefined {
  const [, fenced] = /^```\w*\r?\n([\s\S]*)\n```$/.exec(text.trim()) ?? [];
  return jsonOf(fenced ?? text);
}

/** How an action is answered, in one sentence. */
export function howToAnswer(request: ActionDetails, schema: unknown): string {
  if (request.type === 'delegate' && !hasTextResponse(schema)) return JSON_RESPONSE;
  if (request.type !== 'prompt') return ACTION_KINDS[request.type].how([]);
  const { type: mode, options = [] } = request.parameters;
  return ACTION_KINDS[mode].how(options);
}

/** Whether a task has the schema that it has without one of its author. */
function hasTextResponse(schema: unknown): boolean {
  const { properties } = schema as { readonly properties?: { readonly response?: JsonSchema } };
  return properties?.response?.type === 'string';
}

/** What a caller sends for an action: one of `result` and `error`, as it came. */
export interface Submission {
  /** May be missing where one action is open. */
  readonly actionId?: string;
  /** Of an agent: its child. */
  readonly child?: string;
  /** Of an agent: the step of the action, as it knows it. */
  readonly stepId?: string;
  readonly result?: Json;
  readonly error?: Json;
  /** Of a call that the caller made itself: its tool, with what that returned as `result`. */
  readonly tool?: string;
  /** Its input. */
  readonly args?: JsonObject;
  /** Of such a call: equal for a request that is sent again. */
  readonly requestKey?: string;
  /** The server tries the step again. */
  readonly retry?: true;
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
