import { isJsonObject, type Json, ownProperty } from '../../../graph/json.js';
import type { LooseEnds, NotUndone } from '../../hosts/loose-ends.js';
import { constructTexts } from '../../observers/trace/construct-texts.js';
import type { EnvelopeError } from '../runs/envelope-error.js';
import type { RunWarning } from '../runs/run-store.js';
import { texts } from './texts.js';

/** So many calls of a kind are named in a text. Programs find more of them in the envelope. */
const NAMED = 10;

/** What a run that failed or was cancelled leaves behind, a sentence each. */
export function remainsIn(error: EnvelopeError): string[] {
  const { partial, partial_omitted = [], undone = [] } = error;
  const finished = [...Object.keys(partial), ...partial_omitted];
  return [
    ...loopsIn(error),
    ...undoingIn(error),
    ...(undone.length === 0 ? [] : [texts.undoneSteps(undone)]),
    ...(finished.length === 0 ? [] : [texts.finishedSteps(finished)]),
  ];
}

/** Where in loops it failed, the outermost first. What a loop says stands around the details of its item. */
function loopsIn({ details }: EnvelopeError): string[] {
  const told: string[] = [];
  for (let within = details; isJsonObject(within); within = within.details) {
    const { index, partial, partial_omitted: omitted } = within;
    if (typeof index !== 'number' || !isJsonObject(partial)) continue;
    const finished = Object.keys(partial).length + (typeof omitted === 'number' ? omitted : 0);
    told.push(texts.failedItem(index, finished));
  }
  return told;
}

/** What somebody has to look after, now that the run does not. */
export function warningsOf({
  not_undone = [],
  not_undone_omitted = 0,
  unknown_outcomes = [],
  unknown_outcomes_omitted = 0,
  failed_items = [],
  failed_items_omitted = 0,
}: LooseEnds): RunWarning[] {
  const warnings: RunWarning[] = [];
  if (not_undone.length > 0) {
    warnings.push({ code: 'W_NOT_UNDONE', message: standingText(not_undone, not_undone_omitted) });
  }
  if (unknown_outcomes.length > 0) {
    const calls = unknown_outcomes.slice(0, NAMED).map(({ step, tool }) => texts.unknownCall(step, tool));
    const more = unknown_outcomes.length + unknown_outcomes_omitted - calls.length;
    warnings.push({ code: 'W_OUTCOME_UNKNOWN', message: texts.outcomeUnknown(calls, more) });
  }
  if (failed_items.length > 0) {
    const items = failed_items.slice(0, NAMED).map((item) => texts.failedItemOf(item));
    const more = failed_items.length + failed_items_omitted - items.length;
    warnings.push({ code: 'W_ITEMS_FAILED', message: texts.failedItems(items, more) });
  }
  return warnings;
}

/** What stands for sure is told before what may have been undone. */
function standingText(calls: readonly NotUndone[], omitted: number): string {
  const shown = calls.slice(0, NAMED);
  const more = calls.length + omitted - shown.length;
  const named = (isUnsure: boolean): string[] =>
    shown
      .filter(({ outcome_unknown = false }) => outcome_unknown === isUnsure)
      .map(({ step, tool, input }) => texts.standingCall(step, tool, input));
  return texts.notUndone(named(false), named(true), more);
}

/** Codes of failures whose details say how undoing went. */
const TELLS_UNDOING: ReadonlySet<string> = new Set(['E_CANCELLED', 'E_PARTIAL_FAILURE', 'E_COMPENSATION']);

/** How undoing went, where the failure says so. What containers around it add stands around its own details. */
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
  const told = faults.slice(0, NAMED);
  return constructTexts.undoReport(listIn(done).map(textIn), told, listIn(not_run).map(textIn));
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
