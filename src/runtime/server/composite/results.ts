import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { describeAnswerers, isForOthers } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import { MASKED } from '../../../graph/printable-text.js';
import { howToAnswer } from '../../runs/actions/action.js';
import type { Envelope, EnvelopeAction, EnvelopeError, RunWarning } from '../../runs/run/envelope.js';
import type { NotUndone, RemainingEffects } from '../../runs/run/side-effects.js';
import { constructTexts } from '../../trace/texts.js';
import { FAILURE_META, type ToolResult } from '../wire.js';
import { shown } from './long-results.js';
import type { OutputShape } from './served-workflows.js';
import { workflowToolTexts } from './workflow-tool-texts.js';

/** Key of a run in a result's `_meta`: `{ workflow_id, hash }`. */
const RUN_META = 'stepwright/run';

/** Key of the warnings: a list of `{ code, message }`. */
const WARNINGS_META = 'stepwright/warnings';

/** The envelope, as the result of a tool that manages runs. */
export function envelopeResult(
  envelope: Envelope,
  warnings: readonly RunWarning[] = [],
  more: JsonObject = {},
): ToolResult {
  const all = [...warnings, ...warningsOf(remainingEffectsIn(envelope))];
  const isLate = warnings.some(({ code }) => code === 'W_NOT_USED');
  const notes = all.map(({ code, message }) => workflowToolTexts.warning(code, message));
  // What was sent for nothing must not look as if the run had taken it.
  const text = isLate ? [...notes, textOf(envelope)] : [textOf(envelope), ...notes];
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: { ...plain(envelope), ...more, ...warningsAs(all, 'warnings') },
    _meta: { ...runMeta(envelope), ...warningsAs(all, WARNINGS_META) },
  };
}

/** The answer of a caller that is not the owner of the run was accepted. @param id as the caller sent it. */
export function acceptedResult(id: string, warnings: readonly RunWarning[] = []): ToolResult {
  const notes = warnings.map(({ code, message }) => workflowToolTexts.warning(code, message));
  return {
    content: [{ type: 'text', text: [workflowToolTexts.accepted, ...notes].join('\n') }],
    structuredContent: { workflow_id: id, status: 'accepted', ...warningsAs(warnings, 'warnings') },
  };
}

/** The envelope, as the result of a tool that advances the run: a failed run is a result with `isError`. */
export function movedResult(envelope: Envelope, warnings: readonly RunWarning[] = []): ToolResult {
  return envelope.error === undefined
    ? envelopeResult(envelope, warnings)
    : failedResult(envelope, envelope.error, warnings);
}

/**
 * The result of the workflow's own tool: that of the run, or the envelope. A failure is a result
 * with `isError`.
 *
 * @param onUnfit called when the result does not fit the output schema: then it is handed out in the envelope.
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
      const warnings = warningsOf(remainingEffectsIn(envelope));
      const fits = isJsonObject(shaped) && schemas.check(schema, shaped, 'usable').length === 0;
      // Without its secrets it may not fit, which is not a fault of the workflow.
      const isWhole = !shown(value).includes(MASKED);
      if (!fits && isWhole && envelope.result !== undefined) onUnfit();
      const notes = warnings.map(({ code, message }) => workflowToolTexts.warning(code, message));
      return {
        // The result stays a text of its own: it may be read as JSON.
        content: [
          {
            type: 'text',
            text: envelope.result === undefined ? textOf(envelope) : shown(value),
          },
          ...(notes.length === 0 ? [] : [{ type: 'text', text: notes.join('\n') } as const]),
        ],
        structuredContent: fits ? shaped : { ...plain(envelope), ...warningsAs(warnings, 'warnings') },
        _meta: { ...runMeta(envelope), ...warningsAs(warnings, WARNINGS_META) },
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
        ...defined({ node, outcomeUnknown: outcome_unknown, details }),
        ...plain(remains),
      },
    },
  };
}

/** Warnings under this key, where there are any. */
function warningsAs(warnings: readonly RunWarning[], key: string): JsonObject {
  return warnings.length === 0 ? {} : { [key]: warnings.map((warning) => ({ ...warning })) };
}

