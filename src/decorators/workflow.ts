import type { Json } from '../graph/json.js';
import type { JoinRule } from '../graph/kinds/node.js';
import type { Exposure, TaskSupport } from '../graph/model.js';
import type { SupplyOf } from './arg.js';
import type { ListedOptions, OrderOptions } from './decorate.js';
import {
  type DecoratesClass,
  decorateClass,
  decorateField,
  type FieldKey,
  type FieldRecords,
  type FieldTarget,
  type FieldType,
  type Frozen,
  type Given,
  optionsOf,
  WorkflowNotRunnableError,
} from './decorate.js';
import type { ResourceClass } from './resource.js';

/** Options of {@link Workflow}. */
export interface WorkflowOptions extends ListedOptions {
  /** Unique among the workflows and prompts of a registry; `^[A-Za-z][A-Za-z0-9_-]{0,61}$`. */
  readonly name: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** The purpose of the workflow, for the person or model that chooses one. It completes "I want to …". */
  readonly description: string;
  readonly version?: string;
  /** The topic of the workflow, by which clients can group workflows. */
  readonly domain?: string;
  /** Resources that a reader should know before the first step, in this order. Default: none. */
  readonly instructions?: readonly ResourceClass[];
  /** Fields of state that a calling workflow sets before it runs this one. Default: none. */
  readonly needsState?: readonly StateClass[];
  /**
   * Whether clients reach it as a prompt, as a tool that runs it, as a resource that describes it, and as a skill; with
   * `[]` only other workflows run it. Default: `['prompt', 'tool']`.
   */
  readonly expose?: readonly Exposure[];
  /**
   * The scopes that a client needs to start it, as in `'notes:write'`. A client without them does not see it in lists, and
   * its request is refused (`E_SCOPE`). Its steps act for the client, whatever they call. Default: none.
   */
  readonly scopes?: readonly string[];
  /** Whether the first failure keeps further steps from starting. Default: `true`, and `false` under `'collect'`. */
  readonly failFast?: boolean;
  /**
   * `'undo'`: when it fails, the calls that it made and that have `compensate` are undone, the last to succeed first; so they
   * are when a workflow that runs it as a step continues. Default: they remain, and the run reports them.
   */
  readonly onFailure?: 'undo';
  /**
   * How many calls, reads and functions of a run are in flight at once. The value of the workflow that the run was
   * started on applies. Default: 10.
   */
  readonly maxConcurrency?: number;
  /**
   * Whether its runs are tasks, which outlast the request: a step that fails waits for its result, or for another attempt,
   * in place of failing the run. The server needs a `store` or a `journal`. Default: `false`.
   */
  readonly task?: boolean;
  /**
   * Whether clients may call the tool of the workflow as an MCP task. `'required'`: they call it in no other way. Default:
   * `'optional'` with `task`, else `'forbidden'`.
   */
  readonly taskSupport?: TaskSupport;
  /** Whether an agent that drives the items of a loop may be given work for other agents. Default: `false`. */
  readonly allowNestedAgents?: boolean;
  /** What a failed step means for the run. Default: `'failFast'`. */
  readonly errorStrategy?: ErrorStrategyOption;
}

/**
 * What a failed step means for the run, unless `attempt` handles the failure:
 *
 * - `'failFast'`: no further step starts;
 * - `'collect'`: every step that uses no failed one still runs, and all failures are listed at the end;
 * - `{ retry }`: each step without a `retry` is retried, then as `'failFast'`.
 */
export type ErrorStrategyOption = 'failFast' | 'collect' | { readonly retry: RetryOptions };

/** A workflow class. Its constructor has no parameters: the class is never instantiated. */
export type WorkflowClass = new () => object;

/**
 * Makes a class a workflow: its `@Arg` fields are the arguments, its `@Step` fields the steps in order, and a field
 * with `done(...)` is the result. Codegen reads the class. To instantiate it, or a class that extends it, throws {@link
 * WorkflowNotRunnableError}.
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
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package, and on a
 *   class that extends one with arguments or steps.
 */
