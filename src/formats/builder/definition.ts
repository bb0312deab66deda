import type { WorkflowOptions } from '../../decorators/workflow.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import type { ResourceLike } from './handles.js';
import type { DataSource } from './sources.js';
import type { StepDefinition } from './step.js';
import type { StrategyOptions } from './strategy.js';

/** What a workflow was told, in the order it was told. */
export interface WorkflowDefinition {
  readonly name: string;
  readonly description: string;
  readonly details: WorkflowDetails;
  readonly args: readonly ArgumentDefinition[];
  readonly instructions: readonly ResourceLike[];
  readonly steps: readonly StepDefinition[];
  readonly strategy?: StrategyOptions;
  readonly result?: ResultDefinition;
}

/** What a workflow may say of itself besides its name and description: the options of `@Workflow` of these names. */
export type WorkflowDetails = Pick<WorkflowOptions, 'title' | 'domain' | 'version' | 'expose' | 'failFast'>;

/** What a workflow hands back. */
export interface ResultDefinition {
  readonly value: ResultValue;
  /** Of its node. Default: `output`, with a number where that is taken. */
  readonly id?: string;
}

/** A value, or an object of values. */
export type ResultValue = DataSource | Readonly<Record<string, DataSource>>;

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
