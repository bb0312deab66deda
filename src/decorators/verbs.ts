import { WorkflowNotRunnableError } from './faults.js';
import type { ResourceClass } from './resource.js';
import type { NoInput, ToolClass } from './tool.js';
import type { Returned } from './workflow-types.js';

/** Options of a {@link call} that is not a step of its own; for a step they stand in `@Step(...)`. */
export interface CallOptions {
  /** Id of the call's node. Default: derived from the step it stands in. */
  readonly id?: string;
  /** Limit of one attempt, in milliseconds. Default: 60 000. */
  readonly timeoutMs?: number;
}

/** The arguments of {@link call} after the tool: the input may be left out where an empty object fits. */
// biome-ignore lint/complexity/noBannedTypes: it asks about the empty object literal itself
export type CallArguments<Input> = {} extends Input
  ? [input?: Input, options?: CallOptions]
  : [input: Input, options?: CallOptions];

/**
 * Calls a tool. The value is the tool's output.
 *
 * @example
 * ```ts
 * @Step() pages = call(ListPages);
 * @Step() found = call(VerifyProject, { project: this.project, available: this.pages.names });
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function call<Input = NoInput, Output = unknown>(
  _tool: ToolClass<Input, Output>,
  ..._rest: CallArguments<NoInfer<Input>>
): Output {
  throw new WorkflowNotRunnableError('call(...)');
}

/**
 * Reads a resource. The value is its text.
 *
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function read(_resource: ResourceClass): string {
  throw new WorkflowNotRunnableError('read(...)');
}

/**
 * Ends the run as failed, with this message: `this.sure ? undefined : fail('cancelled')`. What comes after may rely on
 * the condition: `this.found.alias ?? fail('no alias')` is never absent.
 *
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function fail(_message: string): never {
  throw new WorkflowNotRunnableError('fail(...)');
}

/**
 * Ends the run with a value: its result.
 *
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function done<T>(_value: T): Returned<T> {
  throw new WorkflowNotRunnableError('done(...)');
}