function remainingEffectsIn({ error, remains }: Envelope): RemainingEffects {
  return error ?? remains ?? {};
}

function runMeta({ workflow_id, definition }: Envelope): JsonObject {
  return { [RUN_META]: { workflow_id, hash: definition.hash } };
}

/** A run that did not succeed has an error. */
const UNTOLD: EnvelopeError = { code: 'E_INTERNAL', message: '', partial: {} };

function missingIn({ missing_tools: missing }: Envelope): readonly string[] {
  return missing === undefined ? [] : [workflowToolTexts.missingTools(missing)];
}

/** The state of a run as text: what it asks, and how to answer. */
function textOf(envelope: Envelope): string {
  const { workflow_id: id, definition, status, cancelling, actions, result, error } = envelope;
  const { name } = definition;
  switch (status) {
    case 'waiting':
      return [
        envelope.paused_steps === undefined || actions.length > 0 ? workflowToolTexts.waiting(name, id) : '',
        ...(envelope.paused_steps ?? []).map(({ step_id, tool }) =>
          workflowToolTexts.paused(name, id, step_id, tool),
        ),
        ...missingIn(envelope),
        ...actions.map((action) => actionText(id, action)),
      ]
        .filter((text) => text !== '')
        .join('\n\n');
    case 'running':
      return [
        cancelling === undefined
          ? [workflowToolTexts.running(name, id), ...stepsIn(envelope)].join('\n')
          : workflowToolTexts.cancelling(name, id),
        ...missingIn(envelope),
        ...actions.map((action) => actionText(id, action)),
      ].join('\n\n');
    case 'completed':
      return [
        workflowToolTexts.completed(name, id),
        ...(result === undefined ? [] : [workflowToolTexts.result(result)]),
      ].join('\n');
    case 'failed':
    case 'cancelled': {
      const { code, message, node } = error ?? UNTOLD;
      return [
        workflowToolTexts.ended(name, status, node, code, message),
        ...(error === undefined ? [] : remainsIn(error)),
      ].join('\n');
    }
    default:
      return status satisfies never;
  }
}

/** The steps a run is at, a sentence each. */
function stepsIn({ running_steps: running = [], waiting_steps: waiting = [] }: Envelope): string[] {
  const waits = waiting.map(({ step_id, for: what, until }) =>
    workflowToolTexts.waitingStep(step_id, what, until),
  );
  return [
    ...(running.length === 0 ? [] : [workflowToolTexts.runningSteps(running)]),
    ...(waits.length === 0 ? [] : [workflowToolTexts.waitingSteps(waits)]),
  ];
}

function actionText(
  id: string,
  { action_id, step_id, parameters, schema, expires_at, answer_by, refused_values = [] }: EnvelopeAction,
): string {
  if ('duration' in parameters) return workflowToolTexts.time(action_id, parameters.message);
  const { message, type: mode, options } = parameters;
  const how = howToAnswer({ mode, ...defined({ options }) });
  return [
    workflowToolTexts.question(action_id, step_id, message),
    ...(schema === undefined ? [] : [workflowToolTexts.schema(schema)]),
    ...refused_values.map(({ problems }, index) => workflowToolTexts.refusedValue(index + 1, problems)),
    ...(isForOthers(answer_by)
      ? [workflowToolTexts.answeredBy(id, action_id, describeAnswerers(answer_by))]
      : [workflowToolTexts.submit(id, action_id, how), workflowToolTexts.submitError]),
    ...(expires_at === undefined ? [] : [workflowToolTexts.expires(expires_at)]),
  ].join('\n');
}

/** Envelopes are plain JSON; interfaces have no index signature. */
function plain(json: Envelope | Partial<EnvelopeError>): JsonObject {
  return json as unknown as JsonObject;
}

/** So many calls of a kind are named in a text. Programs find more of them in the envelope. */
const NAMED = 10;

