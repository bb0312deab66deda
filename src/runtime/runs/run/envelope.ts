import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { Node } from '../../../graph/kinds/node.js';
import { PARTIAL_LIMIT } from '../../../graph/limits.js';
import type { Graph } from '../../../graph/model.js';
import { clip } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import type { Failure, RunState } from '../../engine/contract.js';
import { fieldsOf } from '../../engine/fields.js';
import {
  commandsOf,
  nodeRecord,
  outputOf,
  type Remains,
  remainsOf,
  type UndoneCall,
  type UnknownCall,
  undoneCallsOf,
} from '../../engine/read.js';
import { maskedFailure, maskMembers } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import type { Capability } from '../../tools/capabilities.js';
import { thrownText } from '../../tools/exceptions.js';
import { jsonSize } from '../../tools/to-json.js';
import type { ForkOrigin } from '../store/journal.js';
import { openActions } from './open-actions.js';

/** The state of a run as its caller gets it, the same from every tool and prompt. Plain JSON. */
export interface Envelope extends Partial<StepsInProgress> {
  readonly workflow_id: string;
  readonly definition: Definition;
  /** Of a run that was forked from another one. */
  readonly forked_from?: ForkOrigin;
  /** `running`: it continues by itself. `waiting`: it continues with an answer or at a time only. */
  readonly status: EnvelopeStatus;
  /** Of a running run that was cancelled, while its effects are undone. */
  readonly cancelling?: true;
  /** Of a running run that has failed, while its effects are undone. */
  readonly failing?: true;
  /** Calls that may have been made before the server stopped, and may not be repeated: the run does not continue past them. */
  readonly paused_steps?: readonly PausedStep[];
  /** Needs of the run that this server lacks: another one continues it. Of a run that is not over. */
  readonly missing_capabilities?: readonly Capability[];
  /** What is open now, oldest first: also while other steps of the run continue. */
  readonly actions: ReturnType<typeof openActions>;
  /** The one open action, where there is exactly one. */
  readonly action?: Envelope['actions'][number];
  /** Of a completed run. Missing for a value that is absent. */
  readonly result?: Json;
  /** Fields of the state at the end, of a workflow with fields of its own that no step ended with a value. */
  readonly state?: JsonObject;
  /** In answers: the result is too long for one. Its address, for `resources/read`, and its length as text. */
  readonly result_omitted?: { readonly uri: string; readonly length: number };
  /** Of a completed run that leaves something to be looked after. */
  readonly remains?: RemainingEffects;
  /** Of a failed or cancelled run. */
  readonly error?: EnvelopeError;
}

/** What a run is at now: steps by the keys of their nodes. */
interface StepsInProgress {
  /** Steps with a call, a read or an evaluation in flight. */
  readonly running_steps: readonly string[];
  readonly waiting_steps: readonly WaitingStep[];
}

interface WaitingStep {
  readonly step_id: string;
  /** An answer, a time, or the delay before the next attempt. */
  readonly for: 'answer' | 'time' | 'retry';
  /** When a time or a delay is over, RFC 3339. */
  readonly until?: string;
}

/** A call whose outcome is unknown, of a tool with `retrySafety: 'none'`. */
interface PausedStep {
  readonly step_id: string;
  readonly tool: string;
}

type EnvelopeStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** The workflow as it was when the run began. */
interface Definition {
  readonly name: string;
  readonly version?: string;
  readonly hash: string;
}

/** The state of a run, or why the request was refused: then nothing has changed. */
export type RunAnswer =
  | { readonly ok: true; readonly envelope: Envelope; readonly warnings?: readonly RunWarning[] }
  | { readonly ok: false; readonly failure: Failure };

/** Of a caller that does not see the run, only `accepted`. */
export type SubmitAnswer =
  | RunAnswer
  | { readonly ok: true; readonly accepted: true; readonly warnings?: readonly RunWarning[] };

/**
 * How a run continues: by calls or delays that end by themselves (`busy`), by answers and perhaps times (`asking`), by times
 * alone (`sleeping`), or not any more (`over`).
 */
export type LiveStatus = 'busy' | 'asking' | 'sleeping' | 'over';

/** What an envelope is computed from: the rows of a run, and what a process knows of its calls. */
interface RunView extends ActionView {
  /** What is kept of it beside its state. */
  readonly record: RecordView;
  /** Whether the run continues by itself. */
  readonly liveStatus: LiveStatus;
  readonly paused: readonly PausedStep[];
  /** Needs of the run that this process lacks. Default: it has all. */
  readonly missing?: readonly Capability[];
  /** Whether only steps of workflows may call a tool. Default: none is private. */
  readonly isPrivate?: (tool: string) => boolean;
}

