import type { ArgOptions } from '../../decorators/arg.js';
import type { ResourceOptions } from '../../decorators/resource.js';
import type { StepOptions } from '../../decorators/step.js';
import type { ToolAnnotations, ToolOptions } from '../../decorators/tool.js';
import type { WorkflowOptions } from '../../decorators/workflow.js';

/** What an option may hold. */
export interface OptionRule {
  readonly required?: true;
  /** Whether a literal fits; without it the value is not a literal and is read elsewhere. */
  readonly accepts?: (value: unknown) => boolean;
  /** What it must be, after "must be". */
  readonly expected: string;
  /** The options inside, where the value is an object of options. */
  readonly inner?: Readonly<Record<string, OptionRule>>;
}

type Rules<Options> = { readonly [K in keyof Options]-?: OptionRule };

const text: OptionRule = { accepts: (value) => typeof value === 'string', expected: 'text' };
const requiredText: OptionRule = { ...text, required: true };
const flag: OptionRule = { accepts: (value) => typeof value === 'boolean', expected: '`true` or `false`' };
const texts: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  expected: 'a list of texts',
};
const milliseconds: OptionRule = {
  accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value > 0,
  expected: 'a whole number of milliseconds above 0',
};
const anything: OptionRule = { accepts: () => true, expected: 'a literal' };
const schema: OptionRule = { expected: 'a schema' };

const annotationRules: Rules<ToolAnnotations> = {
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
};

const toolRules: Rules<ToolOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  input: schema,
  output: schema,
  annotations: {
    accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    expected: 'an object of hints',
    inner: annotationRules,
  },
};

const resourceRules: Rules<ResourceOptions> = {
  name: requiredText,
  title: text,
  description: text,
  mimeType: text,
  file: text,
};

const workflowRules: Rules<WorkflowOptions> = {
  name: requiredText,
  title: text,
  description: requiredText,
  version: text,
  domain: text,
  instructions: { expected: 'a list of resource classes' },
  expose: {
    accepts: (value) => Array.isArray(value) && value.every((item) => item === 'prompt'),
    expected: "`['prompt']`",
  },
  failFast: flag,
};

const argRules: Rules<ArgOptions> = {
  description: requiredText,
  title: text,
  default: anything,
  secret: flag,
};

const stepRules: Rules<StepOptions> = {
  id: text,
  after: texts,
  title: text,
  guidance: text,
  timeoutMs: milliseconds,
};

/** The decorators that codegen reads and what each takes; their option types keep this table complete. */
export const optionRules = {
  Tool: toolRules,
  Resource: resourceRules,
  Workflow: workflowRules,
  Arg: argRules,
  Step: stepRules,
} as const satisfies Record<string, Readonly<Record<string, OptionRule>>>;

export type DecoratorName = keyof typeof optionRules;

export const DECORATOR_NAMES = Object.keys(optionRules) as readonly DecoratorName[];

/** True for the name of a decorator that codegen reads. */
export function isDecoratorName(name: string): name is DecoratorName {
  return Object.hasOwn(optionRules, name);
}
