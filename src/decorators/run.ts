import { WorkflowNotRunnableError } from './faults.js';
import type { Given } from './given.js';
import type { NestedOptions } from './nested-options.js';
import type { ArgsOf, ResultOf } from './workflow-types.js';

type AnyClass = new (...deps: never[]) => object;

type InstanceOf<C> = C extends new (...deps: never[]) => infer Instance ? Instance : never;

type Method = (...args: never[]) => unknown;

/** Why a class is no workflow, or `unknown`. The texts reach authors. */
export type RunFault<C> = C extends { readonly uri: string } | { readonly uriTemplate: string }
  ? ['this class is a resource: use read(...)']
  : InstanceOf<C> extends { execute: Method }
    ? ['this class is a tool: use call(...)']
    : InstanceOf<C> extends { render: Method }
      ? ['this class is a prompt, which nothing runs: its messages are for a model']
      : unknown;

/** The arguments of {@link run} after the workflow: its own may be left out where it wants none. */
export type RunArguments<W> =
  Record<never, never> extends ArgsOf<W>
    ? [args?: NoInfer<Given<ArgsOf<W>>>, options?: NestedOptions]
    : [args: NoInfer<Given<ArgsOf<W>>>, options?: NestedOptions];

/**
 * Runs another workflow, with arguments and steps of its own; state is shared. The value is its result.
 *
 * A workflow that runs itself says what it gives: the field has a type annotation. Five workflows may be inside each
 * other.
 *
 * @example
 * ```ts
 * @Step() sub = run(AddLine, { line: this.task });
 * @Step() rest: number = this.left > 0 ? run(CountDown, { left: this.left - 1 }) : 0;
 * ```
 * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
 */
export function run<C extends AnyClass>(
  _workflow: C & RunFault<C>,
  ..._rest: RunArguments<InstanceOf<C>>
): ResultOf<InstanceOf<C>> {
  throw new WorkflowNotRunnableError('run(...)');
}
