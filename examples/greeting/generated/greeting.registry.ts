// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { Greet } from '../greet.tool.js';
import { GreetingGuide } from '../greeting-guide.resource.js';
import { PersonalizedGreeting } from '../personalized-greeting.workflow.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: '6541061df526c563bdbd7a0b6c8712ddce7235af66adefefee26811533bfcb78',
  tools: {
    greet: {
      class: Greet,
      description: 'Write a greeting',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "name": { "type": "string", "description": "Name of the person", "minLength": 1, "maxLength": 100 },
          "style": { "type": "string", "enum": ["formal", "casual"], "description": "casual when left out" }
        },
        "required": ["name"],
        "additionalProperties": false,
        "description": "Whom to greet."
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "greeting": { "type": "string" } },
        "required": ["greeting"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      fingerprint: 'ee09a7ebb776700b90c3e115919d1c9ed56371e5880592833bc68772ea40edd3',
    },
  },
  resources: {
    'greeting-guide': {
      class: GreetingGuide,
      uri: 'resource://greetings/guide',
      description: 'How we greet',
      mimeType: 'text/markdown',
      text:
        '# How we greet\n' +
        '\n' +
        '- Use the name as it was given. No titles, no nicknames.\n' +
        '- Formal greetings end with a full stop, casual ones with an exclamation mark.\n' +
        '- One sentence is enough. Do not ask how they are.\n',
      fingerprint: '2ecefb6d9dd903301df9e700a982c6c174442c0d321b4894e03f706052e4d19c',
    },
  },
  workflows: {
    'personalized-greeting': {
      class: PersonalizedGreeting,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "personalized-greeting",
        "description": "generate a personalized greeting",
        "inputs": [
          {
            "name": "name",
            "description": "Person's name",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "style",
            "description": "Greeting style",
            "required": false,
            "schema": { "enum": ["formal", "casual"], "type": "string" }
          }
        ],
        "instructions": [{ "resource": "greeting-guide", "uri": "resource://greetings/guide" }],
        "nodes": [
          {
            "id": "greeting",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "name", "value": { "kind": "ref", "root": "inputs", "path": ["name"] } },
                { "key": "style", "value": { "kind": "ref", "root": "inputs", "path": ["style"] } }
              ]
            },
            "join": "none_failed",
            "tool": "greet"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["greeting"],
            "executor": "server",
            "join": "none_failed",
            "value": { "kind": "ref", "root": "steps", "path": ["greeting", "greeting"] }
          }
        ]
      }`,
      hash: '1acd7e033755b35f9db2335dbfe8e32515a83bb0a8328a6140e550ffe8367961',
      fingerprint: '90f0d2faeb7c46a2184effc264ba03aa775b7bd0c865993ab711d7a433b19a94',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'greet';

/** The names of the resources. */
export type ResourceName = 'greeting-guide';

/** The names of the workflows. */
export type WorkflowName = 'personalized-greeting';

interface Workflows {
  readonly 'personalized-greeting': PersonalizedGreeting;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
