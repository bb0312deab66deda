import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { bodyText, jsonText } from '../../catalogue/encode-text.js';
import { MASKED } from '../../catalogue/mask.js';
import type { LooseEnds } from '../../hosts/loose-ends.js';
import { howToAnswer } from '../runs/answer.js';
import type { Envelope, PendingAction } from '../runs/envelope.js';
import type { EnvelopeError } from '../runs/envelope-error.js';
import type { RunWarning } from '../runs/run-store.js';
import { FAILURE_META } from '../tool-result.js';
import type { ToolResult } from '../wire.js';
import { remainsIn, warningsOf } from './failure-text.js';
import type { OutputShape } from './schemas.js';
import { texts } from './texts.js';

/** Key of a run in a result's `_meta`: `{ workflow_id, hash }`. */
const RUN_META = 'stepwright/run';

/** Key of what a caller should know beside how the run stands: a list of `{ code, message }`. */
const WARNINGS_META = 'stepwright/warnings';

/** How a run stands, as the answer of a tool that looks after runs. */
export function envelopeResult(
  envelope: Envelope,
  given: readonly RunWarning[] = [],
  more: JsonObject = {},
): ToolResult {
  const all = [...given, ...warningsOf(looseEndsIn(envelope))];
  const isLate = given.some(({ code }) => code === 'W_NOT_USED');
  const notes = all.map(({ code, message }) => texts.warning(code, message));
  // What was sent for nothing must not look as if the run had taken it.
  const text = isLate ? [...notes, textOf(envelope)] : [textOf(envelope), ...notes];
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: { ...plain(envelope), ...more, ...noted(all, 'warnings') },
    _meta: { ...runMeta(envelope), ...noted(all, WARNINGS_META) },
  };
}

/** How a run stands, as the answer to whoever moves it on: one that fails is a result with `isError`. */
export function movedResult(envelope: Envelope, warnings: readonly RunWarning[] = []): ToolResult {
  return envelope.error === undefined
    ? envelopeResult(envelope, warnings)
    : failedResult(envelope, envelope.error, warnings);
}

/**
 * How a run ended or stands, as the answer of the workflow's own tool: its result, or the envelope. A failure is a result
 * with `isError`.
 *
 * @param onUnfit told when the result does not fit the output schema: then it is handed out in the envelope.
 */
export function toolResult(
  envelope: Envelope,
  { isWrapped, schema }: OutputShape,
  schemas: SchemaCompiler,
  onUnfit: () => void,
): ToolResult {
  switch (envelope.status) {
    case 'running':
    case 'waiting':
    case 'failed':
    case 'cancelled':
      return movedResult(envelope);
    case 'completed': {
      const value = envelope.result ?? null;
      const shaped = isWrapped ? { result: value } : value;
      const warnings = warningsOf(looseEndsIn(envelope));
      const fits = isJsonObject(shaped) && schemas.check(schema, shaped, 'usable').length === 0;
      // Without its secrets it may not fit, which is no fault of the workflow.
      const isWhole = !shown(value).includes(MASKED);
      if (!fits && isWhole && envelope.result !== undefined) onUnfit();
      const notes = warnings.map(({ code, message }) => texts.warning(code, message));
      return {
        // The result stays a text of its own: it may be read as JSON.
        content: [
          { type: 'text', text: shown(value) },
          ...(notes.length === 0 ? [] : [{ type: 'text', text: notes.join('\n') } as const]),
        ],
        structuredContent: fits ? shaped : { ...plain(envelope), ...noted(warnings, 'warnings') },
        _meta: { ...runMeta(envelope), ...noted(warnings, WARNINGS_META) },
      };
    }
    default:
      return envelope.status satisfies never;
  }
}

function failedResult(
  envelope: Envelope,
  { code, message, node, outcome_unknown, details, ...remains }: EnvelopeError,
  warnings: readonly RunWarning[],
): ToolResult {
  const result = envelopeResult(envelope, warnings);
  return {
    ...result,
    isError: true,
    _meta: {
      ...result._meta,
      [FAILURE_META]: {
        code,
        message,
        ...(node === undefined ? {} : { node }),
        ...(outcome_unknown === undefined ? {} : { outcomeUnknown: outcome_unknown }),
        ...(details === undefined ? {} : { details }),
        ...plain(remains),
      },
    },
  };
}

/** Warnings under this key, where there are any. */
function noted(warnings: readonly RunWarning[], key: string): JsonObject {
  return warnings.length === 0 ? {} : { [key]: warnings.map((warning) => ({ ...warning })) };
}

function looseEndsIn({ error, remains }: Envelope): LooseEnds {
  return error ?? remains ?? {};
}

function runMeta({ workflow_id, definition }: Envelope): JsonObject {
  return { [RUN_META]: { workflow_id, hash: definition.hash } };
}

/** A run that did not succeed has an error. */
const UNTOLD: EnvelopeError = { code: 'E_INTERNAL', message: '', partial: {} };

/** How a run stands, for a reader: what it asks, and how to answer. */
function textOf(envelope: Envelope): string {
  const { workflow_id: id, definition, status, cancelling, actions, result, error } = envelope;
  const { name } = definition;
  switch (status) {
    case 'waiting':
      return [texts.waiting(name, id), ...actions.map((action) => actionText(id, action))].join('\n\n');
    case 'running':
      return [
        cancelling === undefined
          ? [texts.running(name, id), ...stepsIn(envelope)].join('\n')
          : texts.cancelling(name, id),
        ...actions.map((action) => actionText(id, action)),
      ].join('\n\n');
    case 'completed':
      return [texts.completed(name, id), ...(result === undefined ? [] : [texts.result(result)])].join('\n');
    case 'failed':
    case 'cancelled': {
      const { code, message, node } = error ?? UNTOLD;
      return [
        texts.ended(name, status, node, code, message),
        ...(error === undefined ? [] : remainsIn(error)),
      ].join('\n');
    }
    default:
      return status satisfies never;
  }
}

/** The steps a run is at, a sentence each. */
function stepsIn({ running_steps: running = [], waiting_steps: waiting = [] }: Envelope): string[] {
  const waits = waiting.map(({ step_id, for: what, until }) => texts.waitingStep(step_id, what, until));
  return [
    ...(running.length === 0 ? [] : [texts.runningSteps(running)]),
    ...(waits.length === 0 ? [] : [texts.waitingSteps(waits)]),
  ];
}

function actionText(
  id: string,
  { action_id, step_id, parameters, schema, expires_at }: PendingAction,
): string {
  if ('duration' in parameters) return texts.time(action_id, parameters.message);
  const { message, type: mode, options } = parameters;
  const how = howToAnswer({ mode, ...(options === undefined ? {} : { options }) });
  return [
    texts.question(action_id, step_id, message),
    ...(schema === undefined ? [] : [texts.schema(schema)]),
    texts.submit(id, action_id, how),
    texts.submitError,
    ...(expires_at === undefined ? [] : [texts.expires(expires_at)]),
  ].join('\n');
}

function shown(value: Json): string {
  return typeof value === 'string' ? bodyText(value) : jsonText(value);
}

/** Envelopes are plain JSON; interfaces have no index signature. */
function plain(json: Envelope | Partial<EnvelopeError>): JsonObject {
  return json as unknown as JsonObject;
}
