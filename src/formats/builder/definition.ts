import type { AgentClass } from '../../decorators/agents.js';
import type { RetryOptions, WorkflowOptions } from '../../decorators/workflow.js';
import type { Answerer } from '../../graph/answerers.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import { BACKOFFS, type Retry, retryFromAttempts } from '../../graph/kinds/node.js';
import type { AskNode, ErrorStrategy } from '../../graph/model.js';
import { InvalidMappingError, InvalidOptionError, optionReason, type WorkflowError } from './errors.js';
import type { Transform } from './expressions.js';
import type { AddressedSource, ArgumentSource, DataSource } from './sources.js';
import type { ResourceLike, ToolLike } from './tools-and-resources.js';

/** The data that the methods of a workflow builder collect, in the order of the calls. */
export interface WorkflowDefinition {
  readonly name: string;
  readonly description: string;
  readonly details: WorkflowDetails;
  readonly args: readonly ArgumentDefinition[];
  readonly instructions: readonly ResourceLike[];
  readonly steps: readonly StepDefinition[];
  readonly strategy?: StrategyOptions;
  readonly result?: ResultDefinition;
}

/** Further options of a workflow, with the meanings and defaults that they have in `@Workflow`. */
export type WorkflowDetails = Pick<
  WorkflowOptions,
  'title' | 'domain' | 'version' | 'expose' | 'scopes' | 'failFast' | 'onFailure' | 'task' | 'taskSupport'
>;

export interface ResultDefinition {
  readonly value: ResultValue;
  /** Id of the node. Default: `output`, with a number if that is taken. */
  readonly id?: string;
}

/** The result of a workflow: one source, or an object of sources. */
export type ResultValue = DataSource | Readonly<Record<string, DataSource>>;

export type ArgumentDefinition = {
  readonly name: string;
  readonly description: string;
} & ArgumentOptions;

/** Options of an argument. `required` or `default` is given. */
export type ArgumentOptions = {
  /** JSON Schema of the value in the workflow, after coercion from text. Default: `{ type: 'string' }`. */
  readonly schema?: JsonSchema;
  /** A name for people. Default: the argument's name. */
  readonly title?: string;
  /** Whether the value is masked in traces, logs and spans. Default: `false`. */
  readonly secret?: boolean;
} & (
  | { readonly required: boolean; readonly default?: undefined }
  /** The value if the caller leaves the argument out. */
  | { readonly required?: false; readonly default: Json }
);

/** The data that the methods of a step builder collect, in the order of the calls. */
export type StepDefinition =
  | CallDefinition
  | ReadDefinition
  | AskDefinition
  | ShellDefinition
  | DelegateDefinition;

export interface CallDefinition extends StepDetails {
  readonly kind: 'call';
  readonly tool: ToolLike;
  readonly args: readonly { readonly name: string; readonly source: ArgumentSource }[];
  /** Set if the client makes the call. */
  readonly isOnClient?: true;
  /** More than one is an error of the workflow. */
  readonly transforms: readonly Transform[];
  /** The call that undoes. */
  readonly compensate?: CallDefinition;
}

export interface ReadDefinition extends StepDetails {
  readonly kind: 'read';
  readonly source: AddressedSource;
}

/** A step that asks a person, or a model. */
export interface AskDefinition extends StepDetails {
  readonly kind: 'ask';
  readonly mode: AskNode['mode'];
  readonly message: DataSource;
  /** Of a choice. */
  readonly options?: DataSource;
  /** Of a value. */
  readonly schema?: JsonSchema;
  readonly answerBy?: readonly Answerer[];
  readonly remindAfterMs?: number;
  readonly escalateTo?: readonly Answerer[];
  /** Of a confirmation: the id of the call that a yes permits. */
  readonly approves?: string;
}

/** An agent of the client: its class, its name with `@` before it, or null for the one that drives the run. */
export type AgentLike = AgentClass | `@${string}` | null;

/** Options of `shell`. */
export interface ShellCommandOptions {
  /** Arguments: with them the command is the name of a program, and no shell reads either. */
  readonly argv?: readonly DataSource[];
  /** Environment variables beside those of the client. */
  readonly env?: Readonly<Record<string, DataSource>>;
  /** Whether an exit code other than 0 fails the step. Default: `false`. */
  readonly failOnError?: boolean;
}

/** Options of `delegate`. */
export interface DelegateTaskOptions {
  /** JSON Schema of the reply. Default: text. */
  readonly schema?: JsonSchema;
  /** The tools that the agent may use. Default: its own. */
  readonly tools?: readonly ToolLike[];
}

/** A step in which the client runs a command. */
export interface ShellDefinition extends StepDetails, ShellCommandOptions {
  readonly kind: 'shell';
  readonly command: DataSource;
}

/** A step that an agent does. */
export interface DelegateDefinition extends StepDetails, DelegateTaskOptions {
  readonly kind: 'delegate';
  readonly agent: AgentLike;
  readonly instructions: DataSource;
}

