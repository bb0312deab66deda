import { WorkflowNotRunnableError } from './faults.js';
import { decorateClass, type FieldRecords, optionsOf } from './record.js';
import type { ResourceClass } from './resource.js';
import type { DecoratesClass } from './signatures.js';
import type { StateClass } from './state.js';
import type { RetryOptions } from './step.js';

/** Options of {@link Workflow}. */
export interface WorkflowOptions {
  /** Unique among the workflows of a registry; `^[A-Za-z][A-Za-z0-9_-]{0,61}$`. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** What the workflow achieves, for whoever chooses it. */
  readonly description: string;
  readonly version?: string;
  /** What the workflow is about, to group workflows by. */
  readonly domain?: string;
  /** Resources a reader should know before the first step, in this order. */
  readonly instructions?: readonly ResourceClass[];
  /** Fields of state that were set before it starts: by the workflow that runs it. */
  readonly needsState?: readonly StateClass[];
  /** How callers reach it: as a prompt, or as a tool that runs it. Default: `['prompt']`. */
  readonly expose?: readonly ('prompt' | 'tool')[];
  /** Whether the first failure stops the run. Default: `true`, and `false` under the error strategy `collect`. */
  readonly failFast?: boolean;
  /** How many calls, reads and functions run at once. Default: 10. */
  readonly maxConcurrency?: number;
  /** What a step that fails means for the others. Default: `'failFast'`. */
  readonly errorStrategy?: ErrorStrategyOption;
}

/**
 * What a step that fails means for the run, unless `attempt` deals with it:
 *
 * - `'failFast'`: no further step is started;
 * - `'collect'`: every step that needs no failed one still runs, and all failures are told at the end;
 * - `{ retry }`: each step without a `retry` of its own is tried again, then as `failFast`.
 */
export type ErrorStrategyOption = 'failFast' | 'collect' | { readonly retry: RetryOptions };

/** A class under `@Workflow`: it takes nothing, since it is never instantiated. */
export type WorkflowClass = new () => object;

/**
 * Makes a class a workflow: its `@Arg` fields are what a caller supplies, its `@Step` fields what happens, in order,
 * and a field with `done(...)` is the result. Codegen reads the class; instantiating it, or a class that extends it,
 * throws {@link WorkflowNotRunnableError}.
 *
 * @example
 * ```ts
 * @Workflow({ name: 'add-task', description: 'add a task to a project' })
 * export class AddTask {
 *   @Arg({ description: 'What needs doing' }) task!: Arg<string>;
 *   @Step() added = call(AddJournalTask, { task: this.task });
 *   output = done({ id: this.added.id });
 * }
 * ```
 * @throws TypeError when it is given no options, or decorates something that has another decorator
 *   already, or a class that extends one with arguments or steps.
 */
export function Workflow(options: WorkflowOptions): DecoratesClass<WorkflowClass>;
export function Workflow(...given: readonly unknown[]): DecoratesClass<WorkflowClass> {
  const options = optionsOf<WorkflowOptions>('Workflow', given);
  return (target, context) => {
    const toMetadata = ({ args, steps }: FieldRecords) =>
      ({ kind: 'workflow', options, args, steps }) as const;
    return decorateClass('Workflow', target, context, toMetadata, unconstructable);
  };
}

/** Stands for a workflow class: everything but construction reaches the class itself. */
function unconstructable<T extends WorkflowClass>(workflow: T): T {
  const standIn = new Proxy(workflow, {
    construct() {
      throw new WorkflowNotRunnableError(`new ${workflow.name}()`);
    },
  });
  // Otherwise the way round by the prototype would lead to the class itself.
  Object.defineProperty(workflow.prototype, 'constructor', {
    value: standIn,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  return standIn;
}
