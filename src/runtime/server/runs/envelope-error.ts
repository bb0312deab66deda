import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { jsonSize } from '../../catalogue/json-size.js';
import { maskedFailure } from '../../catalogue/mask.js';
import type { Failure, RunState } from '../../engine/contract.js';
import { nodeRecord, outputOf, type Remains } from '../../engine/read.js';
import { type LooseEnds, looseEndsOf, PARTIAL_LIMIT_BYTES } from '../../hosts/loose-ends.js';
import type { RunMask } from '../../hosts/run-mask.js';

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

/** What is told of a run that is over. */
export interface EndedRun {
  readonly graph: Graph;
  readonly state: RunState;
  readonly mask: RunMask;
  readonly remains: Remains;
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

function partialOf({ graph: { nodes }, state, mask, remains }: EndedRun): Partial {
  const partial: [string, Json][] = [];
  const omitted: string[] = [];
  const undone: string[] = [];
  for (const { id } of nodes) {
    if (nodeRecord(state, id)?.status !== 'succeeded') continue;
    const value = outputOf(state, id);
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
