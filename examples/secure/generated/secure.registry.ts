// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { ListPayments } from '../list-payments.tool.js';
import { PayInvoice } from '../pay-invoice.workflow.js';
import { PaySupplier } from '../pay-supplier.tool.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: 'f385330c00835c1605bae0b6157926e3948742b6ea2e5c00fc640708e0026678',
  tools: {
    'list-payments': {
      class: ListPayments,
      description: 'Lists the payments that were made for you',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "payments": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": { "type": "string" },
                "supplier": { "type": "string" },
                "amount": { "type": "number" }
              },
              "required": ["id", "supplier", "amount"],
              "additionalProperties": false
            }
          }
        },
        "required": ["payments"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      scopes: ['payments:read'],
      fingerprint: 'c0d353b1a572ab0dd7efbf0604d7ca345b1af2964f642b9a053bbaebafaa691a',
    },
    'pay-supplier': {
      class: PaySupplier,
      description: 'Transfers money to a supplier',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "supplier": { "type": "string" }, "amount": { "type": "number" } },
        "required": ["supplier", "amount"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string" },
          "supplier": { "type": "string" },
          "amount": { "type": "number" }
        },
        "required": ["id", "supplier", "amount"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      retrySafety: 'key',
      visibility: 'workflow',
      fingerprint: '59e0c4363db362b0e427663c1198ddde6fc20f376fbd206e3a1234ba0e046540',
    },
  },
  resources: {},
  workflows: {
    'pay-invoice': {
      class: PayInvoice,
      graph: graphJson<['tool']>`{
        "graphVersion": 1,
        "name": "pay-invoice",
        "description": "pay an invoice once a lead has approved it",
        "expose": ["tool"],
        "inputs": [
          {
            "name": "supplier",
            "description": "Supplier",
            "required": true,
            "schema": { "maxLength": 100, "minLength": 1, "type": "string" }
          },
          {
            "name": "amount",
            "description": "Amount in euros",
            "required": true,
            "schema": { "maximum": 100000, "minimum": 0.01, "type": "number" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "approved",
            "kind": "ask",
            "after": [],
            "answerBy": [{ "kind": "role", "except": "owner", "role": "lead" }],
            "executor": "server",
            "join": "none_failed",
            "message": {
              "kind": "text",
              "parts": [
                "Pay ",
                { "kind": "ref", "root": "inputs", "path": ["supplier"] },
                " ",
                { "kind": "ref", "root": "inputs", "path": ["amount"] },
                " EUR?"
              ],
              "style": "js"
            },
            "mode": "confirm",
            "timeoutMs": 604800000
          },
          {
            "id": "declined",
            "kind": "error",
            "after": ["approved"],
            "code": "DECLINED",
            "executor": "server",
            "join": "none_failed",
            "message": { "kind": "literal", "value": "A lead declined the payment" },
            "when": {
              "kind": "not",
              "of": { "kind": "ref", "root": "steps", "path": ["approved", "confirmed"] },
              "truth": "truthy.js"
            }
          },
          {
            "id": "payment",
            "kind": "call",
            "after": ["declined"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "supplier", "value": { "kind": "ref", "root": "inputs", "path": ["supplier"] } },
                { "key": "amount", "value": { "kind": "ref", "root": "inputs", "path": ["amount"] } }
              ]
            },
            "join": "none_failed",
            "tool": "pay-supplier"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["payment"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                { "key": "payment", "value": { "kind": "ref", "root": "steps", "path": ["payment", "id"] } }
              ]
            }
          }
        ],
        "scopes": ["payments:write"]
      }`,
      hash: '906eef7d3503cbf5a3fad23e63aed53d223368cac580532ffac5586658ebf700',
      fingerprint: '6904e0e60a5fe352e5aa2d5f95b16c2c353f58694d3b0646a4117a8ed500b5ad',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'list-payments' | 'pay-supplier';

/** The names of the resources. */
export type ResourceName = never;

/** The names of the workflows. */
export type WorkflowName = 'pay-invoice';

interface Workflows {
  readonly 'pay-invoice': PayInvoice;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
