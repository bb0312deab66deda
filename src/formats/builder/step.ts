import type { NoInput, ToolClass } from '../../decorators/tool.js';
import type { RetryOptions } from '../../decorators/workflow.js';
import type { ToolHandle, ToolLike } from './handles.js';
import type { Naming } from './names.js';
import type { DataSource } from './sources.js';
import type { Transform } from './transform.js';

/** What a step was told, in the order it was told. */
export interface StepDefinition {
  readonly tool: ToolLike;
  readonly args: readonly { readonly name: string; readonly source: DataSource }[];
  readonly binding?: string;
  /** More than one is a fault. */
  readonly transforms: readonly Transform[];
  readonly title?: string;
  readonly guidance?: string;
  readonly summary?: string;
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
}

/** The inputs of a tool whose class is not at hand: any name will do. */
export type AnyInput = Readonly<Record<string, unknown>>;

/**
 * A step under construction. Every method returns another builder and leaves this one as it is; faults are reported
 * when the workflow is built.
 */
export class StepBuilder<Input = AnyInput> {
  readonly definition: StepDefinition;
  /** The type of the tool's input; nothing at run time. */
  declare readonly input?: (input: Input) => void;

  /** @internal Steps begin with {@link step}. */
  constructor(definition: StepDefinition) {
    this.definition = definition;
  }

  /** Gives the tool an argument, once for each. */
  arg<K extends keyof Input & string>(name: K & Naming<'argument'>, source: DataSource): StepBuilder<Input> {
    return this.#with({ args: [...this.definition.args, { name, source }] });
  }

  /** Names the output, for later steps to read and as the step's id. A step without a binding cannot be read from. */
  bind(binding: Naming<'binding'>): StepBuilder<Input> {
    return this.#with({ binding });
  }

  /**
   * Makes another value of the output, which is then what the binding stands for: the field at a path, an expression
   * over `output()`, or what an exported top-level function makes of it.
   */
  transform(transform: Transform): StepBuilder<Input> {
    return this.#with({ transforms: [...this.definition.transforms, transform] });
  }

  /** A name for people. */
  title(title: string): StepBuilder<Input> {
    return this.#with({ title });
  }

  /** What a model should know about this step; `{name}` stands for an argument or an earlier binding. */
  guidance(guidance: string): StepBuilder<Input> {
    return this.#with({ guidance });
  }

  /**
   * What the trace shows in place of the whole result; `{name}` stands for an argument, an earlier binding, or this
   * step's own. The binding stays whole.
   */
  summary(summary: string): StepBuilder<Input> {
    return this.#with({ summary });
  }

  /** Limit of one attempt, in milliseconds. Default: 60 000. */
  timeoutMs(timeoutMs: number): StepBuilder<Input> {
    return this.#with({ timeoutMs });
  }

  /** How often and when the step is tried again. Default: by the error strategy of the workflow. */
  retry(retry: RetryOptions): StepBuilder<Input> {
    return this.#with({ retry: { ...retry } });
  }

  #with(change: Partial<StepDefinition>): StepBuilder<Input> {
    return new StepBuilder({ ...this.definition, ...change });
  }
}

/**
 * Begins a step: a call of a tool. With the tool's class, the names of its arguments are checked by the compiler.
 *
 * @example
 * ```ts
 * step(VerifyProject).arg('project', promptArg('project')).arg('available', fromStep('list', 'pages')).bind('page')
 * ```
 */
export function step(tool: ToolHandle): StepBuilder;
export function step<Input = NoInput>(tool: ToolClass<Input>): StepBuilder<Input>;
export function step(tool: ToolLike): StepBuilder<never> {
  return new StepBuilder({ tool, args: [], transforms: [] });
}
