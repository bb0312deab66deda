import type { JsonSchema } from '../../../graph/json.js';
import { TASK_SUPPORT } from '../../../graph/model.js';
import { ref } from '../dialect.js';
import { DURATION_PATTERN } from '../fields.js';

/** A key of the dialect: what it means, and its form. One table serves the reader, the schema for editors and the docs. */
export interface Key {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly isRequired?: true;
}

export type Keys = Readonly<Record<string, Key>>;

const TEXT: JsonSchema = { type: 'string' };
const FLAG: JsonSchema = { type: 'boolean' };
const NUMBER: JsonSchema = { type: 'number' };
const SECONDS: JsonSchema = { anyOf: [NUMBER, { type: 'string', pattern: DURATION_PATTERN }] };
const VALUES: JsonSchema = { type: 'object' };

const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const stepList = (minItems: number): JsonSchema => ({ type: 'array', items: ref('step'), minItems });
const byName = (definition: string): JsonSchema => ({
  type: 'object',
  additionalProperties: ref(definition),
});

export const INPUT_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;
export type InputType = (typeof INPUT_TYPES)[number];

/** The rules of values, by the types that have them. */
export const VALIDATION_KEYS: Readonly<Record<InputType, readonly string[]>> = {
  string: ['pattern', 'min_length', 'max_length', 'enum'],
  number: ['min', 'max', 'enum'],
  integer: ['min', 'max', 'enum'],
  boolean: ['enum'],
  array: ['min_items', 'max_items', 'item_type'],
  object: ['required_keys', 'properties'],
};

export const VALIDATION: Keys = {
  pattern: { description: 'A regular expression that is found in the text.', schema: TEXT },
  min_length: { description: 'The least number of characters.', schema: NUMBER },
  max_length: { description: 'The largest number of characters.', schema: NUMBER },
  enum: { description: 'The values that are allowed.', schema: { type: 'array' } },
  min: { description: 'The smallest number.', schema: NUMBER },
  max: { description: 'The largest number.', schema: NUMBER },
  min_items: { description: 'The least number of items.', schema: NUMBER },
  max_items: { description: 'The largest number of items.', schema: NUMBER },
  item_type: { description: 'The type of the items.', schema: { enum: [...INPUT_TYPES] } },
  required_keys: { description: 'The keys that the object must have.', schema: listOf(TEXT) },
  properties: { description: 'What the keys of the object hold.', schema: byName('property') },
};

const TYPE: Key = { description: 'The type of the value.', schema: { enum: [...INPUT_TYPES] } };
const RULES: Key = { description: 'What else holds for the value.', schema: ref('validation') };
const describes = (what: string): Key => ({ description: what, schema: TEXT });

export const INPUT: Keys = {
  type: { ...TYPE, isRequired: true },
  description: describes('What the value means, for the caller.'),
  required: { description: 'Whether a caller must give it. Default: false.', schema: FLAG },
  default: { description: 'The value for callers that leave it out. Default: null.', schema: {} },
  validation: RULES,
};

export const PROPERTY: Keys = {
  type: TYPE,
  description: describes('What the value means.'),
  validation: RULES,
  ...VALIDATION,
};

const SCOPE: Keys = {
  description: describes('What it does, for those who choose it.'),
  inputs: { description: 'What a caller gives, by name.', schema: byName('input') },
  initial_state: {
    description:
      'The first values of state fields. In a task they may be templates over `inputs`, `item` and `index`.',
    schema: VALUES,
  },
  steps: { description: 'The steps, one after the other.', schema: stepList(1), isRequired: true },
};

export const TASK: Keys = SCOPE;

export const DOCUMENT: Keys = {
  $schema: { description: 'The JSON Schema of this file, for editors.', schema: TEXT },
  name: { description: 'The name of the workflow.', schema: TEXT, isRequired: true },
  version: {
    description: 'The version, as text: `"1.0.0"`. Default: `"0.0.0"`.',
    schema: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+(?:[-+][0-9A-Za-z.+-]+)?$' },
  },
  ...SCOPE,
  secret_state: {
    description: 'State fields whose values are not shown with the state and with partial results.',
    schema: listOf(TEXT),
  },
  tasks: { description: 'What `foreach` runs for each item, by name.', schema: byName('task') },
  task: {
    description:
      'Whether its runs are tasks: a step that fails waits for its result or for another attempt. Default: false.',
    schema: FLAG,
  },
  task_support: {
    description:
      'Whether clients may, or must, call its tool as an MCP task. Default: `optional` with `task`, else `forbidden`.',
    schema: { enum: [...TASK_SUPPORT] },
  },
  allow_nested_agents: {
    description: 'Whether the steps of an agent may give work to other agents. Default: false.',
    schema: FLAG,
  },
};

export const COMMON: Keys = {
  id: {
    description: 'The name of the step, unique in the workflow or task.',
    schema: TEXT,
    isRequired: true,
  },
  type: { description: 'What the step does.', schema: TEXT, isRequired: true },
  description: describes('The title of the step, for people.'),
  needs_state: {
    description: 'The state fields that the step reads; `["*"]` for all. Default: no field.',
    schema: listOf(TEXT),
  },
};

