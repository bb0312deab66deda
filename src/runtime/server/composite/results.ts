import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { describeAnswerers, isForOthers, needsPage } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import { clip, jsonText, MASKED, oneLine } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { workText } from '../../../print/agent-texts.js';
import { howToAnswer } from '../../runs/actions/action.js';
import type { Envelope, RemainingEffects } from '../../runs/run/envelope.js';
import { capabilityText } from '../../tools/capabilities.js';
import { undoText } from '../../trace/sentences.js';
import { FAILURE_META, type ToolResult } from '../wire.js';
import { shown } from './long-results.js';
import type { OutputShape } from './served-workflows.js';

/** Why a run failed or was cancelled. */
type EnvelopeError = NonNullable<Envelope['error']>;

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
  const notes = all.map(warningLine);
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
  const lines = ['The answer was accepted.', ...warnings.map(warningLine)];
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
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
      const notes = warnings.map(warningLine);
      // The same as the structured content, for clients that read texts alone. A text is not read as JSON.
      const text = shown(fits && typeof value !== 'string' ? shaped : value);
      return {
        content: [
          { type: 'text', text: envelope.result === undefined ? textOf(envelope) : text },
          // The result stays a text of its own: it may be read as JSON.
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

function warningLine({ code, message }: RunWarning): string {
  return `${code}: ${message}`;
}

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

function missingIn({ missing_capabilities: missing }: Envelope): readonly string[] {
  if (missing === undefined) return [];
  const all = missing.map(capabilityText).join(' and ');
  return [
    `This server does not have ${all}, which the run needs: answers are stored, and a server that has it continues the run.`,
  ];
}

/** The state of a run as text: what it asks, and how to answer. */
export function textOf(envelope: Envelope): string {
  const { workflow_id: id, definition, status, actions, result, error } = envelope;
  const workflow = `Workflow '${clip(definition.name)}'`;
  const askLater = `workflow_id: ${id}\nAsk for it with get_workflow_status.`;
  switch (status) {
    case 'waiting':
      return [
        envelope.paused_steps === undefined || actions.length > 0
          ? `${workflow} waits. workflow_id: ${id}`
          : '',
        ...(envelope.paused_steps ?? []).map(
          ({ step_id, tool }) =>
            `Workflow '${definition.name}' is paused at step '${step_id}' (run '${id}'): the server stopped while '${tool}' was called, whether it took effect is unknown, and it may not be repeated. Check what it did; cancel_workflow ends the run.`,
        ),
        ...missingIn(envelope),
        ...actions.map((action) => actionText(id, action)),
      ]
        .filter((text) => text !== '')
        .join('\n\n');
    case 'running':
      return [
        envelope.cancelling || envelope.failing
          ? `${workflow} ${envelope.cancelling ? 'was cancelled' : 'failed'}; undoing is in progress. ${askLater}`
          : [`${workflow} is still running. ${askLater}`, ...stepsIn(envelope)].join('\n'),
        ...missingIn(envelope),
        ...actions.map((action) => actionText(id, action)),
      ].join('\n\n');
    case 'completed':
      return [
        `${workflow} is completed. workflow_id: ${id}`,
        ...(result === undefined ? [] : [`Result: ${jsonText(result)}`]),
      ].join('\n');
    case 'failed':
    case 'cancelled': {
      const { code, message, node } = error ?? UNTOLD;
      const how = status === 'cancelled' ? 'was cancelled' : 'failed';
      const at = node === undefined ? '' : ` at step '${clip(node)}'`;
      return [
        `${workflow} ${how}${at}: ${oneLine(message)} (${code})`,
        ...(error === undefined ? [] : remainsIn(error)),
      ].join('\n');
    }
    default:
      return status satisfies never;
  }
}

/** The steps a run is at, a sentence each. */
function stepsIn({ running_steps: running = [], waiting_steps: waiting = [] }: Envelope): string[] {
  const waits = waiting.map(({ step_id, for: what, until = '' }) => {
    const how = { answer: 'for an answer', time: `until ${until}`, retry: `to be tried again at ${until}` };
    return `${clip(step_id)} (${how[what]})`;
  });
  return [
    ...(running.length === 0 ? [] : [`Running: ${firstOf(running)}.`]),
    ...(waits.length === 0 ? [] : [`Waiting: ${firstOf(waits)}.`]),
  ];
}

function firstOf(steps: readonly string[]): string {
  return withMore(steps.slice(0, NAMED).map(clip), Math.max(0, steps.length - NAMED));
}

function withMore(parts: readonly string[], more: number): string {
  return `${parts.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function actionText(id: string, open: Envelope['actions'][number]): string {
  const { action_id, step_id, schema, expires_at, answer_by, page_url, refused_values = [] } = open;
  if (open.type === 'wait' || 'children' in open.parameters)
    return `Action '${clip(action_id)}': ${requestText(open)}`;
  const how = howToAnswer(open, schema);
  const [run, action] = [jsonText(id), jsonText(action_id)];
  return [
    `Action '${action_id}' of step '${clip(step_id)}' ${requestText(open)}`,
    ...(schema === undefined ? [] : [`The answer's schema: ${jsonText(schema as Json)}`]),
    ...refused_values.map(
      ({ problems }, index) =>
        `Try ${index + 1} of the model did not fit: ${problems.map((problem) => oneLine(problem)).join('; ')}`,
    ),
    ...(needsPage(answer_by)
      ? [
          `Only ${describeAnswerers(answer_by ?? [])} may answer${page_url === undefined ? '' : `: ${page_url}`}. Show the user this address, and do not open it yourself; submit_result is refused. Ask for the state with get_workflow_status { "workflow_id": ${run} }.`,
        ]
      : isForOthers(answer_by)
        ? [
            `Somebody else answers: only ${describeAnswerers(answer_by)} may, and finds it with list_workflows. Do not ask the user. Ask for the state with get_workflow_status { "workflow_id": ${run} }. A permitted caller answers action ${action} with submit_result.`,
          ]
        : [
            `Answer with submit_result { "workflow_id": ${run}, "action_id": ${action}, "result": … }. ${how}`,
            'If it cannot be answered, send "error": { "message": … } in place of the result.',
          ]),
    ...(page_url === undefined || needsPage(answer_by)
      ? []
      : [`A person can answer on this page as well: ${page_url}`]),
    ...(expires_at === undefined ? [] : [`It expires at ${expires_at}.`]),
  ].join('\n');
}

/** An action, of whichever run. */
type Request<A = Envelope['actions'][number]> = A extends unknown ? Omit<A, 'workflow_id'> : never;

/** What an action asks for: completes "Step 'x' …" where it is answered. */
export function requestText(request: Request): string {
  if (request.type === 'wait')
    return `waits until ${request.resume_at}: ${jsonText(request.parameters.message)}`;
  if (request.type === 'prompt') return `asks: ${jsonText(request.parameters.message)}`;
  if (!('children' in request.parameters)) return workText(request as Parameters<typeof workText>[0]);
  const { instructions, children } = request.parameters;
  const prompts = children.map(
    ({ workflow_id, prompt }) => `The prompt of child ${workflow_id}:\n\n${prompt}`,
  );
  return [instructions, ...prompts].join('\n\n');
}

/** Envelopes are plain JSON; interfaces have no index signature. */
function plain(json: Envelope | Partial<EnvelopeError>): JsonObject {
  return json as unknown as JsonObject;
}

/** So many steps and calls of a kind are named in a text. Programs find more of them in the envelope. */
const NAMED = 10;

/** What a run that failed or was cancelled leaves behind, a sentence each. */
export function remainsIn(error: EnvelopeError): string[] {
  const { partial, partial_omitted = [], undone = [] } = error;
  const finished = [...Object.keys(partial), ...partial_omitted];
  return [
    ...loopsIn(error),
    ...undoingIn(error),
    ...(undone.length === 0
      ? []
      : [`Finished before that and undone, all or a part of it: ${undone.map(clip).join(', ')}.`]),
    ...(finished.length === 0 ? [] : [`Finished before that: ${finished.map(clip).join(', ')}.`]),
  ];
}

/** Where in loops it failed, the outermost first. The details of an item are inside those of its loop. */
function loopsIn({ details }: EnvelopeError): string[] {
  const sentences: string[] = [];
  for (let within = details; isJsonObject(within); within = within.details) {
    const { index, partial, partial_omitted: omitted } = within;
    if (typeof index !== 'number' || !isJsonObject(partial)) continue;
    const finished = Object.keys(partial).length + (typeof omitted === 'number' ? omitted : 0);
    const items = finished === 1 ? 'item' : 'items';
    sentences.push(`In the loop, item ${index} failed (the first is 0); ${finished} ${items} had finished.`);
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
    const calls = unknown_outcomes.slice(0, NAMED).map(({ step, tool }) => `${tool} (step '${clip(step)}')`);
    const named = withMore(calls, unknown_outcomes.length + unknown_outcomes_omitted - calls.length);
    warnings.push({
      code: 'W_OUTCOME_UNKNOWN',
      message: `Without an answer, but may have taken effect all the same: ${named}. Check before repeating.`,
    });
  }
  if (failed_items.length > 0) {
    const items = failed_items
      .slice(0, NAMED)
      .map(
        ({ step, index, code, message }) =>
          `item ${index} of step '${clip(step)}': ${clip(message)} (${code})`,
      );
    const named = withMore(items, failed_items.length + failed_items_omitted - items.length);
    warnings.push({
      code: 'W_ITEMS_FAILED',
      message: `Items failed, and are null in the result, or \`{ error }\` with \`onItemError: report\` (the first is 0): ${named}.`,
    });
  }
  return warnings;
}

/** Effects that remain for sure come before those that may have been undone. */
function standingText(calls: NonNullable<RemainingEffects['not_undone']>, omitted: number): string {
  const shown = calls.slice(0, NAMED);
  const more = calls.length + omitted - shown.length;
  const named = (isUnsure: boolean): string[] =>
    shown.filter(({ outcome_unknown = false }) => outcome_unknown === isUnsure).map(remainingCall);
  const [sure, unsure] = [named(false), named(true)];
  return [
    ...(sure.length === 0 ? [] : [`Not undone, and still in effect: ${sure.join(', ')}.`]),
    ...(unsure.length === 0 ? [] : [`May have been undone, check first: ${unsure.join(', ')}.`]),
    ...(more === 0 ? [] : [`And ${more} more.`]),
  ].join(' ');
}

function remainingCall({ step, tool, input }: NonNullable<RemainingEffects['not_undone']>[number]): string {
  const parameters = input === undefined ? '' : ` ${clip(jsonText(input as Json))}`;
  const how = tool === undefined ? 'no tool is known to undo it' : `to undo it: ${tool}${parameters}`;
  return `step '${clip(step)}' (${how})`;
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
  return undoText(listIn(done).map(textIn), shownFaults, listIn(not_run).map(textIn));
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
