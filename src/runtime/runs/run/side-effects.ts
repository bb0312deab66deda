import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { PARTIAL_LIMIT } from '../../../graph/limits.js';
import type { Remains, UndoneCall, UnknownCall } from '../../engine/read.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { jsonSize } from '../../tools/to-json.js';

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

interface EndedRun {
  readonly mask: RunMask;
  readonly remains: Remains;
}

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
export function remainingEffectsOf({ mask, remains }: EndedRun): RemainingEffects {
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
export function shownUndone(calls: readonly UndoneCall[], mask: RunMask): UndoneCalls {
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