type ActionView = Parameters<typeof openActions>[0];

type RecordView = ActionView['record'] & { readonly forkedFrom: ForkOrigin | undefined };

export function envelopeOf(view: RunView): Envelope {
  const { state, liveStatus, mask, paused, missing = [], record } = view;
  const { id, graphHash, status, result, cancelling } = state.run;
  const head = {
    ...{ workflow_id: id, definition: definitionOf(state.plan.graph, graphHash) },
    ...defined({ forked_from: record.forkedFrom }),
  };
  switch (status) {
    case 'running':
    case 'paused': {
      const actions = openActions(view);
      const [action] = actions;
      const isOne = actions.length === 1 && action !== undefined;
      return {
        ...head,
        status: liveStatus === 'busy' ? 'running' : 'waiting',
        ...(cancelling === undefined ? {} : { cancelling: true }),
        ...(isFailing(state) ? { failing: true } : {}),
        // Of a run that waits, the actions are all there is.
        ...(liveStatus === 'busy' ? stepsInProgress(state) : {}),
        ...(paused.length === 0 ? {} : { paused_steps: paused }),
        ...(missing.length === 0 ? {} : { missing_capabilities: missing }),
        actions,
        ...(isOne ? { action } : {}),
      };
    }
    case 'succeeded': {
      const remains = remainingEffectsOf({ mask, remains: remainsIn(view) });
      return {
        ...head,
        status: 'completed',
        actions: [],
        ...(result === undefined ? {} : { result: mask.result(result, state.run.endedBy) }),
        ...(endsWithState(state) ? { state: shownState(view) } : {}),
        ...(Object.keys(remains).length === 0 ? {} : { remains }),
      };
    }
    case 'failed':
    case 'cancelled':
      return { ...head, status, actions: [], error: errorOf({ state, mask, remains: remainsIn(view) }) };
    default:
      return status satisfies never;
  }
}

function endsWithState({ root, run }: RunState): boolean {
  return run.endedBy === undefined && root.workflow.plan.ownFields.size > 0;
}

/** The fields of the workflow at the top, without secrets. */
export function shownState({ state, mask }: Pick<RunView, 'state' | 'mask'>): JsonObject {
  const fields = Object.entries(fieldsOf(state)).map(
    ([name, value]) => [name, mask.json(value, { kind: 'ref', root: 'state', path: [name] })] as const,
  );
  return withoutSecretFields(state, Object.fromEntries(fields));
}

/** Fields of the state at the top by their names, without the values of those that are secret. */
function withoutSecretFields({ plan }: RunState, fields: JsonObject): JsonObject {
  const secrets = (plan.graph.state ?? []).flatMap(({ name, secret }) => (secret ? [name] : []));
  return maskMembers(fields, secrets);
}

/** Of a run that a fault has ended in this process. @param end missing where another process continues it. */
export function faultEnvelope(
  head: Pick<Envelope, 'workflow_id' | 'definition'>,
  end: { readonly fault: unknown; readonly isJournal: boolean; readonly mask: RunMask } | undefined,
): Envelope {
  if (end === undefined) return { ...head, actions: [], status: 'running' };
  const { fault, isJournal, mask } = end;
  const what = isJournal
    ? "The run's journal failed, and this server does not go on with the run"
    : 'The run failed inside the server';
  const message = mask.text(`${what}: ${clip(thrownText(fault))}`);
  const error = { code: isJournal ? 'E_JOURNAL' : 'E_INTERNAL', message, partial: {} };
  return { ...head, actions: [], status: 'failed', error };
}

/** Whether a run has failed, and is undone before it ends. */
function isFailing({ run, tables }: RunState): boolean {
  return run.cancelling === undefined && tables.existing('undoing')?.get('') !== undefined;
}

/** What a run that is over left behind, for its caller. */
function remainsIn({ state, isPrivate = () => false }: RunView): Remains {
  return remainsForCaller(remainsOf(state.plan, state), isPrivate);
}

export function definitionOf({ name, version }: Graph, hash: string): Definition {
  return { name, ...defined({ version }), hash };
}