/** What a run that failed or was cancelled leaves behind, a sentence each. */
export function remainsIn(error: EnvelopeError): string[] {
  const { partial, partial_omitted = [], undone = [] } = error;
  const finished = [...Object.keys(partial), ...partial_omitted];
  return [
    ...loopsIn(error),
    ...undoingIn(error),
    ...(undone.length === 0 ? [] : [workflowToolTexts.undoneSteps(undone)]),
    ...(finished.length === 0 ? [] : [workflowToolTexts.finishedSteps(finished)]),
  ];
}

/** Where in loops it failed, the outermost first. The details of an item are inside those of its loop. */
function loopsIn({ details }: EnvelopeError): string[] {
  const sentences: string[] = [];
  for (let within = details; isJsonObject(within); within = within.details) {
    const { index, partial, partial_omitted: omitted } = within;
    if (typeof index !== 'number' || !isJsonObject(partial)) continue;
    const finished = Object.keys(partial).length + (typeof omitted === 'number' ? omitted : 0);
    sentences.push(workflowToolTexts.failedItem(index, finished));
  }
  return sentences;
}

/** What somebody has to look after, now that the run does not. */
export function warningsOf({
  not_undone = [],
  not_undone_omitted = 0,
  unknown_outcomes = [],
  unknown_outcomes_omitted = 0,
  failed_items = [],
  failed_items_omitted = 0,
}: RemainingEffects): RunWarning[] {
  const warnings: RunWarning[] = [];
  if (not_undone.length > 0) {
    warnings.push({ code: 'W_NOT_UNDONE', message: standingText(not_undone, not_undone_omitted) });
  }
  if (unknown_outcomes.length > 0) {
    const calls = unknown_outcomes
      .slice(0, NAMED)
      .map(({ step, tool }) => workflowToolTexts.unknownCall(step, tool));
    const more = unknown_outcomes.length + unknown_outcomes_omitted - calls.length;
    warnings.push({ code: 'W_OUTCOME_UNKNOWN', message: workflowToolTexts.outcomeUnknown(calls, more) });
  }
  if (failed_items.length > 0) {
    const items = failed_items.slice(0, NAMED).map((item) => workflowToolTexts.failedItemOf(item));
    const more = failed_items.length + failed_items_omitted - items.length;
    warnings.push({ code: 'W_ITEMS_FAILED', message: workflowToolTexts.failedItems(items, more) });
  }
  return warnings;
}

/** Effects that remain for sure come before those that may have been undone. */
function standingText(calls: readonly NotUndone[], omitted: number): string {
  const shown = calls.slice(0, NAMED);
  const more = calls.length + omitted - shown.length;
  const named = (isUnsure: boolean): string[] =>
    shown
      .filter(({ outcome_unknown = false }) => outcome_unknown === isUnsure)
      .map(({ step, tool, input }) => workflowToolTexts.remainingCall(step, tool, input));
  return workflowToolTexts.notUndone(named(false), named(true), more);
}

/** Codes of failures whose details say how undoing went. */
const TELLS_UNDOING: ReadonlySet<string> = new Set(['E_CANCELLED', 'E_PARTIAL_FAILURE', 'E_COMPENSATION']);

/** How undoing went, where the failure says so. Details of containers are around its own. */
function undoingIn({ code, details }: EnvelopeError): string[] {
  if (!TELLS_UNDOING.has(code)) return [];
  for (let within = details; isJsonObject(within); within = within.details) {
    const report = ownProperty(within, 'compensation');
    if (isJsonObject(report)) return [reportText(report)];
  }
  return [];
}

function reportText({ done, failed, not_run }: { readonly [key: string]: Json }): string {
  const faults = listIn(failed).flatMap((fault) => {
    if (!isJsonObject(fault) || !isJsonObject(fault.failure)) return [];
    return [
      {
        tool: textIn(fault.tool),
        why: textIn(fault.failure.message),
        isUnknown: fault.failure.outcome_unknown === true,
      },
    ];
  });
  const shownFaults = faults.slice(0, NAMED);
  return constructTexts.undoReport(listIn(done).map(textIn), shownFaults, listIn(not_run).map(textIn));
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
