import type { RetryOptions, WorkflowOptions } from '../../decorators/workflow.js';
import type { Answerer } from '../../graph/answerers.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import type { Retry } from '../../graph/kinds/node.js';
import { retryFromAttempts } from '../../graph/kinds/node.js';
import type { AskNode, ErrorStrategy } from '../../graph/model.js';
import { InvalidMappingError, InvalidOptionError, reasons, type WorkflowError } from './errors.js';
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
  'title' | 'domain' | 'version' | 'expose' | 'scopes' | 'failFast'
>;

/** The result of a workflow. */
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
export type StepDefinition = CallDefinition | ReadDefinition | AskDefinition;

/** A step that calls a tool. */
export interface CallDefinition extends StepDetails {
  readonly kind: 'call';
  readonly tool: ToolLike;
  readonly args: readonly { readonly name: string; readonly source: ArgumentSource }[];
  /** More than one is an error of the workflow. */
  readonly transforms: readonly Transform[];
}

/** A step that reads a resource. */
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
  if (BACKOFFS.has(retry.backoff)) return retry;
  report(reasons.option('backoff', retry.backoff, [...BACKOFFS].join(' or ')));
  return undefined;
}

const BACKOFFS: ReadonlySet<string> = new Set([
  'constant',
  'linear',
  'exponential',
] satisfies Retry['backoff'][]);

/**
 * Finds values of wrong types, which programs without type checks can pass. A definition without these errors has the
 * types it declares, in all parts that the builder reads.
 */
export function shapeErrors({
  name,
  description,
  args,
  steps,
  strategy,
  result,
}: WorkflowDefinition): WorkflowError[] {
  const strategyKind = memberOf(strategy, 'kind');
  return [
    ...optionErrors('the workflow', [
      ['name', name, isText, 'text'],
      ['description', description, isText, 'text'],
    ]),
    ...args.flatMap((arg) =>
      optionErrors(`argument '${String(arg.name)}'`, [
        ['name', arg.name, isText, 'text'],
        ['description', arg.description, isText, 'text'],
        ['required', arg.required, optionally(isBoolean), 'true or false'],
        ['title', arg.title, optionally(isText), 'text'],
        ['secret', arg.secret, optionally(isBoolean), 'true or false'],
      ]),
    ),
    ...steps.flatMap(stepErrors),
    ...optionErrors('the error strategy', [
      [
        'kind',
        strategyKind,
        (kind) => strategy === undefined || STRATEGIES.has(kind),
        [...STRATEGIES].join(' or '),
      ],
      [
        'retry',
        memberOf(strategy, 'retry'),
        (retry) => strategyKind !== 'retry' || isObject(retry),
        'an object of options',
      ],
    ]),
    ...(result === undefined ? [] : resultErrors(result)),
  ];
}

const STRATEGIES: ReadonlySet<unknown> = new Set(['failFast', 'collect', 'retry']);

type Check = readonly [option: string, given: unknown, fits: (value: unknown) => boolean, range: string];

function optionErrors(owner: string, checks: readonly Check[]): WorkflowError[] {
  return checks.flatMap(([option, value, fits, range]) => {
    if (fits(value)) return [];
    return [new InvalidOptionError({ owner, reason: reasons.option(option, shown(value), range) })];
  });
}

function stepErrors(definition: StepDefinition | undefined, index: number): WorkflowError[] {
  const number = `step ${index + 1}`;
  if (
    !STEPS.has(memberOf(definition, 'kind')) ||
    !Array.isArray(memberOf(definition, 'resources')) ||
    definition === undefined
  ) {
    return [new InvalidOptionError({ owner: 'the workflow', reason: reasons.noStep(index + 1) })];
  }
  const { binding, title, guidance, summary } = definition;
  const step = typeof binding === 'string' ? binding : String(index + 1);
  return [
    ...optionErrors(typeof binding === 'string' ? `step '${binding}'` : number, [
      ['binding', binding, optionally(isText), 'text'],
      ['title', title, optionally(isText), 'text'],
      ['guidance', guidance, optionally(isText), 'text'],
      ['summary', summary, optionally(isText), 'text'],
    ]),
    ...sourcesOf(definition).flatMap(({ name, source }) => {
      if (isText(name) && (isSource(source) || (definition.kind === 'call' && isModelSource(source))))
        return [];
      return [
        new InvalidMappingError({ step, reason: reasons.noSource(String(name), shown(source)) }, 'SW4011'),
      ];
    }),
    ...(definition.kind === 'ask' && VALUES.has(definition.mode)
      ? optionErrors(`step '${step}'`, [['schema', definition.schema, isObject, 'a JSON Schema']])
      : []),
  ];
}

const STEPS: ReadonlySet<unknown> = new Set(['call', 'read', 'ask'] satisfies StepDefinition['kind'][]);

const VALUES: ReadonlySet<AskNode['mode']> = new Set(['yield', 'model']);

/** The sources of a step, with what each is for. */
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
    default:
      return step satisfies never;
  }
}

function isModelSource(value: unknown): boolean {
  return memberOf(value, 'kind') === 'model' && isSource(memberOf(value, 'message'));
}

function resultErrors({ value, id }: NonNullable<WorkflowDefinition['result']>): WorkflowError[] {
  const owner = 'the result';
  const misfits =
    isObject(value) && !isSource(value) ? Object.entries(value).filter(([, part]) => !isSource(part)) : [];
  return [
    ...optionErrors(owner, [
      ['id', id, optionally(isText), 'text'],
      ['value', value, isObject, 'a source, or an object of sources'],
    ]),
    ...misfits.map(
      ([name, part]) => new InvalidOptionError({ owner, reason: reasons.noSource(name, shown(part)) }),
    ),
  ];
}

function isSource(value: unknown): boolean {
  switch (memberOf(value, 'kind')) {
    case 'argument':
      return isText(memberOf(value, 'name'));
    case 'step':
      return isText(memberOf(value, 'binding')) && isPath(memberOf(value, 'path'));
    case 'text':
      return isText(memberOf(value, 'text'));
    case 'constant':
      return isObject(memberOf(value, 'value')) || isText(memberOf(value, 'fault'));
    case 'resource':
    case 'link': {
      const variables = memberOf(value, 'variables');
      return variables === undefined || (isObject(variables) && Object.values(variables).every(isSource));
    }
    case 'computed': {
      const sources = memberOf(value, 'sources');
      return (
        typeof memberOf(value, 'function') === 'function' && Array.isArray(sources) && sources.every(isSource)
      );
    }
    default:
      return false;
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Whether this may be a path. Its keys are checked when the source is lowered. */
function isPath(value: unknown): boolean {
  return value === undefined || isText(value) || Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function optionally(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || fits(value);
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'string') return `'${value}'`;
  return isObject(value) ? 'an object' : String(value);
}