/** The options of steps of all kinds. */
export interface StepDetails {
  /** Read before the step acts. */
  readonly resources: readonly ResourceLike[];
  readonly binding?: string;
  readonly title?: string;
  readonly guidance?: string;
  readonly summary?: string;
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
}

/** What a failed step means for the workflow. Made by `failFast`, `collect` and `retry`. */
export type StrategyOptions =
  | { readonly kind: 'failFast' }
  | { readonly kind: 'collect' }
  | { readonly kind: 'retry'; readonly retry: RetryOptions };

/** The default error strategy: after the first failure no further step starts. */
export function failFast(): StrategyOptions {
  return { kind: 'failFast' };
}

/** Runs every step that uses no failed one. The workflow fails at the end, with all failures. */
export function collect(): StrategyOptions {
  return { kind: 'collect' };
}

/** Retries each step without a `retry`. After the first failure of a last attempt no further step starts. */
export function retry(options: RetryOptions): StrategyOptions {
  return { kind: 'retry', retry: { ...options } };
}

/**
 * Makes the error strategy of the graph.
 *
 * @param report receives the reason if an option is invalid.
 * @returns `undefined` if an option is invalid.
 */
export function strategyOf(
  strategy: StrategyOptions,
  report: (reason: string) => void,
): ErrorStrategy | undefined {
  if (strategy.kind !== 'retry') return { kind: strategy.kind };
  const lowered = retryOf(strategy.retry, report);
  return lowered === undefined ? undefined : { kind: 'retry', retry: lowered };
}

/**
 * Makes the retry options of the graph, with defaults filled in. The checker reports numbers out of range.
 *
 * @param report receives the reason if `backoff` is invalid.
 * @returns `undefined` if `backoff` is invalid.
 */
export function retryOf(options: RetryOptions, report: (reason: string) => void): Retry | undefined {
  const retry = retryFromAttempts(options);
  if (BACKOFFS.includes(retry.backoff)) return retry;
  report(optionReason('backoff', retry.backoff, BACKOFFS.join(' or ')));
  return undefined;
}

/** What an option must be: a check, and what it accepts in words. */
type Shape = readonly [fits: (value: unknown) => boolean, range: string];

const TEXT: Shape = [isText, 'text'];
const OPTIONAL_TEXT: Shape = [(value) => value === undefined || isText(value), 'text'];
const OPTIONAL_FLAG: Shape = [(value) => value === undefined || typeof value === 'boolean', 'true or false'];
const SCHEMA: Shape = [isObject, 'a JSON Schema'];

const STRATEGIES: readonly unknown[] = ['failFast', 'collect', 'retry'] satisfies StrategyOptions['kind'][];

