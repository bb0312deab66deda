import type { CheckEnvironment } from '../../graph/check/check-graph.js';
import { compile } from './compile.js';
import type { ArgumentOptions, WorkflowDefinition } from './definition.js';
import { WorkflowBuildError, type WorkflowError } from './errors.js';
import type { ResourceLike } from './handles.js';
import type { Naming } from './names.js';
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
    const more = typeof options === 'boolean' ? { required: options } : options;
    return this.#with({ args: [...this.#definition.args, { name, description, ...more }] });
  }

  /** Adds a resource that a reader should know before the first step. */
  instruction(resource: ResourceLike): SequentialBuilder {
    return this.#with({ instructions: [...this.#definition.instructions, resource] });
  }

  /** Adds a step, which runs after those before it. */
  step({ definition }: { readonly definition: StepDefinition }): SequentialBuilder {
    return this.#with({ steps: [...this.#definition.steps, definition] });
  }

  /** What a failure of a step means for the others. Default: `failFast()`. */
  errorStrategy(strategy: StrategyOptions): SequentialBuilder {
    return this.#with({ strategy });
  }

  /**
   * Builds the workflow.
   *
   * @param registered what the workflow may use. Without it every tool and resource is taken to be there, with any
   *   input and output; `Workflow.checkAgainst` looks again.
   * @throws WorkflowBuildError with everything that is wrong.
   */
  build(registered?: CheckEnvironment): Workflow {
    const result = this.tryBuild(registered);
    if (!result.ok) throw new WorkflowBuildError(this.#definition.name, result.problems);
    return result.workflow;
  }

  /** The same without throwing. */
  tryBuild(registered?: CheckEnvironment): BuildResult {
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
export function sequential(name: string, description: string): SequentialBuilder {
  return new SequentialBuilder({ name, description, args: [], instructions: [], steps: [] });
}
