import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type DecoratesClass, decorateClass, optionsOf, WorkflowNotRunnableError } from './decorate.js';
import type { ToolClass } from './tool.js';
import type { Made, NestedOptions } from './verbs.js';

/** Options of {@link Agent}. */
export interface AgentOptions {
  /** The name that the client knows the agent by, with `@` before it; `^@[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`. */
  readonly name: string;
}

/**
 * A class of an agent. It may have one field, `reply`, with the type of the agent's replies. The class is never
 * instantiated.
 */
export type AgentClass<Reply = unknown> = new () => { reply?: Reply };

/**
 * Makes a class an agent of the client: a sub-agent that {@link delegate} hands work to, and that drives the items of a
 * `forEach` with `agent`. The type of its field `reply` is what it replies with. Default: text.
 *
 * @example
 * ```ts
 * @Agent({ name: '@code-reviewer' })
 * export class CodeReviewer {}
 *
 * @Agent({ name: '@researcher' })
 * export class Researcher { reply!: { summary: string; sources: string[] }; }
 * ```
 * @throws TypeError without options, on anything but a class, on a class that has a decorator of this package, and on a
 *   class with `@Arg` or `@Step` fields.
 */
export function Agent(options: AgentOptions): DecoratesClass<AgentClass>;
export function Agent(...args: readonly unknown[]): DecoratesClass<AgentClass> {
  const options = optionsOf<AgentOptions>('Agent', args);
  return (target, context) => decorateClass('Agent', target, context, () => ({ kind: 'agent', options }));
}

/** Options of {@link delegate}. */
export interface DelegateOptions<Reply = unknown> extends NestedOptions {
  /**
   * Schema of the reply, written here or as a `const`, with the functions of zod alone. A reply that does not fit is
   * refused, and the agent may send another; the third one fails the step. Default: the type of `reply` of the agent's
   * class, else text.
   */
  readonly response?: StandardSchemaV1<unknown, Reply>;
  /** The tools that the agent may use. Default: its own. */
  readonly tools?: readonly ToolClass[];
}

/**
 * Delegates work to an agent of the client, by instructions. `null` delegates to the agent that drives the run. The
 * value is the reply. The limit is 300 s from the time that the client has the instructions, unless the step has a
 * `timeoutMs`.
 *
 * @example
 * ```ts
 * @Step() review = delegate(CodeReviewer, `Review this plan: ${this.plan.text}`);
 * @Step() titles = delegate(null, 'Suggest three titles', { response: z.array(z.string()).max(3) });
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function delegate<Reply = string, Output = Reply>(
  _agent: AgentClass<Reply> | null,
  _instructions: string,
  _options?: DelegateOptions<Output>,
): Made<Output> {
  throw new WorkflowNotRunnableError('delegate(...)');
}

/**
 * Has the client make a call instead of the server. The value is that of the call. The limit is 30 s from the time that
 * the client has the call, unless the step has a `timeoutMs`.
 *
 * @example
 * ```ts
 * @Step() pages = onClient(call(WebSearch, { query: this.topic }));
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export function onClient<Output>(_call: Output): Output {
  throw new WorkflowNotRunnableError('onClient(...)');
}

/** What a client returns for a command. */
export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  /** In milliseconds. */
  readonly duration?: number;
  /** Set if the output was cut. */
  readonly truncated?: boolean;
}

/** Options of {@link shell}. */
export interface ShellOptions extends NestedOptions {
  /** Arguments: with them the template is the name of a program, and no shell reads either. Default: a shell runs it. */
  readonly argv?: readonly string[];
  /** Environment variables, which are added to those of the client. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether an exit code other than 0 fails the step. Default: `false`, the code is data. */
  readonly failOnError?: boolean;
}

/** A tag for templates that are commands. */
export type ShellTag = (
  command: TemplateStringsArray,
  ...values: readonly (string | number)[]
) => ShellResult;

/** See {@link shell}. */
export interface Shell extends ShellTag {
  (options: ShellOptions): ShellTag;
  /**
   * Inserts a text into a command as it is, without quotes. A shell reads all of it: never use it for values that
   * others supply. Codegen warns of it.
   *
   * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
   */
  raw(text: string): string;
}

/**
 * Has the client run a command. Each `${value}` is quoted, so that a shell reads it as one word: write no quotes around
 * it. The value is `{ stdout, stderr, exit_code }`; an exit code other than 0 is data, unless `failOnError` is set. The
 * limit is 30 s from the time that the client has the command, unless the step has a `timeoutMs`.
 *
 * @example
 * ```ts
 * @Step() log = shell`git log -n ${this.count} -- ${this.path}`;
 * @Step() pushed = shell({ failOnError: true, env: { GIT_TERMINAL_PROMPT: '0' } })`git push`;
 * @Step() listed = shell({ argv: ['-la', this.path] })`ls`;
 * ```
 * @throws WorkflowNotRunnableError if it is called: codegen reads the call instead of running it.
 */
export const shell: Shell = Object.assign(
  (): never => {
    throw new WorkflowNotRunnableError('shell`...`');
  },
  {
    raw: (): never => {
      throw new WorkflowNotRunnableError('shell.raw(...)');
    },
  },
);