/** Names the steps of a run that run and that wait. */
function stepsInProgress(state: RunState): StepsInProgress {
  const running = new Set<string>();
  const waiting: WaitingStep[] = [];
  for (const command of commandsOf(state)) {
    switch (command.kind) {
      case 'callTool':
        running.add(command.undoes ?? command.node);
        break;
      case 'readResource':
      case 'evaluate':
        running.add(command.node);
        break;
      case 'requestAction':
        waiting.push({ step_id: command.node, for: 'answer' });
        break;
      case 'startTimer': {
        const until = new Date(command.dueAt).toISOString();
        if (command.purpose === 'wait') waiting.push({ step_id: command.node, for: 'time', until });
        if (command.purpose === 'backoff') waiting.push({ step_id: command.node, for: 'retry', until });
        break;
      }
      default:
        command satisfies never;
    }
  }
  return { running_steps: [...running], waiting_steps: waiting };
}

/** Why a run failed or was cancelled, and which effects remain. */
interface EnvelopeError extends RemainingEffects, ReturnType<typeof shownUndone> {
  readonly code: string;
  readonly message: string;
  /** The step at the top of the workflow that it comes from. */
  readonly node?: string;
  /** A call of the run may have taken effect although it did not return: check before repeating it. */
  readonly outcome_unknown?: true;
  readonly details?: Json;
  /** Values of the steps at the top that had succeeded and were not undone, by step. Secrets are masked. */
  readonly partial: JsonObject;
  /** Succeeded steps with values that are too large to be shown. */
  readonly partial_omitted?: readonly string[];
  /** Steps at the top that had succeeded, and of which all or a part was undone. */
  readonly undone?: readonly string[];
}

interface EndedRun {
  readonly state: RunState;
  readonly mask: RunMask;
  readonly remains: Remains;
}

function errorOf(run: EndedRun): EnvelopeError {
  const { state, mask, remains } = run;
  const { failure = NO_FAILURE, failedNode } = state.run;
  const { code, message, outcomeUnknown, details } = maskedFailure(failure, mask);
  const isUnknown =
    outcomeUnknown === true ||
    remains.unknown.length > 0 ||
    remains.notUndone.some((call) => call.outcomeUnknown);
  return {
    code,
    message,
    ...defined({ node: failedNode }),
    ...(isUnknown ? { outcome_unknown: true } : {}),
    ...defined({ details }),
    ...partialOf(run),
    ...shownUndone(undoneCallsOf(state), mask),
    ...remainingEffectsOf(run),
  };
}

/** A run that did not succeed says why; this is never shown. */
const NO_FAILURE: Failure = { code: 'E_INTERNAL', message: 'The run ended without saying why.' };

type PartialOutputs = Pick<EnvelopeError, 'partial' | 'partial_omitted' | 'undone'>;

function partialOf({ state, mask, remains }: EndedRun): PartialOutputs {
  const partial: [string, Json][] = [];
  const omitted: string[] = [];
  const undone: string[] = [];
  for (const node of state.plan.graph.nodes) {
    const { id } = node;
    if (nodeRecord(state, id)?.status !== 'succeeded') continue;
    const value = outputOf(state, id);
    if (remains.steps.includes(id)) undone.push(id);
    else if (value === undefined) continue;
    else if (jsonSize(value, PARTIAL_LIMIT_BYTES) > PARTIAL_LIMIT_BYTES) omitted.push(id);
    else {
      const shown = valueOfStep(state, node, mask.outputOf(id, value));
      if (shown !== undefined) partial.push([id, shown]);
    }
  }
  return {
    partial: Object.fromEntries(partial),
    ...(omitted.length === 0 ? {} : { partial_omitted: omitted }),
    ...(undone.length === 0 ? {} : { undone }),
  };
}

/** The value of a step as its workflow reads it: that of a `set` with one field is what was written to the field. */
function valueOfStep(state: RunState, node: Node, output: Json): Json | undefined {
  if (node.kind !== 'set' || !isJsonObject(output))
    return withoutSecretFields(state, { [node.writes ?? '']: output })[node.writes ?? ''];
  const fields = withoutSecretFields(state, output);
  return node.updates.length === 1 ? Object.values(fields)[0] : fields;
}

