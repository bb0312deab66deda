import type { JsonSchema } from '../json.js';

/** What a graph may use: everything that is registered beside it. */
export interface CheckEnvironment {
  /** By name. */
  readonly tools: ReadonlyMap<string, ToolSignature>;
  /** By name. Their URIs are checked where they are declared. */
  readonly resources: ReadonlyMap<string, { readonly uri: string }>;
}

/** What a call of a tool takes and gives. */
export interface ToolSignature {
  readonly inputSchema: JsonSchema;
  /** Without it nothing is known about the output. */
  readonly outputSchema?: JsonSchema;
  /** What the tool says of its effects. Without them it may change something, and a second call may do so again. */
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean };
}
