import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { jsonSize } from '../../catalogue/json-size.js';
import { MASKED, Mask, valuesOf } from '../../catalogue/mask.js';

/** An argument with more bytes of JSON than this is named in a list of runs, and not shown. */
export const ARGUMENT_LIMIT_BYTES = 1_024;

/** The arguments of a run, as a list of runs shows them. */
export interface ShownArguments {
  /** Secret ones are masked. */
  readonly arguments: JsonObject;
  /** Arguments that are too large to be shown. */
  readonly arguments_omitted?: readonly string[];
}

/** Tells runs of one workflow apart without their secrets. */
export function shownArguments({ inputs }: Pick<Graph, 'inputs'>, input: JsonObject): ShownArguments {
  const secret = inputs.filter((each) => each.secret === true).map(({ name }) => name);
  const mask = new Mask(valuesOf(input, secret));
  const shown: [string, Json][] = [];
  const omitted: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (secret.includes(name)) shown.push([name, MASKED]);
    else if (jsonSize(value, ARGUMENT_LIMIT_BYTES) > ARGUMENT_LIMIT_BYTES) omitted.push(name);
    else shown.push([name, mask.json(value)]);
  }
  return {
    arguments: Object.fromEntries(shown),
    ...(omitted.length === 0 ? {} : { arguments_omitted: omitted }),
  };
}
