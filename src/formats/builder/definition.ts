import type { Json, JsonSchema } from '../../graph/json.js';
import type { ResourceLike } from './handles.js';
import type { StepDefinition } from './step.js';
import type { StrategyOptions } from './strategy.js';

/** What a workflow was told, in the order it was told. */
export interface WorkflowDefinition {
  readonly name: string;
  readonly description: string;
  readonly args: readonly ArgumentDefinition[];
  readonly instructions: readonly ResourceLike[];
  readonly steps: readonly StepDefinition[];
  readonly strategy?: StrategyOptions;
}

export type ArgumentDefinition = {
  readonly name: string;
  readonly description: string;
} & ArgumentOptions;

/** What may be said of an argument besides its name and description. */
export type ArgumentOptions = {
  /** Schema of the value inside the workflow, after coercion from text. Default: text. */
  readonly schema?: JsonSchema;
  /** A name for people. Default: the argument's name. */
  readonly title?: string;
  /** Masked in traces, logs and spans. Default: `false`. */
  readonly secret?: boolean;
} & (
  | { readonly required: boolean; readonly default?: undefined }
  /** What stands in where the caller leaves the argument out. */
  | { readonly required?: false; readonly default: Json }
);
