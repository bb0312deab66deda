// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { AnalyzeCode } from '../analyze-code.tool.js';
import { CodeReview } from '../code-review.prompt.js';
import { StrictCodeReview } from '../strict-code-review.workflow.js';
import { StyleGuide } from '../style-guide.resource.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: 'e6f564d3081a0bde571fe5088e2e5b63ada226d7c18c7b4384a7da4872566896',
  tools: {
    'analyze-code': {
      class: AnalyzeCode,
      description: 'Find long lines, markers without a ticket, deep nesting and mixed indentation in code',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "code": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100000,
            "description": "The code, as text; any language"
          }
        },
        "required": ["code"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "lines": {
            "type": "integer",
            "minimum": -9007199254740991,
            "maximum": 9007199254740991,
            "description": "How many lines were looked at"
          },
          "findings": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "line": {
                  "type": "integer",
                  "minimum": -9007199254740991,
                  "maximum": 9007199254740991,
                  "description": "Counted from 1"
                },
                "rule": {
                  "type": "string",
                  "enum": ["long-line", "todo-marker", "deep-nesting", "mixed-indentation"]
                },
                "severity": { "type": "string", "enum": ["warning", "note"] },
                "message": { "type": "string" }
              },
              "required": ["line", "rule", "severity", "message"],
              "additionalProperties": false
            }
          },
          "omitted": {
            "type": "integer",
            "minimum": -9007199254740991,
            "maximum": 9007199254740991,
            "description": "Findings beyond the first 100, which are left out"
          }
        },
        "required": ["lines", "findings", "omitted"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      fingerprint: 'd93067b9c61133bd7e06778683aa8db84982b96ce8f87a92af252c28b111ce9c',
    },
  },
  resources: {
    'style-guide': {
      class: StyleGuide,
      uri: 'resource://code-review/style-guide',
      description: 'How code should look',
      mimeType: 'text/markdown',
      text:
        '# Style guide\n' +
        '\n' +
        '- A line has at most 100 characters, a function at most 40 lines.\n' +
        '- At most three levels of nesting: return early, or give the inner part a name.\n' +
        '- A TODO names the ticket it is tracked in; without one it is done now or not at all.\n' +
        '- Indent with spaces or with tabs, never with both in one file.\n' +
        '\n' +
        'Praise what is good in one sentence. Name each problem with its line, why it matters, and what to write instead.\n',
      fingerprint: '33f2ec58f4b31edc6c46c8e51bbb6c49c00048730e447f885b13046e30f256c2',
    },
  },
  workflows: {
    'strict-code-review': {
      class: StrictCodeReview,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "strict-code-review",
        "description": "review code",
        "inputs": [
          {
            "name": "code",
            "description": "The code to review",
            "required": true,
            "schema": { "minLength": 1, "type": "string" }
          },
          {
            "name": "language",
            "default": "source",
            "description": "Language of the code",
            "required": false,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [{ "resource": "style-guide", "uri": "resource://code-review/style-guide" }],
        "nodes": [
          {
            "id": "analysis",
            "kind": "call",
            "after": [],
            "executor": "server",
            "guidance": {
              "kind": "text",
              "parts": [
                "Judge the ",
                { "kind": "ref", "root": "inputs", "path": ["language"] },
                " code by the style guide, and begin with what the tool finds."
              ],
              "style": "display"
            },
            "input": {
              "kind": "dict",
              "entries": [{ "key": "code", "value": { "kind": "ref", "root": "inputs", "path": ["code"] } }]
            },
            "join": "none_failed",
            "tool": "analyze-code"
          },
          {
            "id": "warnings",
            "kind": "compute",
            "after": ["analysis"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "each",
              "as": "finding",
              "body": {
                "kind": "compare",
                "left": { "kind": "ref", "root": "local", "path": ["finding", "severity"] },
                "ops": [{ "op": "eq.strict", "right": { "kind": "literal", "value": "warning" } }]
              },
              "in": { "kind": "ref", "root": "steps", "path": ["analysis", "findings"] },
              "mode": "filter",
              "truth": "truthy.js"
            }
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["warnings"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                {
                  "key": "verdict",
                  "value": {
                    "kind": "conditional",
                    "else": { "kind": "literal", "value": "nothing that a look at the text would show" },
                    "test": {
                      "kind": "compare",
                      "left": { "kind": "ref", "root": "steps", "path": ["warnings", "length"] },
                      "ops": [{ "op": "gt.js", "right": { "kind": "literal", "value": 0 } }]
                    },
                    "then": { "kind": "literal", "value": "needs work" },
                    "truth": "truthy.js"
                  }
                },
                {
                  "key": "warnings",
                  "value": {
                    "kind": "each",
                    "as": "finding",
                    "body": {
                      "kind": "text",
                      "parts": [
                        "line ",
                        { "kind": "ref", "root": "local", "path": ["finding", "line"] },
                        ": ",
                        { "kind": "ref", "root": "local", "path": ["finding", "message"] }
                      ],
                      "style": "js"
                    },
                    "in": { "kind": "ref", "root": "steps", "path": ["warnings"] },
                    "mode": "map"
                  }
                }
              ]
            }
          }
        ]
      }`,
      hash: 'c807d5c1ab6f8c3b5575b9a6eec8234bbc6ecb23c3141937cdb40c7cf421722b',
      fingerprint: '69987dc7212af9f3b9b66318d99ea1c9d7a31d8494eb96fa5df340e0eb2abcae',
    },
  },
  prompts: {
    'code-review': {
      class: CodeReview,
      description: 'Review code',
      arguments: [
        { name: 'code', description: 'The code to review', schema: { type: 'string' }, required: true },
        {
          name: 'language',
          description: 'Language of the code',
          schema: { type: 'string' },
          required: false,
        },
      ],
      fingerprint: 'c7eb1d3e75ca50269616a3bbc89ced642ba9b0810ac30380f2c229030e6fa624',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'analyze-code';

/** The names of the resources. */
export type ResourceName = 'style-guide';

/** The names of the workflows. */
export type WorkflowName = 'strict-code-review';

/** The names of the prompts that are no workflows. */
export type PromptName = 'code-review';

interface Workflows {
  readonly 'strict-code-review': StrictCodeReview;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
