import type { JsonSchema } from './json.js';

/** How a node may have settled. */
export const SETTLED_STATUSES = ['succeeded', 'failed', 'handled', 'skipped', 'cancelled'] as const;

export type SettledStatus = (typeof SETTLED_STATUSES)[number];

/** What references to `nodes` read of a node. `error` is the failure of the node, whatever replaced it. */
export const SETTLED_NODE: JsonSchema = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: [...SETTLED_STATUSES] },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        attempts: { type: 'integer' },
        node: { type: 'string' },
      },
      required: ['code', 'message', 'attempts', 'node'],
      additionalProperties: false,
    },
  },
  required: ['status'],
  additionalProperties: false,
};