export function Workflow(options: WorkflowOptions): DecoratesClass<WorkflowClass>;
export function Workflow(...args: readonly unknown[]): DecoratesClass<WorkflowClass> {
  const options = optionsOf<WorkflowOptions>('Workflow', args);
  return (target, context) => {
    const toMetadata = ({ args, steps }: FieldRecords) =>
      ({ kind: 'workflow', options, args, steps }) as const;
    return decorateClass('Workflow', target, context, toMetadata, unconstructable);
  };
}

/** Returns a proxy of a workflow class that throws when it is instantiated, and is the class in all other respects. */
function unconstructable<T extends WorkflowClass>(workflow: T): T {
  const proxy = new Proxy(workflow, {
    construct() {
      throw new WorkflowNotRunnableError(`new ${workflow.name}()`);
    },
  });
  // `prototype.constructor` would otherwise still be the class, which can be instantiated.
  Object.defineProperty(workflow.prototype, 'constructor', {
    value: proxy,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  return proxy;
}

/** Options of {@link Step}: literals. References to other steps go into the initializer of the field. */
export interface StepOptions {
  /** Id of the step's node. Default: the field's name. */
  readonly id?: string;
  /**
   * Ids of the steps that this one waits for; `[]` starts it at once. It also waits for the steps whose values it uses.
   * Default: the step before it.
   */
  readonly after?: readonly string[];
  /**
   * When the step runs, by the outcomes of the steps that it waits for: `'all_success'`, `'none_failed'`,
   * `'none_failed_min_one_success'`, `'one_success'` or `'all_done'`. Default: `'none_failed'`, so that a skipped step
   * skips no other, or `'all_done'` under the error strategy `'collect'`.
   */
  readonly join?: JoinRule;
  /** A name for people. */
  readonly title?: string;
  /** What a model should know about this step. `{name}` is replaced by an argument or an earlier binding. */
  readonly guidance?: string;
  /**
   * Resources that are read before the step acts, in this order, and shown in the trace alone. A failed read fails the
   * attempt. For steps that call, read or ask; resources with one address. Default: none.
   */
  readonly resources?: readonly ResourceClass[];
  /**
   * Time limit of one attempt, in milliseconds. Default: 60 000 for calls, reads and functions, none for all others.
   */
  readonly timeoutMs?: number;
  /** Default: the `retry` of the workflow's error strategy, else no retry. */
  readonly retry?: RetryOptions;
  /** Whether the trace shows the content of a resource that is read, or only its address. Default: `true`. */
  readonly embed?: boolean;
  /**
   * What the trace shows instead of the whole result. `{name}` is replaced by an argument, an earlier binding, or the
   * binding of this step. Later steps still get the whole result.
   */
  readonly summary?: string;
}

/**
 * Why `@Step` does not apply to a field of type `V`, or `unknown`: an `Arg<T>` would be an argument. Authors see the
 * text.
 */
type StepFault<V> = [SupplyOf<V>] extends [never]
  ? unknown
  : ['declare the type of this field without Arg, or callers would have to supply it'];

/** The type of a decorator of public instance fields that are not arguments. */
export type DecoratesStep = <T extends FieldTarget, const K extends FieldKey>(
  target: T,
  field: K & StepFault<FieldType<T, K>>,
  onlyFields?: never,
) => void;

/**
 * Makes a field of a workflow a step. Its initializer is a verb or an expression; the name of the field binds the
 * result.
 *
 * @example
 * ```ts
 * @Step({ guidance: 'Pick the page that fits {task}' }) page = call(FindPage, { text: this.task });
 * ```
 * @throws TypeError for options that are not an object, on anything but a public instance field, and on a field with
 *   `@Arg` or `@Step`.
 */
export function Step(options?: StepOptions): DecoratesStep;
export function Step(...args: readonly unknown[]): DecoratesStep {
  const options = args.length === 0 ? {} : optionsOf<StepOptions>('Step', args);
  return (...decorated: readonly unknown[]) => decorateField('Step', decorated, options);
}

/**
 * How often and when a failed step is retried. Failures of tools and resources and timeouts are retried. Refused input,
 * expressions without a value and cancellation never are. A failure with `retryAfterMs` sets the delay.
 */
export interface RetryOptions {
  /** The number of attempts, the first included. */
  readonly attempts: number;
  /** Delay before the second attempt, in milliseconds. Default: 0. */
  readonly delayMs?: number;
  /**
   * The delay before attempt `k + 1`: `delayMs` (`'constant'`), `delayMs * k` (`'linear'`), or `delayMs * 2 ** (k - 1)`
   * (`'exponential'`). Default: `'constant'`.
   */
  readonly backoff?: 'constant' | 'linear' | 'exponential';
  /** The longest delay of `'exponential'` backoff, in milliseconds. Default: 60 000, or `delayMs` if it is longer. */
  readonly capMs?: number;
  /** Random share of each delay, 0 to 1; it only shortens the delay. Default: 0. */
  readonly jitter?: number;
}

/** Options of {@link State}. */
export interface StateOptions {
  /** Unique among the fields of state of a registry; `^[A-Za-z][A-Za-z0-9_-]{0,61}$`. */
  readonly name: string;
  /**
   * How long a value is kept. Default: `'run'`.
   *
   * - `'run'`: for the run, and the workflows it runs;
   * - `'workflow'`: for one execution of a workflow. The workflows it runs have values of their own.
   */
  readonly scope?: 'run' | 'workflow';
  /** The value before the first `set`. It fits the type of `value`. Default: absent. */
  readonly initial?: Json;
}

/** A class with one field, `value`, whose type is that of the state. It is never instantiated. */
export type StateClass<Value = unknown> = new () => { value: Value };

type ValueOf<T> = T extends StateClass<infer Value> ? Value : never;

/** Why the option `initial` does not fit the class, or `unknown`. Authors see the text. */
type InitialFault<T, Initial> = [Initial] extends [undefined]
  ? unknown
  : [Initial] extends [Frozen<ValueOf<T>>]
    ? unknown
    : ['the initial value does not fit the type of `value`'];

/** The type of a decorator of classes with a field `value`. */
export type DecoratesState<Initial> = <T extends StateClass>(
  target: T & InitialFault<T, Initial>,
  context?: ClassDecoratorContext<T>,
) => void;

/**
 * Makes a class a field of state: `set` writes it and `get` reads it, in a workflow and in those it runs. The type of
 * its field `value` is the type of the state.
 *
 * @example
 * ```ts
 * @State({ name: 'active-project' })
 * export class ActiveProject { value!: string; }
 *
 * @State({ name: 'seen-pages', initial: [] })
 * export class SeenPages { value!: string[]; }
 * ```
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package, and on a
 *   class with `@Arg` or `@Step` fields.
 */
export function State<const Initial extends Json | undefined = undefined>(
  options: StateOptions & { readonly initial?: Initial },
): DecoratesState<Initial>;
export function State(...args: readonly unknown[]): DecoratesClass<StateClass> {
  const options = optionsOf<StateOptions>('State', args);
  return (target, context) => decorateClass('State', target, context, () => ({ kind: 'state', options }));
}

/**
 * Writes a field of state. The value of the step is the written value.
 *
 * @example
 * ```ts
 * @Step() saved = set(ActiveProject, this.found.name);
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function set<Value>(
  _state: StateClass<Value>,
  _value: NoInfer<Given<Value>>,
  _options?: OrderOptions,
): Value {
  throw new WorkflowNotRunnableError('set(...)');
}

/**
 * Reads a field of state. Before the first `set` it is the option `initial`, or absent: then declare
 * `value!: … | undefined`. It is an expression, so it may be a part of any value.
 *
 * @example
 * ```ts
 * output = done({ id: this.added.id, project: get(ActiveProject) });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function get<Value>(_state: StateClass<Value>): Value {
  throw new WorkflowNotRunnableError('get(...)');
}
