// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { SubmitExpense } from '../submit-expense.workflow.js';
import { PayExpense, ReleaseBudget, ReserveBudget } from '../tools.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: 'a41861e826cfd9630cdd1752892b295b7b248ae9bf65deb33b9dce5975af07f6',
  tools: {
    'pay-expense': {
      class: PayExpense,
      description: 'Pays what was reserved',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "reservation": { "type": "string" } },
        "required": ["reservation"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "payment": { "type": "string" } },
        "required": ["payment"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      retrySafety: 'key',
      visibility: 'workflow',
      fingerprint: 'ca713562c24bd208c96669129f67b1658df9f0d652408e5a59c18fc4e0c36bcc',
    },
    'release-budget': {
      class: ReleaseBudget,
      description: 'Undoes a reservation',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "reservation": { "type": "string" } },
        "required": ["reservation"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "release": { "type": "string" } },
        "required": ["release"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      retrySafety: 'key',
      visibility: 'workflow',
      fingerprint: 'ef89adcc7f88f7be7fb69043f53c014e58fb94006798bc0e801e884dd63505ba',
    },
    'reserve-budget': {
      class: ReserveBudget,
      description: 'Sets an amount of the budget aside',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "purpose": { "type": "string" }, "amount": { "type": "number" } },
        "required": ["purpose", "amount"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "reservation": { "type": "string" } },
        "required": ["reservation"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      retrySafety: 'key',
      visibility: 'workflow',
      fingerprint: 'd6507e44de0d76379d3e8009aa89f3db13ad76ee3145951d7e408ba369b41cf9',
    },
  },
  resources: {},
  workflows: {
    'submit-expense': {
      class: SubmitExpense,
      graph: graphJson<['tool']>`{
        "graphVersion": 1,
        "name": "submit-expense",
        "description": "have an expense approved by a lead, then pay it",
        "expose": ["tool"],
        "inputs": [
          {
            "name": "purpose",
            "description": "What was bought",
            "required": true,
            "schema": { "maxLength": 200, "minLength": 1, "type": "string" }
          },
          {
            "name": "amount",
            "description": "Amount in euros",
            "required": true,
            "schema": { "maximum": 10000, "minimum": 0.01, "type": "number" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "approved",
            "kind": "parallel",
            "after": [],
            "branches": [
              {
                "id": "expense",
                "body": {
                  "nodes": [
                    {
                      "id": "reserved",
                      "kind": "call",
                      "after": [],
                      "compensate": {
                        "input": {
                          "kind": "dict",
                          "entries": [
                            {
                              "key": "reservation",
                              "value": {
                                "kind": "ref",
                                "root": "steps",
                                "path": ["reserved", "reservation"]
                              }
                            }
                          ]
                        },
                        "tool": "release-budget"
                      },
                      "executor": "server",
                      "input": {
                        "kind": "dict",
                        "entries": [
                          {
                            "key": "purpose",
                            "value": { "kind": "ref", "root": "inputs", "path": ["purpose"] }
                          },
                          {
                            "key": "amount",
                            "value": { "kind": "ref", "root": "inputs", "path": ["amount"] }
                          }
                        ]
                      },
                      "join": "none_failed",
                      "tool": "reserve-budget"
                    },
                    {
                      "id": "approved.expense.2.1",
                      "kind": "ask",
                      "after": ["reserved"],
                      "answerBy": [{ "kind": "role", "except": "owner", "role": "lead" }],
                      "executor": "server",
                      "join": "none_failed",
                      "message": {
                        "kind": "text",
                        "parts": [
                          "Pay ",
                          { "kind": "ref", "root": "inputs", "path": ["amount"] },
                          " EUR for ",
                          { "kind": "ref", "root": "inputs", "path": ["purpose"] },
                          "?"
                        ],
                        "style": "js"
                      },
                      "mode": "confirm"
                    },
                    {
                      "id": "approved.expense",
                      "kind": "error",
                      "after": ["approved.expense.2.1"],
                      "code": "DECLINED",
                      "executor": "server",
                      "join": "none_failed",
                      "message": { "kind": "literal", "value": "A lead declined the expense" },
                      "when": {
                        "kind": "not",
                        "of": {
                          "kind": "ref",
                          "root": "steps",
                          "path": ["approved.expense.2.1", "confirmed"]
                        },
                        "truth": "truthy.js"
                      }
                    }
                  ],
                  "value": { "kind": "ref", "root": "steps", "path": ["reserved", "reservation"] }
                }
              }
            ],
            "executor": "server",
            "join": "none_failed",
            "onPartialFailure": "rollback"
          },
          {
            "id": "paid",
            "kind": "call",
            "after": ["approved"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "reservation",
                  "value": { "kind": "ref", "root": "steps", "path": ["approved", "expense"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "pay-expense"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["paid"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                {
                  "key": "payment",
                  "value": { "kind": "ref", "root": "steps", "path": ["paid", "payment"] }
                }
              ]
            }
          }
        ]
      }`,
      hash: '295bd322d05806622944eb22288bde97c9e7c0a01775e0b8eb0ac37ae23559b3',
      fingerprint: '13df74a52af56a0c380cb8777e0d0139b2755044f38182d73f07f7ed6252a6c6',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'pay-expense' | 'release-budget' | 'reserve-budget';

/** The names of the resources. */
export type ResourceName = never;

/** The names of the workflows. */
export type WorkflowName = 'submit-expense';

interface Workflows {
  readonly 'submit-expense': SubmitExpense;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
