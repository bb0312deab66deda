import type { JsonObject, JsonSchema } from '../../../../graph/json.js';
import { TASK_SUPPORT } from '../../../../graph/model.js';
import { compareText } from '../../../../graph/names.js';
import type { SpecVocabulary } from '../../dialect.js';
import { DURATION_PATTERN } from '../../fields.js';
import { DOCUMENT_KEYS, EXPOSURES, WORKFLOW_KEYS } from '../document.js';
import { BACKOFFS, ON_ERROR_KEYS } from '../on-error.js';
import { FORMATS, PARAMETER_KEYS, TYPE_KEYS, TYPES } from '../parameters.js';
import { callSchema, undoSchema, workflowCallSchema } from './arguments.js';
import { DOCUMENT, ON_ERROR, PARAMETER, WORKFLOW } from './key-descriptions.js';
import { branchSchemas, namedNodeSchemas, nodeSchema, objectOf, ref } from './node-schema.js';

/** The JSON Schema of documents. */
export function documentSchema({
  tools,
  workflows,
}: SpecVocabulary): JsonObject & { readonly required: readonly string[] } {
  const named = [...tools].sort((a, b) => compareText(a.name, b.name));
  const graphs = [...workflows].sort((a, b) => compareText(a.name, b.name));
  return {
    definitions: {
      workflow: workflowSchema(),
      node: nodeSchema(),
      ...namedNodeSchemas(),
      ...branchSchemas(),
      parameters: { type: 'object', additionalProperties: ref('parameter') },
      parameter: objectOf(PARAMETER_KEYS, PARAMETER, typeKeys()),
      items: { anyOf: [typeName(), objectOf(TYPE_KEYS, PARAMETER, typeKeys())] },
      onError: objectOf(ON_ERROR_KEYS, ON_ERROR, {
        retry: { type: 'integer', minimum: 0 },
        delay: ref('duration'),
        backoff: { enum: [...BACKOFFS] },
        max_delay: ref('duration'),
        jitter: { type: 'number' },
        fallback: { type: 'string' },
      }),
      names: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] },
      duration: { anyOf: [{ type: 'number' }, { type: 'string', pattern: DURATION_PATTERN }] },
      call: callSchema(named),
      workflowCall: workflowCallSchema(graphs),
      undo: undoSchema(['call', 'args']),
      undoStep: undoSchema(['call', 'args', 'ignore_error']),
    },
    ...objectOf(DOCUMENT_KEYS, DOCUMENT, {
      $schema: { type: 'string' },
      domain: { type: 'string' },
      version: { type: 'string' },
      description: {},
      rules: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      docs: { type: 'string' },
      workflows: { type: 'object', additionalProperties: ref('workflow'), minProperties: 1 },
    }),
    required: ['workflows'],
  };
}

function workflowSchema(): JsonSchema {
  return {
    ...objectOf(WORKFLOW_KEYS, WORKFLOW, {
      title: { type: 'string' },
      description: { type: 'string' },
      params: ref('parameters'),
      graph: { type: 'object', additionalProperties: ref('keyNamed'), minProperties: 1 },
      returns: {},
      expose: { anyOf: [{ enum: [...EXPOSURES] }, { type: 'array', items: { enum: [...EXPOSURES] } }] },
      fail_fast: { type: 'boolean' },
      on_failure: { enum: ['compensate'] },
      max_concurrency: { type: 'number' },
      task: { type: 'boolean' },
      task_support: { enum: [...TASK_SUPPORT] },
    }),
    required: ['description', 'graph'],
  };
}

const typeName = (): JsonSchema => ({ type: 'string', enum: Object.keys(TYPES) });

function typeKeys(): Readonly<Record<string, JsonSchema>> {
  const number: JsonSchema = { type: 'number' };
  const text: JsonSchema = { type: 'string' };
  const flag: JsonSchema = { type: 'boolean' };
  return {
    ...{ type: typeName(), format: { enum: [...FORMATS] }, enum: { type: 'array' }, items: ref('items') },
    ...{ minimum: number, maximum: number, min_length: number, max_length: number },
    ...{ min_items: number, max_items: number, pattern: text },
    ...{ required: flag, default: {}, description: text, title: text, secret: flag },
  };
}
