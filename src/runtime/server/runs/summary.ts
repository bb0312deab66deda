import type { Json, JsonObject } from '../../../graph/json.js';
import { jsonSize } from '../../catalogue/json-size.js';
import type { RunMask } from '../../hosts/run-mask.js';
import type { Envelope } from './envelope.js';
import type { RunSummary } from './run-store.js';

/** An argument with more bytes of JSON than this is named in a list of runs, and not shown. */
const ARGUMENT_LIMIT_BYTES = 1_024;

/** The arguments of a run, as a list of runs shows them. */
export interface ShownArguments {
  /** Secret ones are masked. */
  readonly arguments: JsonObject;
  /** Arguments that are too large to be shown. */
  readonly arguments_omitted?: readonly string[];
}

/** Tells runs of one workflow apart without their secrets. */
export function shownArguments(input: JsonObject, mask: RunMask): ShownArguments {
  const shown: [string, Json][] = [];
  const omitted: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    const isLarge = jsonSize(value, ARGUMENT_LIMIT_BYTES) > ARGUMENT_LIMIT_BYTES;
    if (isLarge && !mask.hasName(name)) omitted.push(name);
    else shown.push([name, value]);
  }
  return {
    arguments: mask.arguments(Object.fromEntries(shown)),
    ...(omitted.length === 0 ? {} : { arguments_omitted: omitted }),
  };
}

/** A line of a list of runs. Times are in ms since the epoch. */
export function summaryOf(
  { workflow_id, definition, status, cancelling, actions }: Envelope,
  shown: ShownArguments,
  startedAt: number,
  endedAt: number | undefined,
): RunSummary {
  return {
    workflow_id,
    name: definition.name,
    status,
    ...(cancelling === undefined ? {} : { cancelling }),
    ...shown,
    started_at: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() }),
    open_actions: actions.map(({ action_id }) => action_id),
  };
}
