import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ToolContext } from './context.js';
import { decorateClass, optionsOf } from './record.js';
import type { DecoratesClass } from './signatures.js';

/** What a tool says about its effects, as MCP defines it. Hints, never guarantees. */
export interface ToolAnnotations {
  /** A name for people. */
  readonly title?: string;
  /** It changes nothing. Default: `false`. */
  readonly readOnlyHint?: boolean;
  /** It may destroy something; means nothing beside `readOnlyHint: true`. Default: `true`. */
  readonly destructiveHint?: boolean;
  /** A repeated call with the same input has no further effect. Default: `false`. */
  readonly idempotentHint?: boolean;
  /** It reaches out to things beyond this server. Default: `true`. */
  readonly openWorldHint?: boolean;
}

/** Options of {@link Tool}. `Input` and `Output` are what the schemas let through. */
export interface ToolOptions<Input = unknown, Output = unknown> {
  /** Unique among the tools of a registry; `^[a-z][a-z0-9_-]{0,61}$`. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** What the tool does, for the model that chooses it. */
  readonly description: string;
  /**
   * Schema of the input, checked before every call. Default: derived from the type of `execute`'s parameter.
   * What it lets through must fit that parameter.
   */
  readonly input?: StandardSchemaV1<unknown, Input>;
  /** Schema of the output. What `execute` returns must fit it. Default: none is announced. */
  readonly output?: StandardSchemaV1<unknown, Output>;
  readonly annotations?: ToolAnnotations;
}

declare const NO_INPUT: unique symbol;

/** The input of a tool whose `execute` takes none: an object without properties. */
export interface NoInput {
  readonly [NO_INPUT]?: never;
}

/**
 * A class with an `execute`. `execute` is a property here, not a method, so that its parameter is compared strictly:
 * an `execute` that wants more than its schema gives is an error.
 */
export type ToolClass<Input = never, Output = unknown> = new (
  ...deps: never[]
) => { execute: (input: Input, context: ToolContext) => Output | Promise<Output> };

/**
 * Makes a class with `execute(input, context)` a tool.
 *
 * Callers in workflows see the type of `execute`'s parameter and of what it returns, promise taken off.
 *
 * @example
 * ```ts
 * @Tool({ name: 'verify-project', description: 'Finds a project', input: z.object({ project: z.string() }) })
 * export class VerifyProject {
 *   async execute({ project }: { project: string }): Promise<{ path: string }> { … }
 * }
 * ```
 * @throws TypeError when it is given no options, or decorates something that is a tool, resource or workflow already.
 */
export function Tool<Input = never, Output = unknown>(
  options: ToolOptions<Input, Output>,
): DecoratesClass<ToolClass<Input, Output>>;
export function Tool(...given: readonly unknown[]): DecoratesClass<ToolClass> {
  const options = optionsOf<ToolOptions>('Tool', given);
  return (target, context) => decorateClass('Tool', target, context, () => ({ kind: 'tool', options }));
}
