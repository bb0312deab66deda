import type { ArgOptions } from './arg.js';
import { decorationFaults } from './faults.js';
import { recordedMetadata } from './record.js';
import type { ResourceOptions } from './resource.js';
import type { StepOptions } from './step.js';
import type { ToolOptions } from './tool.js';
import type { WorkflowOptions } from './workflow.js';

/** What decorators recorded on a class. */
export type ClassMetadata = ToolMetadata | ResourceMetadata | WorkflowMetadata;

export interface ToolMetadata {
  readonly kind: 'tool';
  readonly options: ToolOptions;
}

export interface ResourceMetadata {
  readonly kind: 'resource';
  readonly options: ResourceOptions;
  /** The class's `static readonly uri`. */
  readonly uri: string;
}

export interface WorkflowMetadata {
  readonly kind: 'workflow';
  readonly options: WorkflowOptions;
  /** In declaration order. */
  readonly args: readonly FieldMetadata<ArgOptions>[];
  /** In declaration order; fields under `@Step` alone. */
  readonly steps: readonly FieldMetadata<StepOptions>[];
}

/** A decorated field of a workflow class. */
export interface FieldMetadata<Options> {
  readonly name: string;
  readonly options: Options;
}

/**
 * Reads what a class was decorated with, by legacy or TC39 decorators. What its base class was decorated with does not
 * count.
 *
 * @returns `undefined` for a class without a decorator of this package.
 * @throws TypeError for a resource without `static readonly uri`.
 */
export function readMetadata(cls: abstract new (...deps: never[]) => object): ClassMetadata | undefined {
  const metadata = recordedMetadata(cls);
  if (metadata?.kind !== 'resource') return metadata;
  const uri: unknown = Reflect.get(cls, 'uri');
  if (typeof uri !== 'string') throw new TypeError(decorationFaults.noUri(cls.name));
  return { ...metadata, uri };
}
