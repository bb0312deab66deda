import type { Json, JsonSchema } from '../graph/json.js';

/** What a planning model gets beside the schemas of a tool. Tools are given by their names. */
export interface PlanningHints {
  /** The kind of work: `search`, `validation`, `action`, `payment`, or a synonym. */
  readonly category?: string;
  /** Tools that may follow it. Two or more are alternatives. */
  readonly next?: readonly string[];
  /** Tools that have to be called before it, all of them. */
  readonly requires?: readonly string[];
  /** Names of fields of its result. */
  readonly outputs?: readonly string[];
  /** A sentence of advice. */
  readonly hint?: string;
  readonly examples?: readonly Json[];
}

/** A tool as a list of tools has it. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly hints?: PlanningHints;
}
