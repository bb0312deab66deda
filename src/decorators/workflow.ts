import type { JoinRule } from '../graph/model.js';
import type { SupplyOf } from './arg.js';
import {
  type DecoratesClass,
  decorateClass,
  decorateField,
  type FieldKey,
  type FieldRecords,
  type FieldTarget,
  type FieldType,
  optionsOf,
} from './decorate.js';
import { WorkflowNotRunnableError } from './errors.js';
import type { ResourceClass } from './resource.js';
import type { StateClass } from './state.js';

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

/** Options of {@link Step}. They are literals; whatever names a binding stands in the field's initializer. */
export interface StepOptions {
  /** Id of the step's node. Default: the field's name. */
  readonly id?: string;
  /** Steps this one waits for, in place of the one before it; `[]` starts it at once. Data it uses orders in any case. */
  readonly after?: readonly string[];
  /**
   * How those it waits for decide whether it is carried out: `'all_success'`, `'none_failed'`,
   * `'none_failed_min_one_success'`, `'one_success'` or `'all_done'`. Default: `'none_failed'`, so that a step that
   * was skipped skips no other, or `'all_done'` under the error strategy `collect`.
   */
  readonly join?: JoinRule;
  /** A name for people. */
  readonly title?: string;
  /** What a model should know about this step; `{name}` stands for an argument or an earlier binding. */
  readonly guidance?: string;
  /** Limit of one attempt, in milliseconds. Default: 60 000 for calls, reads and functions, none for all others. */
  readonly timeoutMs?: number;
  /** Default: by the error strategy of the workflow. */
  readonly retry?: RetryOptions;
  /** Whether the trace shows the content of a resource that is read, or its address alone. Default: `true`. */
  readonly embed?: boolean;
  /**
   * What the trace shows in place of the whole result; `{name}` stands for an argument, an earlier binding, or this
   * step's own. The binding stays whole.
   */
  readonly summary?: string;
}

/** Why a field of type `V` cannot stand under `@Step`: whatever is an `Arg<T>` counts as an argument of the workflow. */
type StepFault<V> = [SupplyOf<V>] extends [never]
  ? unknown
  : ['declare the type of this field without Arg, or callers would have to supply it'];

/** Decorates a public field of the instance that is no argument. */
export type DecoratesStep = <T extends FieldTarget, const K extends FieldKey>(
  target: T,
  field: K & StepFault<FieldType<T, K>>,
  onlyFields?: never,
) => void;

/**
 * Makes a field of a workflow a step: its initializer says what happens, its name binds the result.
 *
 * @example
 * ```ts
 * @Step({ guidance: 'Pick the page that fits {task}' }) page = call(FindPage, { text: this.task });
 * ```
 * @throws TypeError when the options are no object, or it decorates anything but a public field of the instance.
 */
export function Step(options?: StepOptions): DecoratesStep;
export function Step(...given: readonly unknown[]): DecoratesStep {
  const options = given.length === 0 ? {} : optionsOf<StepOptions>('Step', given);
  return (...decorated: readonly unknown[]) => decorateField('Step', decorated, options);
}

/** How often and when a step that failed is tried again. Refused input, faulty expressions and cancellation never are. */
export interface RetryOptions {
  /** How many tries in all, the first one included. */
  readonly attempts: number;
  /** Wait before the second try, in milliseconds. Default: 0. */
  readonly delayMs?: number;
  /**
   * How the wait before try `k + 1` follows from `delayMs`: the same each time, `delayMs * k`, or `delayMs * 2 ** (k - 1)`.
   * Default: `'constant'`.
   */
  readonly backoff?: 'constant' | 'linear' | 'exponential';
  /** The longest wait, in milliseconds. Default: 60 000. */
  readonly capMs?: number;
  /** Part of each wait that is left to chance, 0 to 1. Default: 0. */
  readonly jitter?: number;
}
