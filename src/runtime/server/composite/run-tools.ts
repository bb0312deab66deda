import type { JsonSchema } from '../../../graph/json.js';
import type { ToolListing } from '../wire.js';
import { ENVELOPE_SCHEMA, type RUN_TOOLS, STATUS_SCHEMA } from './served-workflows.js';
import { workflowToolTexts } from './texts.js';

export type RunTool = (typeof RUN_TOOLS)[number];

const { tools } = workflowToolTexts;

const ID: JsonSchema = { type: 'string', minLength: 1, description: tools.workflowId };

const STATUS: JsonSchema = { enum: ['running', 'waiting', 'completed', 'failed', 'cancelled'] };

const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** The tools that look after runs. `run_id` is taken for `workflow_id` as well. */
export const runTools: Readonly<Record<RunTool, ToolListing>> = {
  submit_result: {
    name: 'submit_result',
    title: tools.submitResult.title,
    description: tools.submitResult.description,
    inputSchema: strict(
      {
        workflow_id: ID,
        action_id: { type: 'string', minLength: 1, description: tools.actionId },
        result: { description: tools.submitResult.result },
        error: { description: tools.submitResult.error },
      },
      'workflow_id',
    ),
    outputSchema: ENVELOPE_SCHEMA,
    // Sending an answer once more changes nothing.
    annotations: { readOnlyHint: false, idempotentHint: true },
  },
  get_workflow_status: {
    name: 'get_workflow_status',
    title: tools.getStatus.title,
    description: tools.getStatus.description,
    inputSchema: strict({ workflow_id: ID }, 'workflow_id'),
    outputSchema: STATUS_SCHEMA,
    annotations: READS,
  },
  cancel_workflow: {
    name: 'cancel_workflow',
    title: tools.cancel.title,
    description: tools.cancel.description,
    inputSchema: strict(
      {
        workflow_id: ID,
        reason: { type: 'string', maxLength: 500, description: tools.cancel.reason },
        compensate: { type: 'boolean', description: tools.cancel.compensate },
      },
      'workflow_id',
    ),
    outputSchema: ENVELOPE_SCHEMA,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  },
  list_workflows: {
    name: 'list_workflows',
    title: tools.list.title,
    description: tools.list.description,
    inputSchema: strict({
      status: { ...STATUS, description: tools.list.status },
      limit: { type: 'integer', minimum: 1, description: tools.list.limit },
      cursor: { type: 'string', description: tools.list.cursor },
    }),
    outputSchema: {
      type: 'object',
      properties: {
        workflows: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              version: { type: 'string' },
              description: { type: 'string' },
              hash: { type: 'string' },
              tool: { type: 'string' },
            },
            required: ['name', 'description', 'hash'],
          },
        },
        runs: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              workflow_id: { type: 'string' },
              name: { type: 'string' },
              status: STATUS,
              cancelling: { type: 'boolean' },
              arguments: { type: 'object' },
              arguments_omitted: { type: 'array', items: { type: 'string' } },
              started_at: { type: 'string' },
              ended_at: { type: 'string' },
              open_actions: { type: 'array', items: { type: 'string' } },
            },
            required: ['workflow_id', 'name', 'status', 'arguments', 'started_at', 'open_actions'],
          },
        },
        next_cursor: { type: 'string' },
      },
      required: ['workflows', 'runs'],
    },
    annotations: READS,
  },
};

function strict(
  properties: Readonly<Record<string, JsonSchema>>,
  ...required: readonly string[]
): JsonSchema {
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}