/** The options that programs without type checks can give other types, by what has them. */
const SHAPES = {
  workflow: { name: TEXT, description: TEXT },
  argument: {
    name: TEXT,
    description: TEXT,
    required: OPTIONAL_FLAG,
    title: OPTIONAL_TEXT,
    secret: OPTIONAL_FLAG,
  },
  step: { binding: OPTIONAL_TEXT, title: OPTIONAL_TEXT, guidance: OPTIONAL_TEXT, summary: OPTIONAL_TEXT },
  strategy: { kind: [(kind) => STRATEGIES.includes(kind), STRATEGIES.join(' or ')] },
  retryStrategy: { retry: [isObject, 'an object of options'] },
  result: { id: OPTIONAL_TEXT, value: [isObject, 'a source, or an object of sources'] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Shape>>>>;

/** Of each source, whether it has the members that the lowering reads. The keys of paths are checked there. */
const SOURCES: Readonly<Record<DataSource['kind'], (source: Members) => boolean>> = {
  argument: ({ name }) => isText(name),
  step: ({ binding, path }) => isText(binding) && (path === undefined || isText(path) || Array.isArray(path)),
  text: ({ text }) => isText(text),
  constant: ({ value, fault }) => isObject(value) || isText(fault),
  resource: ({ variables }) => areVariables(variables),
  link: ({ variables }) => areVariables(variables),
  computed: ({ function: called, sources }) =>
    typeof called === 'function' && Array.isArray(sources) && sources.every(isSource),
};

/**
 * Finds values of wrong types, which programs without type checks can pass. A definition without these errors has the
 * types it declares, in all parts that the builder reads.
 */
export function shapeErrors(definition: WorkflowDefinition): WorkflowError[] {
  const { args, steps, strategy, result } = definition;
  return [
    ...misfits('the workflow', definition, SHAPES.workflow),
    ...args.flatMap((arg) => misfits(`argument '${String(arg.name)}'`, arg, SHAPES.argument)),
    ...steps.flatMap(stepErrors),
    ...(strategy === undefined ? [] : misfits('the error strategy', strategy, SHAPES.strategy)),
    ...(strategy?.kind === 'retry' ? misfits('the error strategy', strategy, SHAPES.retryStrategy) : []),
    ...(result === undefined ? [] : resultErrors(result)),
  ];
}

function misfits(owner: string, value: unknown, shapes: Readonly<Record<string, Shape>>): WorkflowError[] {
  return Object.entries(shapes).flatMap(([option, [fits, range]]) => {
    const member = memberOf(value, option);
    if (fits(member)) return [];
    return [new InvalidOptionError({ owner, reason: optionReason(option, shown(member), range) })];
  });
}

function stepErrors(definition: StepDefinition | undefined, index: number): WorkflowError[] {
  if (
    definition === undefined ||
    !STEPS.has(memberOf(definition, 'kind')) ||
    !Array.isArray(definition.resources)
  ) {
    const reason = `Step ${index + 1} was not made with step(…)`;
    return [new InvalidOptionError({ owner: 'the workflow', reason })];
  }
  const { binding } = definition;
  const step = isText(binding) ? binding : String(index + 1);
  return [
    ...misfits(isText(binding) ? `step '${binding}'` : `step ${index + 1}`, definition, SHAPES.step),
    ...sourcesOf(definition).flatMap(({ name, source }) => {
      if (isText(name) && (isSource(source) || (definition.kind === 'call' && isModelSource(source))))
        return [];
      return [new InvalidMappingError({ step, reason: sourceReason(String(name), source) }, 'SW4011')];
    }),
    ...compensationErrors(definition, step),
    ...(definition.kind === 'ask' && VALUES.has(definition.mode)
      ? misfits(`step '${step}'`, definition, { schema: SCHEMA })
      : []),
  ];
}

/** The call that undoes has a tool and arguments, which are known when the step has succeeded. */
function compensationErrors(definition: StepDefinition, step: string): WorkflowError[] {
  const undo: unknown = memberOf(definition, 'compensate');
  if (undo === undefined) return [];
  const { kind, tool: _, args, ...others } = isObject(undo) ? undo : {};
  const owner = `step '${step}'`;
  if (kind !== 'call' || !Array.isArray(args)) {
    return [new InvalidOptionError({ owner, reason: optionReason('compensate', shown(undo), 'step(…)') })];
  }
  const extra = Object.entries(others).find(([, value]) => !Array.isArray(value) || value.length > 0);
  const reason = extra && `The step that 'compensate' takes has '${extra[0]}'. It may have '.arg(…)' alone`;
  const misfit = args.find(({ name, source }) => !isText(name) || !isSource(source));
  return [
    ...(reason === undefined ? [] : [new InvalidOptionError({ owner, reason })]),
    ...(misfit === undefined
      ? []
      : [
          new InvalidMappingError(
            { step, reason: sourceReason(String(misfit.name), misfit.source) },
            'SW4011',
          ),
        ]),
  ];
}

const STEPS: ReadonlySet<unknown> = new Set([
  'call',
  'read',
  'ask',
  'shell',
  'delegate',
] satisfies StepDefinition['kind'][]);

const VALUES: ReadonlySet<AskNode['mode']> = new Set(['yield', 'model']);

function sourcesOf(step: StepDefinition): readonly { readonly name: string; readonly source: unknown }[] {
  switch (step.kind) {
    case 'call':
      return Array.isArray(step.args) ? step.args : [];
    case 'read':
      return [{ name: 'read', source: step.source }];
    case 'ask': {
      const options = step.options === undefined ? [] : [{ name: 'options', source: step.options }];
      return [{ name: 'message', source: step.message }, ...options];
    }
    case 'shell': {
      const env = Object.entries(step.env ?? {}).map(([name, source]) => ({ name, source }));
      const argv = (step.argv ?? []).map((source) => ({ name: 'argv', source }));
      return [{ name: 'command', source: step.command }, ...argv, ...env];
    }
    case 'delegate':
      return [{ name: 'instructions', source: step.instructions }];
    default:
      return step satisfies never;
  }
}

function isModelSource(value: unknown): boolean {
  return memberOf(value, 'kind') === 'model' && isSource(memberOf(value, 'message'));
}

function resultErrors(result: ResultDefinition): WorkflowError[] {
  const owner = 'the result';
  const { value } = result;
  const others =
    isObject(value) && !isSource(value) ? Object.entries(value).filter(([, part]) => !isSource(part)) : [];
  return [
    ...misfits(owner, result, SHAPES.result),
    ...others.map(([name, part]) => new InvalidOptionError({ owner, reason: sourceReason(name, part) })),
  ];
}

function sourceReason(name: string, value: unknown): string {
  return `'${name}' is given ${shown(value)}. Give it promptArg(…), fromStep(…), constant(…), text(…), fromResource(…), linkTo(…) or computed(…); fromModel(…) is for arguments of tools`;
}

function isSource(value: unknown): boolean {
  const kind = memberOf(value, 'kind');
  return (
    isObject(value) &&
    isText(kind) &&
    Object.hasOwn(SOURCES, kind) &&
    SOURCES[kind as DataSource['kind']](value)
  );
}

function areVariables(variables: unknown): boolean {
  return variables === undefined || (isObject(variables) && Object.values(variables).every(isSource));
}

type Members = Readonly<Record<string, unknown>>;

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (isText(value)) return `'${value}'`;
  return isObject(value) ? 'an object' : String(value);
}
