import type { AgentOptions, DelegateOptions, ShellOptions } from '../../decorators/agents.js';
import type { ArgOptions, ValueRules } from '../../decorators/arg.js';
import type {
  AskModelOptions,
  AskOptions,
  AskValueOptions,
  ConfirmOptions,
  ForEachOptions,
  GotoOptions,
  ParallelOptions,
} from '../../decorators/control-flow.js';
import type { Icon, ListedOptions, OrderOptions } from '../../decorators/decorate.js';
import type { PromptOptions } from '../../decorators/prompt.js';
import type { ResourceOptions } from '../../decorators/resource.js';
import type { ToolAnnotations, ToolHints, ToolOptions, UpstreamOption } from '../../decorators/tool.js';
import type { CallOptions, FailOptions, NestedOptions } from '../../decorators/verbs.js';
import type { StateOptions, StepOptions, WorkflowOptions } from '../../decorators/workflow.js';
import { isJsonObject } from '../../graph/json.js';
import { BACKOFFS, JOIN_RULES } from '../../graph/kinds/node.js';
import { EXPOSURES, TASK_SUPPORT } from '../../graph/model.js';
import { SCOPE } from '../../graph/names.js';
import { RETRY_SAFETIES } from '../../graph/tool-safety.js';
import { objectRoot } from '../schemas/json-schema.js';
import type { VerbWithOptions } from '../verbs.js';

/** What an option may hold. */
export interface OptionRule {
  readonly required?: true;
  /** Whether a literal fits; without it the value is not a literal and is read elsewhere. */
  readonly accepts?: (value: unknown) => boolean;
  /** What it must be, after "must be". */
  readonly expected: string;
  /** What to write instead of what is not a literal. */
  readonly instead?: string;
  /** The options inside, where the value is an object of options. */
  readonly inner?: OptionRules;
  /** The options of each property, where the value is an object of such objects. */
  readonly each?: () => OptionRules;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

const text: OptionRule = { accepts: (value) => typeof value === 'string', expected: 'text' };

const requiredText: OptionRule = { ...text, required: true };

const flag: OptionRule = {
  accepts: (value) => typeof value === 'boolean',
  expected: '`true` or `false`',
};

const texts: OptionRule = { accepts: isListOfTexts, expected: 'a list of texts' };

const scopes: OptionRule = {
  accepts: (value) => isListOfTexts(value) && value.every((scope) => SCOPE.test(scope)),
  expected: 'a list of scopes: texts without spaces, quotes and backslashes',
};

const milliseconds: OptionRule = {
  accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value > 0,
  expected: 'a whole number of milliseconds above 0',
};

const anything: OptionRule = { accepts: () => true, expected: 'a literal' };

const number: OptionRule = { accepts: (value) => typeof value === 'number', expected: 'a number' };

const count: OptionRule = {
  accepts: (value) => Number.isInteger(value) && Number(value) >= 0,
  expected: 'a whole number from 0 on',
};

const positive: OptionRule = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  expected: 'a whole number above 0',
};

const pattern: OptionRule = {
  accepts: (value) => typeof value === 'string' && isPattern(value),
  expected: 'a regular expression, as of the flag `u`',
};

const icons: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.every(isIcon),
  expected: 'a list of `{ src, mimeType, sizes, theme }`',
};

const meta: OptionRule = {
  accepts: (value) => isJsonObject(value) && !Object.keys(value).some((key) => key.startsWith('stepwright/')),
  expected: 'an object whose keys do not begin with `stepwright/`',
};

/** Options of every class that clients list. */
const listedRules = { icons, meta } as const satisfies Rules<ListedOptions>;

