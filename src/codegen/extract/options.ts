import type { ArgOptions } from '../../decorators/arg.js';
import type { ValueRules } from '../../decorators/arg-rules.js';
import type { PromptOptions } from '../../decorators/prompt.js';
import type { ResourceOptions } from '../../decorators/resource.js';
import type { StateOptions } from '../../decorators/state.js';
import type { StepOptions } from '../../decorators/step.js';
import type { ToolAnnotations, ToolHints, ToolOptions } from '../../decorators/tool.js';
import type { WorkflowOptions } from '../../decorators/workflow.js';
import { RETRY_SAFETIES } from '../../graph/tool-safety.js';
import {
  anything,
  count,
  flag,
  icons,
  milliseconds,
  number,
  type OptionRule,
  type OptionRules,
  object,
  oneOf,
  pattern,
  positive,
  requiredText,
  retry,
  text,
  texts,
} from './option-rules.js';

export type { OptionRule, OptionRules } from './option-rules.js';

/** A rule for each option of a type, so that none is missing. */
export type Rules<Options> = { readonly [K in keyof Options]-?: OptionRule };

const schema: OptionRule = { expected: 'a schema' };
const states: OptionRule = { expected: 'a list of state classes' };
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
  examples: { accepts: Array.isArray, expected: 'a list' },
};

const toolRules: Rules<ToolOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  input: schema,
  output: schema,
  annotations: object('an object of hints', annotationRules),
  retrySafety: oneOf(...RETRY_SAFETIES),
  icons,
  hints: object('an object of hints', hintRules),
  needsState: states,
  secret: texts,
};

const resourceRules: Rules<ResourceOptions> = {
  name: requiredText,
  title: text,
  description: text,
  mimeType: text,
  file: text,
  dotSegments: texts,
};

const workflowRules: Rules<WorkflowOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  version: text,
  domain: text,
  instructions: { expected: 'a list of resource classes' },
  needsState: states,
  expose: {
    accepts: (value) => Array.isArray(value) && value.every((item) => item === 'prompt' || item === 'tool'),
    expected: "a list of `'prompt'` and `'tool'`",
  },
  failFast: flag,
  maxConcurrency: positive,
  errorStrategy: {
    ...oneOf('failFast', 'collect'),
    expected: "`'failFast'`, `'collect'` or `{ retry: { … } }`",
    inner: { retry: { ...retry, required: true } },
  },
};

const stateRules: Rules<StateOptions> = {
  name: requiredText,
  scope: { ...oneOf('run'), expected: "`'run'`: state ends with its run" },
  initial: anything,
};

const promptRules: Rules<PromptOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
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
  after: texts,
  join: oneOf('all_success', 'none_failed', 'none_failed_min_one_success', 'one_success', 'all_done'),
  title: text,
  guidance: text,
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
