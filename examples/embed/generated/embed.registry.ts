// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { CheckOrder } from '../check-order.workflow.js';
import { Quote } from '../quote.tool.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: 'b854964b1f274a9f9120d27cfa9feb391875b3e2e53be4285e3ad2c6386dc7b7',
  tools: {
    quote: {
      class: Quote,
      description: 'Check that there is enough of a product, and how much would be left',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "product": { "type": "string", "description": "Name of the product" },
          "count": { "type": "number", "description": "How many of it", "minimum": 1 }
        },
        "required": ["product", "count"],
        "additionalProperties": false,
        "description": "What to order."
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "available": { "type": "number" }, "left": { "type": "number" } },
        "required": ["available", "left"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      fingerprint: 'fdade9332336475233c077218b5ed5c4a47c13819bb6a56ff017b2d666bdeb03',
    },
  },
  resources: {},
  workflows: {
    'check-order': {
      class: CheckOrder,
      graph: graphJson<['prompt', 'tool']>`{
        "graphVersion": 1,
        "name": "check-order",
        "description": "check that an order can be filled",
        "expose": ["prompt", "tool"],
        "inputs": [
          {
            "name": "product",
            "description": "Name of the product",
            "required": true,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "quote",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "product", "value": { "kind": "ref", "root": "inputs", "path": ["product"] } },
                { "key": "count", "value": { "kind": "literal", "value": 1 } }
              ]
            },
            "join": "none_failed",
            "tool": "quote"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["quote"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                { "key": "left", "value": { "kind": "ref", "root": "steps", "path": ["quote", "left"] } }
              ]
            }
          }
        ]
      }`,
      hash: '324f39a79aa09c2dcdfcc2dffdb011a5b735f454083325c5ee19c31f53a4ad11',
      fingerprint: 'f42b7e6bf05ce7df9c74e51ab60d7cca9dd190c0b75be655fd33c90d7fc3ddd9',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'quote';

/** The names of the resources. */
export type ResourceName = never;

/** The names of the workflows. */
export type WorkflowName = 'check-order';

interface Workflows {
  readonly 'check-order': CheckOrder;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
