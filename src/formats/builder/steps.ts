import type { AskOptions } from '../../decorators/control-flow.js';
import type { NoInput, ToolClass } from '../../decorators/tool.js';
import type { RetryOptions } from '../../decorators/workflow.js';
import type { Answerer } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import type { JsonSchema } from '../../graph/json.js';
import type {
  AgentLike,
  AskDefinition,
  CallDefinition,
  DelegateDefinition,
  DelegateTaskOptions,
  ReadDefinition,
  ShellCommandOptions,
  ShellDefinition,
  StepDefinition,
} from './definition.js';
import type { Transform } from './expressions.js';
import type { Naming } from './names.js';
import {
  type ArgumentSource,
  constant,
  type DataSource,
  fromResource,
  text,
  type VariableSources,
} from './sources.js';
import type { ResourceLike, TemplateLike, ToolHandle, ToolLike } from './tools-and-resources.js';

/**
 * Builds a step. Every method returns a new builder and leaves this one unchanged. Errors are reported when the
 * workflow is built.
 */
abstract class DetailsBuilder<Definition extends StepDefinition> {
  readonly definition: Definition;

  /** @internal */
  constructor(definition: Definition) {
    this.definition = definition;
  }

  /** Names the value, so that later steps can read it. The name is also the id of the step. */
  bind(binding: Naming<'binding'>): this {
    return this.with({ binding } as Partial<Definition>);
  }

  /** Sets a name for people. */
  title(title: string): this {
    return this.with({ title } as Partial<Definition>);
  }

  /** Sets what a model should know about this step. `{name}` is replaced by an argument or an earlier binding. */
  guidance(guidance: string): this {
    return this.with({ guidance } as Partial<Definition>);
  }

  /**
   * Adds a resource that is read before the step acts and shown in the trace alone. A failed read fails the attempt.
   */
  resource(resource: ResourceLike): this {
    const resources = [...this.definition.resources, resource];
    return this.with({ resources } as unknown as Partial<Definition>);
  }

  /**
   * Sets what the trace shows instead of the whole result. `{name}` is replaced by an argument, an earlier binding, or
   * the binding of this step. Later steps still get the whole result.
   */
  summary(summary: string): this {
    return this.with({ summary } as Partial<Definition>);
  }

  /** Sets what a trace and the variables of a task show instead of the whole result. As {@link summary}. */
  resultSummary(summary: string): this {
    return this.summary(summary);
  }

  /** Sets the time limit of one attempt, in milliseconds. Default: 60 000 for calls and reads, none for questions. */
  timeoutMs(timeoutMs: number): this {
    return this.with({ timeoutMs } as Partial<Definition>);
  }

  /** Sets how often and when the step is retried. Default: the retry of the workflow's error strategy, else none. */
  retry(retry: RetryOptions): this {
    return this.with({ retry: { ...retry } } as unknown as Partial<Definition>);
  }

  /** @internal */
  protected with(change: Partial<Definition>): this {
    const Builder = this.constructor as new (definition: Definition) => this;
    return new Builder({ ...this.definition, ...change });
  }
}

/** The input of a tool without its class: arguments of any names. */
export type AnyInput = Readonly<Record<string, unknown>>;

/** Builds a step that calls a tool. */
export class StepBuilder<Input = AnyInput> extends DetailsBuilder<CallDefinition> {
  /** The type of the tool's input. The property does not exist at run time. */
  declare readonly input?: (input: Input) => void;

  /** Sets an argument of the tool. To set one twice is an error. */
  arg<K extends keyof Input & string>(name: K & Naming<'argument'>, source: ArgumentSource): this {
    return this.with({ args: [...this.definition.args, { name, source }] });
  }

  /** Has the client make the call, with its own tool of that name. */
  onClient(): this {
    return this.with({ isOnClient: true });
  }

  /**
   * Sets how the value of the step is made from the tool's output: the field at a path, an expression over `output()`,
   * or the result of an exported top-level function. A step has at most one transform. Default: the output.
   */
  transform(transform: Transform): this {
    return this.with({ transforms: [...this.definition.transforms, transform] });
  }

  /**
   * Sets the call that undoes this one: a step with its arguments alone, which may read the value of this step by its
   * binding. It is made after a rollback, or when the workflow fails with `onFailure: 'undo'`.
   *
   * @example
   * ```ts
   * step(BookRoom).arg('day', promptArg('day')).bind('room')
   *   .compensate(step(CancelRoom).arg('id', fromStep('room', 'id')))
   * ```
   */
  compensate(undo: StepBuilder<never>): this {
    // Programs in JavaScript may pass anything, which is reported with the other errors.
    return this.with({ compensate: undo instanceof StepBuilder ? undo.definition : undo });
  }
}

/**
 * Begins a step, which calls a tool. With the class of the tool, the compiler checks the names of the arguments.
 *
 * @example
 * ```ts
 * step(VerifyProject).arg('project', promptArg('project')).arg('available', fromStep('list', 'pages')).bind('page')
 * ```
 */
export function step(tool: ToolHandle): StepBuilder;
export function step<Input = NoInput>(tool: ToolClass<Input>): StepBuilder<Input>;
export function step(tool: ToolLike): StepBuilder<never> {
  return new StepBuilder({ kind: 'call', tool, args: [], transforms: [], resources: [] });
}

