import type { ArgOptions } from './arg.js';
import { type FieldMetadata, recordOf } from './decorate.js';
import type { PromptOptions } from './prompt.js';
import { addressOf, type ResourceAddress, type ResourceOptions } from './resource.js';
import type { StateOptions } from './state.js';
import type { ToolOptions } from './tool.js';
import type { StepOptions, WorkflowOptions } from './workflow.js';

/** The kind of a decorated class, the options of its decorator as written, and its decorated fields. */
export type ClassMetadata =
  | ToolMetadata
  | ResourceMetadata
  | WorkflowMetadata
  | PromptMetadata
  | StateMetadata;

export interface ToolMetadata {
  readonly kind: 'tool';
  readonly options: ToolOptions;
}

export type ResourceMetadata = {
  readonly kind: 'resource';
  readonly options: ResourceOptions;
} & ResourceAddress;

export interface WorkflowMetadata {
  readonly kind: 'workflow';
  readonly options: WorkflowOptions;
  /** In declaration order. */
  readonly args: readonly FieldMetadata<ArgOptions>[];
  /** Fields with `@Step`, in declaration order. A result without `@Step` is not among them. */
  readonly steps: readonly FieldMetadata<StepOptions>[];
}

export interface PromptMetadata {
  readonly kind: 'prompt';
  readonly options: PromptOptions;
  /** In declaration order. */
  readonly args: readonly FieldMetadata<ArgOptions>[];
}

export interface StateMetadata {
  readonly kind: 'state';
  readonly options: StateOptions;
}

/**
 * Reads the metadata that legacy or TC39 decorators stored on a class. Metadata of base classes does not count.
 *
 * @returns `undefined` for a class without a decorator of this package.
 * @throws TypeError for a resource class without exactly one of `static readonly uri` and `static readonly
 *   uriTemplate`, as a string.
 */
export function readMetadata(cls: abstract new (...deps: never[]) => object): ClassMetadata | undefined {
  const record = recordOf(cls);
  // Each decorator records its own kind with its own options.
  return (record?.kind === 'resource' ? { ...record, ...addressOf(cls) } : record) as
    | ClassMetadata
    | undefined;
}