/** Side effects that remain and unknown outcomes of a run that is over. Callers have to look after them. */
export interface RemainingEffects {
  /** Calls that were to be undone and were not, or not for sure, with what would undo them. */
  readonly not_undone?: readonly NotUndone[];
  /** How many of them are not listed. */
  readonly not_undone_omitted?: number;
  /**
   * Calls that may have taken effect without an answer: they were cancelled or timed out. Without those that were to undo
   * one of `not_undone`.
   */
  readonly unknown_outcomes?: readonly UnknownCall[];
  /** How many of them are not listed. */
  readonly unknown_outcomes_omitted?: number;
  /** Items that failed in loops that continue without them: their values are null, or `{ error }`. */
  readonly failed_items?: readonly ShownItem[];
  /** How many of them are not listed. */
  readonly failed_items_omitted?: number;
}

interface ShownItem {
  readonly step: string;
  /** Counted from 0. */
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

/** A call that was to be undone. Its side effect remains, certainly or possibly. */
interface NotUndone {
  /** Key of the node that made the call. */
  readonly step: string;
  /** The tool that undoes it. Missing for a call without a compensation. */
  readonly tool?: string;
  /** What that tool is called with. Missing where it could not be evaluated. */
  readonly input?: JsonObject;
  /** The outcome of the call that was to undo it is unknown: it may be undone. */
  readonly outcome_unknown?: true;
}

/** Calls whose effects were undone, for a caller. */
interface UndoneCalls {
  /** With what undid them, the last to succeed first. */
  readonly undone_calls?: readonly ShownUndone[];
  /** How many of them are not listed. */
  readonly undone_calls_omitted?: number;
}

interface ShownUndone {
  /** Key of the node that made the call. */
  readonly step: string;
  readonly tool: string;
  /** Missing where it is too large to be shown. */
  readonly input?: JsonObject;
}

/** A value with more bytes of JSON than this is named, and not shown. */
export const PARTIAL_LIMIT_BYTES = PARTIAL_LIMIT;

/** So many calls are listed that were not undone, or whose outcome is unknown, and so many failed items. */
const LISTED_CALLS = 50;

/** The remains of a run for a caller, who cannot make the calls of private tools that would undo something. */
export function remainsForCaller(remains: Remains, isPrivate: (tool: string) => boolean): Remains {
  const isHidden = ({ tool }: { readonly tool?: string }) => tool !== undefined && isPrivate(tool);
  if (!remains.notUndone.some(isHidden)) return remains;
  const notUndone = remains.notUndone.map((each) => {
    if (!isHidden(each)) return each;
    const { tool: _tool, input: _input, ...rest } = each;
    return rest;
  });
  return { ...remains, notUndone };
}

/** The side effects and unknown outcomes that remain: usually none. */
export function remainingEffectsOf({ mask, remains }: Pick<EndedRun, 'mask' | 'remains'>): RemainingEffects {
  const { notUndone, unknown, failedItems } = remains;
  return {
    ...listed('not_undone', notUndone, (call): NotUndone => {
      const { step, tool, input, outcomeUnknown } = call;
      return {
        step,
        ...defined({ tool }),
        ...(isShown(input) ? { input: mask.notUndone({ ...call, input }) } : {}),
        ...(outcomeUnknown === undefined ? {} : { outcome_unknown: true }),
      };
    }),
    ...listed('unknown_outcomes', unknown, (call) => call),
    ...listed('failed_items', failedItems, ({ step, index, failure }): ShownItem => {
      const { code, message } = maskedFailure(failure, mask);
      return { step, index, code, message };
    }),
  };
}

/** Lists undone calls as {@link remainingEffectsOf} lists those that remain. */
function shownUndone(calls: readonly UndoneCall[], mask: RunMask): UndoneCalls {
  return listed('undone_calls', calls, (call): ShownUndone => {
    const { step, tool, input } = call;
    return { step, tool, ...(isShown(input) ? { input: mask.notUndone(call) } : {}) };
  });
}

function isShown(input: JsonObject | undefined): input is JsonObject {
  return input !== undefined && jsonSize(input, PARTIAL_LIMIT_BYTES) <= PARTIAL_LIMIT_BYTES;
}

/** The first items of a list under its name, and how many are omitted. No member for an empty list. */
function listed<Name extends string, Item, Shown>(
  name: Name,
  items: readonly Item[],
  show: (item: Item) => Shown,
): { readonly [Key in Name]?: readonly Shown[] } {
  if (items.length === 0) return {};
  const omitted = items.length - LISTED_CALLS;
  const members: Record<string, unknown> = {
    [name]: items.slice(0, LISTED_CALLS).map(show),
    ...(omitted > 0 ? { [`${name}_omitted`]: omitted } : {}),
  };
  return members as { readonly [Key in Name]?: readonly Shown[] };
}
