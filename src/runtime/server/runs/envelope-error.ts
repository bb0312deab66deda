import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { jsonSize } from '../../catalogue/json-size.js';
import { maskedFailure } from '../../catalogue/mask.js';
import type { Failure, RunState } from '../../engine/contract.js';
import type { Remains, UnknownCall } from '../../engine/remains.js';
import type { RunMask } from '../../hosts/run-mask.js';

/** What somebody has to look after once a run is over, however it ended. */
export interface LooseEnds {
  /** Calls that were to be undone and were not, or not for sure, with what would undo them. */
  readonly not_undone?: readonly NotUndone[];
  /** How many of them are not listed. */
  readonly not_undone_omitted?: number;
  /**
   * Calls that may have taken effect although nothing came back: they were given up, or had no answer in time. Not those
   * that were to undo one of `not_undone`.
   */
  readonly unknown_outcomes?: readonly UnknownCall[];
  /** How many of them are not listed. */
  readonly unknown_outcomes_omitted?: number;
  /** Items that failed in loops that went on without them: their values are null. */
  readonly failed_items?: readonly ShownItem[];
  /** How many of them are not listed. */
  readonly failed_items_omitted?: number;
}

export interface ShownItem {
  readonly step: string;
  /** Counted from 0. */
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

/** A call that was to be undone. What it did still stands, for sure or perhaps. */
export interface NotUndone {
  /** Key of the node that made the call. */
  readonly step: string;
  /** The tool that undoes it. Missing where nothing says how it is undone. */
  readonly tool?: string;
  /** What that tool is called with. Missing where it could not be evaluated. */
  readonly input?: JsonObject;
  /** Nothing came back of what was to undo it: it may be undone. */
  readonly outcome_unknown?: true;
}

/** Why a run failed or was cancelled, and what it leaves behind. */
export interface EnvelopeError extends LooseEnds {
  readonly code: string;
  readonly message: string;
  /** The step at the top of the workflow that it comes from. */
  readonly node?: string;
  /** A call of the run may have taken effect although nothing came back: check before repeating it. */
  readonly outcome_unknown?: true;
  readonly details?: Json;
  /** Values of the steps at the top that had succeeded and were not undone, by step. Secrets are masked. */
  readonly partial: JsonObject;
  /** Succeeded steps whose values are too large to be shown. */
  readonly partial_omitted?: readonly string[];
  /** Steps at the top that had succeeded, and of which all or a part was undone. */
  readonly undone?: readonly string[];
}

/** A value of a succeeded step with more bytes of JSON than this is named, and not shown. */
export const PARTIAL_LIMIT_BYTES = 16_384;

/** So many calls are listed that were not undone, or whose outcome is unknown, and so many failed items. */
export const LISTED_CALLS = 50;

/** What is told of a run that is over. */
export interface EndedRun {
  readonly graph: Graph;
  readonly state: RunState;
  readonly mask: RunMask;
  readonly remains: Remains;
}

/** What is to be looked after: nothing, as a rule. */
export function looseEndsOf(run: EndedRun): LooseEnds {
  return { ...notUndoneOf(run), ...unknownOf(run.remains), ...itemsOf(run) };
}

export function errorOf(run: EndedRun): EnvelopeError {
  const { state, mask, remains } = run;
  const { failure = LOST, failedNode } = state.run;
  const { code, message, outcomeUnknown, details } = maskedFailure(failure, mask);
  const isUnknown =
    outcomeUnknown === true ||
    remains.unknown.length > 0 ||
    remains.notUndone.some((call) => call.outcomeUnknown);
  return {
    code,
    message,
    ...(failedNode === undefined ? {} : { node: failedNode }),
    ...(isUnknown ? { outcome_unknown: true } : {}),
    ...(details === undefined ? {} : { details }),
    ...partialOf(run),
    ...looseEndsOf(run),
  };
}

/** A run that did not succeed says why; this is never shown. */
const LOST: Failure = { code: 'E_INTERNAL', message: 'The run ended without saying why.' };

type Partial = Pick<EnvelopeError, 'partial' | 'partial_omitted' | 'undone'>;

function partialOf({ graph: { nodes }, state: { nodes: rows, outputs }, mask, remains }: EndedRun): Partial {
  const partial: [string, Json][] = [];
  const omitted: string[] = [];
  const undone: string[] = [];
  for (const { id } of nodes) {
    if (ownProperty(rows, id)?.status !== 'succeeded') continue;
    const value = ownProperty(outputs, id);
    if (remains.steps.includes(id)) undone.push(id);
    else if (value === undefined) continue;
    else if (jsonSize(value, PARTIAL_LIMIT_BYTES) > PARTIAL_LIMIT_BYTES) omitted.push(id);
    else partial.push([id, mask.outputOf(id, value)]);
  }
  return {
    partial: Object.fromEntries(partial),
    ...(omitted.length === 0 ? {} : { partial_omitted: omitted }),
    ...(undone.length === 0 ? {} : { undone }),
  };
}

function notUndoneOf({
  mask,
  remains: { notUndone },
}: EndedRun): Pick<LooseEnds, 'not_undone' | 'not_undone_omitted'> {
  if (notUndone.length === 0) return {};
  const shown = notUndone.slice(0, LISTED_CALLS).map(({ step, tool, input, outcomeUnknown }): NotUndone => {
    const isShown = input !== undefined && jsonSize(input, PARTIAL_LIMIT_BYTES) <= PARTIAL_LIMIT_BYTES;
    return {
      step,
      ...(tool === undefined ? {} : { tool }),
      ...(tool !== undefined && isShown ? { input: mask.compensationOf(step, tool, input) } : {}),
      ...(outcomeUnknown === undefined ? {} : { outcome_unknown: true }),
    };
  });
  const omitted = notUndone.length - shown.length;
  return { not_undone: shown, ...(omitted === 0 ? {} : { not_undone_omitted: omitted }) };
}

function itemsOf({
  remains: { failedItems },
  mask,
}: EndedRun): Pick<LooseEnds, 'failed_items' | 'failed_items_omitted'> {
  if (failedItems.length === 0) return {};
  const omitted = failedItems.length - LISTED_CALLS;
  const shown = failedItems.slice(0, LISTED_CALLS).map(({ step, index, failure }) => {
    const { code, message } = maskedFailure(failure, mask);
    return { step, index, code, message };
  });
  return { failed_items: shown, ...(omitted > 0 ? { failed_items_omitted: omitted } : {}) };
}

function unknownOf({ unknown }: Remains): Pick<LooseEnds, 'unknown_outcomes' | 'unknown_outcomes_omitted'> {
  if (unknown.length === 0) return {};
  const omitted = unknown.length - LISTED_CALLS;
  return {
    unknown_outcomes: unknown.slice(0, LISTED_CALLS),
    ...(omitted > 0 ? { unknown_outcomes_omitted: omitted } : {}),
  };
}