/** One of some texts. */
function oneOf(...values: readonly string[]): OptionRule {
  const quoted = values.map((value) => `\`'${value}'\``);
  const expected = [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter(Boolean).join(' or ');
  return { accepts: (value) => values.some((each) => each === value), expected };
}

function object(expected: string, inner: OptionRules): OptionRule {
  return { accepts: isJsonObject, expected, inner };
}

/** Options of a retry; see `RetryOptions`. How far the numbers may go is checked with the graph. */
const retryRules = {
  attempts: { ...number, required: true },
  delayMs: number,
  backoff: oneOf(...BACKOFFS),
  capMs: number,
  jitter: number,
} as const satisfies OptionRules;

const retry: OptionRule = object('an object of retry options', retryRules);

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

const ICON_KEYS: ReadonlySet<string> = new Set([
  'src',
  'mimeType',
  'sizes',
  'theme',
] satisfies (keyof Icon)[]);

function isIcon(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { src, mimeType = '', sizes = [], theme = 'light' } = value;
  return (
    typeof src === 'string' &&
    /^(?:https?|data):/.test(src) &&
    typeof mimeType === 'string' &&
    isListOfTexts(sizes) &&
    (theme === 'light' || theme === 'dark') &&
    Object.keys(value).every((key) => ICON_KEYS.has(key))
  );
}

/** A rule for each option of a type, so that none is missing. */
type Rules<Options> = { readonly [K in keyof Options]-?: OptionRule };

const schema: OptionRule = { expected: 'a schema' };
const jsonSchema: OptionRule = {
  accepts: (value) => isJsonObject(value) && objectRoot(value) !== undefined,
  expected: "the JSON Schema of an object, written out: `{ type: 'object', properties: { … } }`",
};
const states: OptionRule = { expected: 'a list of state classes' };
const resourceClasses: OptionRule = { expected: 'a list of resource classes' };
const toolReferences: OptionRule = { expected: 'a list of functions that name tools: `[() => SomeTool]`' };

const annotationRules: Rules<ToolAnnotations> = {
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
};

const hintRules: Rules<ToolHints> = {
  category: text,
  next: toolReferences,
  requires: toolReferences,
  outputs: texts,
  hint: text,
  examples: { accepts: Array.isArray, expected: 'a list' },
};

const upstreamRules: Rules<UpstreamOption> = { server: requiredText, tool: requiredText };

const toolRules: Rules<ToolOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  input: schema,
  output: schema,
  inputSchema: jsonSchema,
  outputSchema: jsonSchema,
  listedSchema: oneOf('flat'),
  annotations: object('an object of hints', annotationRules),
  retrySafety: oneOf(...RETRY_SAFETIES),
  visibility: oneOf('client', 'workflow'),
  scopes,
  task: oneOf('optional', 'required'),
  ...listedRules,
  hints: object('an object of hints', hintRules),
  needsState: states,
  upstream: object('an object `{ server, tool }`', upstreamRules),
  secret: texts,
};

const resourceRules: Rules<ResourceOptions> = {
  name: requiredText,
  title: text,
  description: text,
  mimeType: text,
  file: text,
  dotSegments: texts,
  ...listedRules,
};

const workflowRules: Rules<WorkflowOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  version: text,
  domain: text,
  instructions: resourceClasses,
  needsState: states,
  expose: {
    accepts: (value) =>
      Array.isArray(value) && value.every((item) => EXPOSURES.some((each) => each === item)),
    expected: "a list of `'prompt'`, `'tool'`, `'resource'` and `'skill'`",
  },
  scopes,
  ...listedRules,
  failFast: flag,
  onFailure: oneOf('undo'),
  maxConcurrency: positive,
  task: flag,
  taskSupport: oneOf(...TASK_SUPPORT),
  allowNestedAgents: flag,
  errorStrategy: {
    ...oneOf('failFast', 'collect'),
    expected: "`'failFast'`, `'collect'` or `{ retry: { … } }`",
    inner: { retry: { ...retry, required: true } },
  },
};

const stateRules: Rules<StateOptions> = {
  name: requiredText,
  scope: { ...oneOf('run', 'workflow'), expected: "`'run'` or `'workflow'`: state ends with its run" },
  initial: anything,
};

const agentRules: Rules<AgentOptions> = { name: requiredText };

const promptRules: Rules<PromptOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  ...listedRules,
};

const valueRules: Rules<ValueRules> = {
  type: oneOf('integer'),
  pattern,
  minLength: count,
  maxLength: count,
  enum: {
    accepts: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((item) => typeof item === 'string' || typeof item === 'number'),
    expected: 'a list of texts or numbers',
  },
  min: number,
  max: number,
  minItems: count,
  maxItems: count,
  itemType: oneOf('string', 'number', 'integer', 'boolean', 'array', 'object'),
  requiredKeys: texts,
  properties: { accepts: () => false, expected: 'an object of rules', each: () => valueRules },
};