/** Builds a step that reads a resource. Its value is the text. */
export class ReadBuilder extends DetailsBuilder<ReadDefinition> {}

/**
 * Begins a step that reads a resource. For the class of a template, `variables` has a source for each variable.
 *
 * @example
 * ```ts
 * readStep(PageText, { name: fromStep('page', 'name') }).bind('text')
 * ```
 */
export function readStep<R extends ResourceLike | TemplateLike>(
  resource: R,
  ...variables: VariableSources<R>
): ReadBuilder {
  const source = fromResource(resource, ...variables) as ReadDefinition['source'];
  return new ReadBuilder({ kind: 'read', source, resources: [] });
}

/** Builds a step that asks. */
export class AskBuilder extends DetailsBuilder<AskDefinition> {}

/** What a value looks like. */
export interface ValueOptions {
  readonly schema: JsonSchema;
}

/** Options of `ask.confirm`. */
export interface ConfirmOptions extends AskOptions {
  /**
   * The id of a later call: its binding, or else the name of its tool. The question shows the tool and its whole input; a
   * yes permits this call alone, and a no skips it. If the input differs by then, the question is asked again. Default:
   * the answer is a value only.
   */
  readonly approves?: string;
}

function asking(mode: AskDefinition['mode'], message: string, more: Partial<AskDefinition> = {}): AskBuilder {
  return new AskBuilder({ kind: 'ask', mode, message: text(message), resources: [], ...more });
}

/** @param options who answers; missing for the owner of the run. */
function answeredBy({ answerBy, remindAfterMs, escalateTo }: AskOptions = {}): Answering {
  return defined({ answerBy: answerers(answerBy), remindAfterMs, escalateTo: answerers(escalateTo) });
}

type Answering = Pick<AskDefinition, 'answerBy' | 'remindAfterMs' | 'escalateTo'>;

function answerers(option: AskOptions['answerBy']): readonly Answerer[] | undefined {
  if (option === undefined) return undefined;
  return Array.isArray(option) ? [...option] : [option as Answerer];
}

/**
 * Begins steps that ask. `{name}` in a message is replaced by an argument or an earlier binding.
 *
 * @example
 * ```ts
 * ask.confirm('Add {task} to {page.title}?').bind('sure')
 * ask.confirm('Pay {total}?', { answerBy: role('lead', { except: owner() }) }).bind('approved')
 * ask.confirm('Pay now?', { approves: 'paid' })
 * ask.model('A title for {task}', { schema: { type: 'string' } }).bind('title')
 * ```
 */
export const ask = {
  /** Tells the user something. It has no value. */
  info: (message: string, options?: AskOptions): AskBuilder => asking('info', message, answeredBy(options)),
  /** Asks for a yes or no. Its value is a boolean. */
  confirm: (message: string, { approves, ...options }: ConfirmOptions = {}): AskBuilder =>
    asking('confirm', message, { ...answeredBy(options), ...defined({ approves }) }),
  /** Asks for a text, which is its value. */
  text: (message: string, options?: AskOptions): AskBuilder => asking('text', message, answeredBy(options)),
  /** Asks to choose one of several texts, which is its value. */
  choice: (
    message: string,
    options: readonly [string, ...string[]] | DataSource,
    more?: AskOptions,
  ): AskBuilder =>
    asking('choice', message, {
      ...answeredBy(more),
      options: Array.isArray(options) ? constant([...options]) : (options as DataSource),
    }),
  /** Asks for a value of a JSON Schema. */
  value: (message: string, { schema, ...options }: ValueOptions & AskOptions): AskBuilder =>
    asking('yield', message, { schema, ...answeredBy(options) }),
  /** Asks a model for a value of a JSON Schema. For an argument of a tool, see {@link fromModel}. */
  model: (message: string, { schema }: ValueOptions): AskBuilder => asking('model', message, { schema }),
} as const;

/** Builds a step in which the client runs a command. Its value is `{ stdout, stderr, exit_code }`. */
export class ShellBuilder extends DetailsBuilder<ShellDefinition> {}

/** Builds a step that an agent of the client does. Its value is the reply. */
export class DelegateBuilder extends DetailsBuilder<DelegateDefinition> {}

/**
 * Begins a step in which the client runs a command. `{name}` is replaced by an argument or an earlier binding, quoted, so
 * that a shell reads it as one word.
 *
 * @example
 * ```ts
 * shell('wc -l {path}').bind('counted')
 * ```
 */
export function shell(command: string, options: ShellCommandOptions = {}): ShellBuilder {
  return new ShellBuilder({ kind: 'shell', command: text(command), ...options, resources: [] });
}

/**
 * Begins a step that an agent of the client does, by instructions. `{name}` in them is replaced by an argument or an earlier
 * binding.
 *
 * @example
 * ```ts
 * delegate('@code-reviewer', 'Review {change}').bind('review')
 * ```
 */
export function delegate(
  agent: AgentLike,
  instructions: string,
  options: DelegateTaskOptions = {},
): DelegateBuilder {
  return new DelegateBuilder({
    kind: 'delegate',
    agent,
    instructions: text(instructions),
    ...options,
    resources: [],
  });
}