const WHEN: Key = {
  description: 'A condition, `{{ … }}`. If it is false, the step is skipped.',
  schema: TEXT,
};
const OUTPUT: Key = { description: 'The state field that gets the result.', schema: TEXT };
const timeout = (seconds: number): Key => ({
  description: `Seconds, or a time such as \`30s\`. Default: ${seconds}.`,
  schema: SECONDS,
});
const optional: Keys = { when: WHEN, output_to: OUTPUT };

export const PROMPT_TYPES = ['info', 'confirm', 'text', 'choice'] as const;

/** The types of steps, with the keys that each has besides those of all. */
export const STEPS = {
  condition: {
    ...optional,
    if: { description: 'The condition, `{{ … }}`.', schema: TEXT, isRequired: true },
    // biome-ignore lint/suspicious/noThenProperty: a key of the dialect
    then: { description: 'The steps if it is true.', schema: stepList(1), isRequired: true },
    else: { description: 'The steps if it is false.', schema: stepList(0) },
  },
  set_state: {
    ...optional,
    updates: {
      description: 'New values of state fields. A later one may use the name of an earlier one.',
      schema: { ...VALUES, minProperties: 1 },
      isRequired: true,
    },
  },
  foreach: {
    ...optional,
    items: {
      description: 'The list, `{{ … }}`.',
      schema: { anyOf: [TEXT, { type: 'array' }] },
      isRequired: true,
    },
    task: { description: 'The task that runs for each item.', schema: TEXT, isRequired: true },
    agent: {
      description: 'The agent that does the steps of the task: `@task`, or its name.',
      schema: { anyOf: [TEXT, { type: 'null' }] },
    },
    inputs: {
      description: 'The inputs of the task, with `item`, `index` and `total`. Default: the item.',
      schema: VALUES,
    },
    sequential: { description: 'Whether items run one at a time. Default: false.', schema: FLAG },
    concurrency: { description: 'How many items run at once, up to 100. Default: 10.', schema: NUMBER },
    max_iterations: { description: 'The largest number of items. Default: 1,000.', schema: NUMBER },
    on_child_error: {
      description:
        '`fail`: a failed item fails the step when all have ended. `continue`: its result is `{ error }`.',
      schema: { enum: ['fail', 'continue'] },
    },
  },
  return: { value: { description: 'The result.', schema: {}, isRequired: true } },
  goto: {
    when: WHEN,
    target: {
      description: 'A step of the same list, or of a list around it.',
      schema: TEXT,
      isRequired: true,
    },
    max_iterations: { description: 'How often it jumps back at most, 1 to 100.', schema: NUMBER },
    on_limit: {
      description: 'Whether the step fails after the last jump, or the steps behind it run. Default: `fail`.',
      schema: { enum: ['fail', 'continue'] },
    },
  },
  shell: {
    ...optional,
    command: { description: 'The command; with `argv` the program.', schema: TEXT, isRequired: true },
    argv: { description: 'Arguments that no shell reads.', schema: { anyOf: [TEXT, listOf({})] } },
    env: { description: 'Environment variables.', schema: { anyOf: [TEXT, VALUES] } },
    timeout: timeout(30),
    fail_on_error: {
      description: 'Whether an exit code other than 0 fails the step. Default: false.',
      schema: FLAG,
    },
  },
  mcp_call: {
    ...optional,
    tool: { description: 'The tool, as the client knows it.', schema: TEXT, isRequired: true },
    parameters: { description: 'The arguments of the tool.', schema: VALUES },
    timeout: timeout(30),
  },
  prompt: {
    ...optional,
    message: { description: 'The text that the user sees.', schema: TEXT, isRequired: true },
    prompt_type: {
      description: 'What the user answers.',
      schema: { enum: [...PROMPT_TYPES] },
      isRequired: true,
    },
    options: { description: 'What a `choice` is of.', schema: { anyOf: [TEXT, listOf({})] } },
    validation: { description: 'What holds for a `text`.', schema: ref('validation') },
    approves: {
      description:
        'Of a `confirm`: the later `mcp_call` that a yes permits, with the parameters that the question shows.',
      schema: TEXT,
    },
  },
  wait: {
    ...optional,
    duration_seconds: {
      description: 'How long: seconds, a time such as `30s`, or a template for seconds.',
      schema: { anyOf: [NUMBER, TEXT] },
      isRequired: true,
    },
    message: { description: 'A text for the caller while the run waits.', schema: TEXT },
  },
  delegate: {
    ...optional,
    instructions: { description: 'What the agent does.', schema: TEXT, isRequired: true },
    agent: {
      description: 'The agent. Default, and `null`: the agent that runs the workflow.',
      schema: { anyOf: [TEXT, { type: 'null' }] },
    },
    response_schema: { description: 'The JSON Schema of the response, which is JSON then.', schema: {} },
    timeout: timeout(300),
  },
} as const satisfies Readonly<Record<string, Keys>>;

export type StepType = keyof typeof STEPS;

export const STEP_TYPES = Object.keys(STEPS) as readonly StepType[];

const KEYS_BY_TYPE = new Map<StepType, readonly string[]>(
  STEP_TYPES.map((type) => [type, [...Object.keys(COMMON), ...Object.keys(STEPS[type])]]),
);

/** The keys of the steps of a type, those of all steps first. */
export function keysOf(type: StepType): readonly string[] {
  return KEYS_BY_TYPE.get(type) ?? [];
}
