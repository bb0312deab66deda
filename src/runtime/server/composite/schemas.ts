import type { CheckEnvironment } from '../../../check/environment.js';
import { typesOf } from '../../../check/known.js';
import { rebased, schemaOfKnown } from '../../../check/known-schema.js';
import { knownResult } from '../../../check/values.js';
import type { JsonSchema } from '../../../graph/json.js';
import type { Graph, Input } from '../../../graph/model.js';
import { texts } from './texts.js';

/** The schema of a workflow's arguments: nothing else is taken, and nothing coerced. */
export function inputSchemaOf({ inputs }: Pick<Graph, 'inputs'>): JsonSchema {
  const required = inputs.filter((input) => input.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((input) => [input.name, argumentSchema(input)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function argumentSchema({ name, title, description, schema, secret, default: standing }: Input): JsonSchema {
  const about = secret === true ? `${description} (${texts.secretNote})`.trimStart() : description;
  return {
    ...rebased(schema, `#/properties/${name}`),
    ...(title === undefined ? {} : { title }),
    ...(about === '' ? {} : { description: about }),
    ...(standing === undefined || secret === true ? {} : { default: standing }),
  };
}

/** What a workflow's tool gives as structured content. */
export interface OutputShape {
  /** The root of the result is no object, or may be none: it stands under `result`. */
  readonly isWrapped: boolean;
  /** The result, or how the run stands instead. */
  readonly schema: JsonSchema;
}

/** A run that fails, waits or takes long answers with the envelope: what the tool gives is one of two. */
export function outputShapeOf(graph: Graph, registered: CheckEnvironment): OutputShape {
  const known = knownResult(graph, registered);
  const types = typesOf(known);
  const isWrapped = types === undefined || types.size !== 1 || !types.has('object');
  const result = isWrapped
    ? {
        type: 'object',
        properties: { result: schemaOfKnown(known, '#/anyOf/0/properties/result') },
        required: ['result'],
        additionalProperties: false,
      }
    : schemaOfKnown(known, '#/anyOf/0');
  return {
    isWrapped,
    schema: {
      type: 'object',
      anyOf: [
        { ...result, description: texts.resultDescription },
        { ...ENVELOPE_SCHEMA, description: texts.envelopeDescription },
      ],
    },
  };
}

const TEXT: JsonSchema = { type: 'string' };

const ACTION_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    action_id: TEXT,
    workflow_id: TEXT,
    step_id: TEXT,
    type: { enum: ['prompt', 'wait'] },
    parameters: { type: 'object' },
    schema: { type: 'object' },
    resume_at: TEXT,
    timeout_seconds: { type: 'number' },
    created_at: TEXT,
    expires_at: TEXT,
  },
  required: ['action_id', 'workflow_id', 'step_id', 'type', 'parameters', 'created_at'],
};

/** The members of `RemainingEffects`. */
const LOOSE_ENDS: Readonly<Record<string, JsonSchema>> = {
  not_undone: {
    type: 'array',
    items: {
      type: 'object',
      properties: { step: TEXT, tool: TEXT, input: { type: 'object' }, outcome_unknown: { type: 'boolean' } },
      required: ['step'],
    },
  },
  not_undone_omitted: { type: 'integer' },
  unknown_outcomes: {
    type: 'array',
    items: {
      type: 'object',
      properties: { step: TEXT, tool: TEXT },
      required: ['step', 'tool'],
    },
  },
  unknown_outcomes_omitted: { type: 'integer' },
  failed_items: {
    type: 'array',
    items: {
      type: 'object',
      properties: { step: TEXT, index: { type: 'integer' }, code: TEXT, message: TEXT },
      required: ['step', 'index', 'code', 'message'],
    },
  },
  failed_items_omitted: { type: 'integer' },
};

const ENVELOPE_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  workflow_id: TEXT,
  definition: {
    type: 'object',
    properties: { name: TEXT, version: TEXT, hash: TEXT },
    required: ['name', 'hash'],
  },
  status: { enum: ['running', 'waiting', 'completed', 'failed', 'cancelled'] },
  cancelling: { type: 'boolean' },
  running_steps: { type: 'array', items: TEXT },
  waiting_steps: {
    type: 'array',
    items: {
      type: 'object',
      properties: { step_id: TEXT, for: { enum: ['answer', 'time', 'retry'] }, until: TEXT },
      required: ['step_id', 'for'],
    },
  },
  actions: { type: 'array', items: ACTION_SCHEMA },
  action: ACTION_SCHEMA,
  result: {},
  remains: { type: 'object', properties: LOOSE_ENDS },
  error: {
    type: 'object',
    properties: {
      code: TEXT,
      message: TEXT,
      node: TEXT,
      outcome_unknown: { type: 'boolean' },
      details: {},
      partial: { type: 'object' },
      partial_omitted: { type: 'array', items: TEXT },
      undone: { type: 'array', items: TEXT },
      undone_calls: {
        type: 'array',
        items: {
          type: 'object',
          properties: { step: TEXT, tool: TEXT, input: { type: 'object' } },
          required: ['step', 'tool'],
        },
      },
      undone_calls_omitted: { type: 'integer' },
      ...LOOSE_ENDS,
    },
    required: ['code', 'message', 'partial'],
  },
  warnings: {
    type: 'array',
    items: {
      type: 'object',
      properties: { code: TEXT, message: TEXT },
      required: ['code', 'message'],
    },
  },
};

const ENVELOPE_REQUIRED = ['workflow_id', 'definition', 'status', 'actions'];

/** The schema of an `Envelope`. */
export const ENVELOPE_SCHEMA: JsonSchema = {
  type: 'object',
  properties: ENVELOPE_PROPERTIES,
  required: ENVELOPE_REQUIRED,
};

/** The schema of an `Envelope` that also says whether the workflow has changed since the run began. */
export const STATUS_SCHEMA: JsonSchema = {
  type: 'object',
  properties: { ...ENVELOPE_PROPERTIES, definition_hash: TEXT, definition_changed: { type: 'boolean' } },
  required: ENVELOPE_REQUIRED,
};
