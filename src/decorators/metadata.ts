import type { ArgOptions } from './arg.js';
import { decorationFaults } from './faults.js';
import type { PromptOptions } from './prompt.js';
import { recordedMetadata } from './record.js';
import type { ResourceOptions } from './resource.js';
import type { StateOptions } from './state.js';
import type { StepOptions } from './step.js';
import type { ToolOptions } from './tool.js';
import type { WorkflowOptions } from './workflow.js';

/** What decorators recorded on a class. */
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

/** The class's `static readonly uri` or `static readonly uriTemplate`: one of them. */
export type ResourceAddress =
  | { readonly uri: string; readonly uriTemplate?: never }
  | { readonly uriTemplate: string; readonly uri?: never };

export interface WorkflowMetadata {
  readonly kind: 'workflow';
  readonly options: WorkflowOptions;
  /** In declaration order. */
  readonly args: readonly FieldMetadata<ArgOptions>[];
  /** In declaration order; fields under `@Step` alone. */
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

/** A decorated field of a workflow or prompt class. */
export interface FieldMetadata<Options> {
  readonly name: string;
  readonly options: Options;
}

/**
 * Reads what a class was decorated with, by legacy or TC39 decorators. What its base class was decorated with does not
 * count.
 *
 * @returns `undefined` for a class without a decorator of this package.
 * @throws TypeError for a resource with neither `static readonly uri` nor `static readonly uriTemplate`, or with both.
 */
export function readMetadata(cls: abstract new (...deps: never[]) => object): ClassMetadata | undefined {
  const metadata = recordedMetadata(cls);
  return metadata?.kind === 'resource' ? { ...metadata, ...addressOf(cls) } : metadata;
}

function addressOf(cls: abstract new (...deps: never[]) => object): ResourceAddress {
  const uri: unknown = Reflect.get(cls, 'uri');
  const uriTemplate: unknown = Reflect.get(cls, 'uriTemplate');
  if (typeof uri === 'string' && uriTemplate === undefined) return { uri };
  if (typeof uriTemplate === 'string' && uri === undefined) return { uriTemplate };
  throw new TypeError(
    uri === undefined && uriTemplate === undefined
      ? decorationFaults.noUri(cls.name)
      : decorationFaults.unclearUri(cls.name),
  );
}
