import type { JsonObject } from '../../../graph/json.js';
import type { UpstreamServer } from '../../../runtime/upstream/config.js';

/** A call that the configuration has recorded. */
export interface PlannedCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** Its index among the calls of the tool. */
  readonly index: number;
}

/** The calls of `record` of a server, in their order. */
export function plannedCalls({ record = {} }: UpstreamServer): readonly PlannedCall[] {
  return Object.entries(record).flatMap(([tool, inputs]) =>
    inputs.map((input, index) => ({ tool, input: input as JsonObject, index })),
  );
}
