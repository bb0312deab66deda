import { compile } from './compile.js';
import type { ArgumentOptions, ResultValue, WorkflowDefinition, WorkflowDetails } from './definition.js';
import { WorkflowBuildError, type WorkflowError } from './errors.js';
import type { ResourceLike } from './handles.js';
import type { Naming } from './names.js';
import type { Registered } from './registered.js';
import type { StepDefinition } from './step.js';
import type { StrategyOptions } from './strategy.js';
import { Workflow } from './workflow.js';

/** What became of a workflow: itself, or everything that is wrong with it in the order of writing. */
export type BuildResult =
  | { readonly ok: true; readonly workflow: Workflow }
  | { readonly ok: false; readonly problems: readonly WorkflowError[] };

/**
 * A workflow under construction: steps in order, each after the one before it. Every method returns another builder
 * and leaves this one as it is.
 */
export class SequentialBuilder {
  readonly #definition: WorkflowDefinition;

  /** @internal Workflows begin with {@link sequential}. */
  constructor(definition: WorkflowDefinition) {
    this.#definition = definition;
  }

  /**
   * Declares what a caller supplies. It is text unless a schema says otherwise.
   *
   * @param options whether it is required, or more: `{ required, schema, default, title, secret }`.
   */
  argument(
    name: Naming<'argument'>,
    description: string,
    options: boolean | ArgumentOptions,
  ): SequentialBuilder {
    // What is neither is found when the workflow is built.
    const more = typeof options === 'object' && options !== null ? options : { required: options };
    return this.#with({ args: [...this.#definition.args, { name, description, ...more }] });
  }

  /** Adds a resource that a reader should know before the first step. */
  instruction(resource: ResourceLike): SequentialBuilder {
    return this.#with({ instructions: [...this.#definition.instructions, resource] });
  }

  /** Adds a step, which runs after those before it. */
  step(step: { readonly definition: StepDefinition }): SequentialBuilder {
    // What is no step is found when the workflow is built.
    const definition = step?.definition;
    return this.#with({ steps: [...this.#definition.steps, definition] });
  }

  /**
   * Hands back a value when the steps are done: what one source gives, or an object of what several give. Without it
   * a workflow hands back nothing.
   *
   * @param id of the node that does so, where it matters. Default: `output`.
   * @example
   * ```ts
   * sequential('add', 'add a line').step(step(AddLine).bind('line')).returns({ at: fromStep('line', 'number') })
   * ```
   */
  returns(value: ResultValue, id?: Naming<'step'>): SequentialBuilder {
    return this.#with({ result: { value, ...(id === undefined ? {} : { id }) } });
  }

  /** What a failure of a step means for the others. Default: `failFast()`. */
  errorStrategy(strategy: StrategyOptions): SequentialBuilder {
    return this.#with({ strategy });
  }

  /**
   * Builds the workflow.
   *
   * @param registered what the workflow may use, for example `registeredIn(registry)`. Without it every tool and resource is taken to be there, with any
   *   input and output; `Workflow.checkAgainst` looks again.
   * @throws WorkflowBuildError with everything that is wrong.
   */
  build(registered?: Registered): Workflow {
    const result = this.tryBuild(registered);
    if (!result.ok) throw new WorkflowBuildError(this.#definition.name, result.problems);
    return result.workflow;
  }

  /** The same without throwing. */
  tryBuild(registered?: Registered): BuildResult {
    const compiled = compile(this.#definition, registered);
    if (!compiled.ok) return compiled;
    return { ok: true, workflow: new Workflow(this.#definition, compiled) };
  }

  #with(change: Partial<WorkflowDefinition>): SequentialBuilder {
    return new SequentialBuilder({ ...this.#definition, ...change });
  }
}

/**
 * Begins a workflow of steps that follow each other.
 *
 * @param details what else it says of itself: `{ title, domain, version, expose, failFast }`.
 * @example
 * ```ts
 * const addTask = sequential('add-task', 'add a task to a project')
 *   .argument('project', 'Project page, by name or alias', true)
 *   .instruction(LogseqIntro)
 *   .step(step(ListPages).bind('list'))
 *   .step(
 *     step(VerifyProject)
 *       .arg('project', promptArg('project'))
 *       .arg('available', fromStep('list', 'pages'))
 *       .guidance("Find the page that '{project}' means")
 *       .bind('page'),
 *   )
 *   .build();
 * ```
 */
export function sequential(
  name: string,
  description: string,
  details: WorkflowDetails = {},
): SequentialBuilder {
  return new SequentialBuilder({
    name,
    description,
    details: { ...details },
    args: [],
    instructions: [],
    steps: [],
  });
}