const argRules: Rules<ArgOptions> = {
  name: text,
  description: requiredText,
  title: text,
  default: anything,
  secret: flag,
  complete: { expected: 'a function' },
  ...valueRules,
};

const stepRules: Rules<StepOptions> = {
  id: text,
  after: {
    ...texts,
    instead:
      "name steps as texts: `['first']`; a verb names them by reference: `call(…, { after: [this.first] })`",
  },
  join: oneOf(...JOIN_RULES),
  title: text,
  guidance: text,
  resources: resourceClasses,
  timeoutMs: milliseconds,
  retry,
  embed: flag,
  summary: text,
};

/** The decorators that codegen reads and what each takes; their option types keep this table complete. */
export const optionRules = {
  Tool: toolRules,
  Resource: resourceRules,
  Workflow: workflowRules,
  State: stateRules,
  Agent: agentRules,
  Prompt: promptRules,
  Arg: argRules,
  Step: stepRules,
} as const satisfies Record<string, OptionRules>;

export type DecoratorName = keyof typeof optionRules;

export const DECORATOR_NAMES = Object.keys(optionRules) as readonly DecoratorName[];

/** True for the name of a decorator that codegen reads. */
export function isDecoratorName(name: string): name is DecoratorName {
  return Object.hasOwn(optionRules, name);
}

/** What every verb takes. */
export const orderRules = {
  after: { expected: 'a list of steps: `[this.first]`' },
  writes: { expected: 'the class of a field of state' },
} as const satisfies Rules<OrderOptions>;

const nestedRules: Rules<NestedOptions> = { ...orderRules, id: text, timeoutMs: milliseconds, retry };

const callRules: Rules<CallOptions> = {
  ...nestedRules,
  compensate: { expected: 'a function' },
  transform: { expected: 'a function' },
};

const parallelRules: Rules<ParallelOptions> = {
  ...orderRules,
  concurrency: positive,
  onPartialFailure: oneOf('abort', 'continue', 'rollback'),
};

const forEachRules: Rules<ForEachOptions> = {
  ...orderRules,
  concurrency: positive,
  max: positive,
  onItemError: oneOf('fail', 'continue', 'settle', 'report'),
  agent: { expected: 'the class of an agent' },
};

const gotoRules: Rules<GotoOptions> = {
  ...orderRules,
  max: { ...positive, required: true },
  onLimit: oneOf('fail', 'continue'),
};

const shellRules: Rules<ShellOptions> = {
  ...nestedRules,
  argv: { expected: 'a list of texts' },
  env: { expected: 'an object of texts' },
  failOnError: flag,
};

const delegateRules: Rules<DelegateOptions> = {
  ...nestedRules,
  response: schema,
  tools: { expected: 'a list of tool classes' },
};

const failRules: Rules<FailOptions> = { ...orderRules, code: text };

const askRules: Rules<AskOptions> = {
  ...orderRules,
  answerBy: { expected: "who may answer: `role('lead')`" },
  remindAfterMs: milliseconds,
  escalateTo: { expected: "who may answer after the reminder: `role('manager')`" },
};

const confirmRules: Rules<ConfirmOptions> = {
  ...askRules,
  approves: { expected: 'a call: `call(Tool, { … })`' },
};

const askModelRules: Rules<AskModelOptions> = {
  ...orderRules,
  schema: { accepts: isJsonObject, expected: "a JSON Schema, written out: `{ type: 'string' }`" },
};

const askValueRules: Rules<AskValueOptions> = { ...askRules, ...askModelRules };

/** What the last argument of a verb takes that has more options than `after`. */
const verbRules: Readonly<Partial<Record<VerbWithOptions, OptionRules>>> = {
  call: callRules,
  run: nestedRules,
  parallel: parallelRules,
  forEach: forEachRules,
  goto: gotoRules,
  fail: failRules,
  'ask.info': askRules,
  'ask.confirm': confirmRules,
  'ask.text': askRules,
  'ask.choice': askRules,
  'ask.pick': askRules,
  'ask.value': askValueRules,
  'ask.model': askModelRules,
  shell: shellRules,
  delegate: delegateRules,
  onClient: {},
};

/** What the last argument of a verb takes. */
export function verbRulesOf(verb: VerbWithOptions): OptionRules {
  return verbRules[verb] ?? orderRules;
}
