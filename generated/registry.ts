// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { AddTask } from '../examples/logseq/add-task.workflow.js';
import { AddTodoToProject } from '../examples/logseq/add-todo-to-project.workflow.js';
import { ErrorHandling, ProjectTags, TodoFormat, WorkflowIntro } from '../examples/logseq/instructions.js';
import { LogseqIntro } from '../examples/logseq/logseq-intro.resource.js';
import { NoteTask } from '../examples/logseq/note-task.workflow.js';
import { projectsOf } from '../examples/logseq/task.js';
import { AddContent } from '../examples/logseq/tools/add-content.tool.js';
import { AddJournalTask } from '../examples/logseq/tools/add-journal-task.tool.js';
import { BuildTodoContent } from '../examples/logseq/tools/build-todo-content.tool.js';
import { CreatePage } from '../examples/logseq/tools/create-page.tool.js';
import { ListPages } from '../examples/logseq/tools/list-pages.tool.js';
import { NormalizeProject } from '../examples/logseq/tools/normalize-project.tool.js';
import { ReadWeek } from '../examples/logseq/tools/read-week.tool.js';
import { VerifyProject } from '../examples/logseq/tools/verify-project.tool.js';
import { WeeklyReview } from '../examples/logseq/weekly-review.workflow.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: '63c800563b53b262a1095fc39d465577a482a707f70894abadb11a32bb4fd97b',
  tools: {
    'add-content': {
      class: AddContent,
      description: 'Add a block to the journal of a day',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "content": {
            "type": "string",
            "maxLength": 4000,
            "description": "One line of Logseq Markdown, without the bullet"
          },
          "date": { "description": "YYYY-MM-DD or 'today', which it is when left out", "type": "string" }
        },
        "required": ["content"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "entry_id": { "type": "string", "description": "Id of the new block" },
          "page": { "type": "string", "description": "File of the journal it was added to" },
          "block_ref": { "type": "string", "description": "How other blocks refer to it: ((id))" }
        },
        "required": ["entry_id", "page", "block_ref"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      fingerprint: '9370a93131a468c375a70cd9e988295a1430d44222155ea10aad4856f2c3e999',
    },
    'add-journal-task': {
      class: AddJournalTask,
      description: 'Add the task to the project',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "project": {
            "type": "string",
            "minLength": 1,
            "description": "Name of the project, as the user gave it"
          },
          "task": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2000,
            "description": "What needs doing; line breaks become spaces"
          },
          "project_path": {
            "type": "string",
            "description": "File of the project page, as verify-project returns it"
          },
          "date": {
            "description": "Day of the journal, yyyy-mm-dd; today when left out",
            "type": "string",
            "format": "date",
            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$"
          }
        },
        "required": ["project", "task", "project_path"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "success": { "type": "boolean", "const": true },
          "task_id": { "type": "string", "description": "Id of the new block, for ((block references))" },
          "journal": { "type": "string", "description": "File the task was written to" },
          "line": {
            "type": "integer",
            "minimum": -9007199254740991,
            "maximum": 9007199254740991,
            "description": "Line of the task in that file"
          }
        },
        "required": ["success", "task_id", "journal", "line"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      fingerprint: '6d1b6c58d1f10a390259bf861e9c4d5ab4dacf8fd35e4ec1ec17e66786dc3781',
    },
    'build-todo-content': {
      class: BuildTodoContent,
      description: 'Write a task the way Logseq keeps it',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "task": {
            "type": "string",
            "maxLength": 2000,
            "description": "What needs doing; line breaks become spaces"
          },
          "project": {
            "type": "string",
            "minLength": 1,
            "description": "Name of the project page, as normalize-project returns it"
          }
        },
        "required": ["task", "project"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "text": { "type": "string", "description": "One line: TODO, the project as a link, the task" }
        },
        "required": ["text"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      fingerprint: '3c4943231048a256f6ca66b96b77ad9f5470ff44d83658ff6dc019e7d406b463',
    },
    'create-page': {
      class: CreatePage,
      description: 'Add a page to the graph; one that exists is left as it is',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "name": {
            "type": "string",
            "description": "Name of the page; a slash makes it a page under another one",
            "minLength": 1,
            "maxLength": 100
          },
          "properties": {
            "type": "object",
            "properties": { "type": { "type": "string" }, "week": { "type": "string" } },
            "required": ["type", "week"],
            "additionalProperties": false,
            "description": "The lines \u0060key:: value\u0060 at its top"
          },
          "blocks": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "text": { "type": "string", "minLength": 1 },
                "children": {
                  "type": "array",
                  "items": { "type": "string" },
                  "description": "The bullets under it",
                  "maxItems": 200
                }
              },
              "required": ["text", "children"],
              "additionalProperties": false
            },
            "description": "Its bullets",
            "maxItems": 20
          }
        },
        "required": ["name", "properties", "blocks"],
        "additionalProperties": false,
        "description": "A page to be made."
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "name": { "type": "string" }, "path": { "type": "string" } },
        "required": ["name", "path"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      fingerprint: '0fa917c5e318bf6bf7ef238625dd36b81c59fe325da8ef6605554827bafd9e20',
    },
    'list-pages': {
      class: ListPages,
      description: 'Get all available pages',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "pages": { "type": "array", "items": { "type": "string" } } },
        "required": ["pages"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: '828c36117dc492a7e89d79dae8a5164d2d1dceb5a912110e19a130f77b35ca3e',
    },
    'normalize-project': {
      class: NormalizeProject,
      description: 'Turn what the user typed into the name of a project page',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "input": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "As typed: with brackets, a hash, any case"
          }
        },
        "required": ["input"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "name": { "type": "string", "description": "Name of the page, as links write it" },
          "exists": {
            "type": "boolean",
            "description": "False for a new page: Logseq makes it when it is first opened"
          }
        },
        "required": ["name", "exists"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: '5200fadab1ee981d82d854572d0f53a8c342fc1b7652b8fe31502dd6c060b726',
    },
    'read-week': {
      class: ReadWeek,
      description: 'Collect the tasks in the journals of a week',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "day": {
            "type": "string",
            "description": "A day of the week, YYYY-MM-DD or 'today', which it is when left out"
          }
        },
        "additionalProperties": false,
        "description": "What to read."
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "week": { "type": "string", "description": "As ISO 8601 names it: 2026-W03" },
          "journals": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Days that have a journal"
          },
          "tasks": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "state": {
                  "type": "string",
                  "enum": ["TODO", "DOING", "NOW", "LATER", "WAITING", "DONE", "CANCELED"],
                  "description": "As Logseq writes it."
                },
                "text": {
                  "type": "string",
                  "description": "The block without its state, links as they are."
                },
                "project": { "type": "string", "description": "The first page it links to." },
                "day": {
                  "type": "string",
                  "description": "Day of the journal it stands in, \u0060yyyy-mm-dd\u0060."
                }
              },
              "required": ["state", "text", "day"],
              "additionalProperties": false,
              "description": "A task of a journal, and where it stands."
            },
            "description": "In the order of the days, and of the blocks of each"
          }
        },
        "required": ["week", "journals", "tasks"],
        "additionalProperties": false,
        "description": "The tasks of a week's journals."
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: '3d76ef557395274029adfbc177f97caa410d82d077999c836903c87a3ce658db',
    },
    'verify-project': {
      class: VerifyProject,
      description: 'Check if project exists',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "project": {
            "type": "string",
            "minLength": 1,
            "description": "Name or alias of the project page; case does not matter"
          },
          "available_pages": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Pages to choose from, as list-pages returns them"
          }
        },
        "required": ["project", "available_pages"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "exists": { "type": "boolean", "const": true },
          "path": { "type": "string", "description": "File of the page in the graph" }
        },
        "required": ["exists", "path"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: 'f2eeb2a11c19ed3959a590c8a8ca22db4ba344e80c691c82912d2bf9e2dcf36c',
    },
  },
  resources: {
    'error-handling': {
      class: ErrorHandling,
      uri: 'resource://logseq/error-handling',
      description: 'What to do when a step fails',
      mimeType: 'text/markdown',
      text:
        '# Error Handling for Logseq Workflows\n' +
        '\n' +
        '## On Tool Failure\n' +
        '\n' +
        '```json\n' +
        '{\n' +
        '  "status": "error",\n' +
        '  "message": "<concise reason>",\n' +
        '  "entry_id": null,\n' +
        '  "page": null,\n' +
        '  "block_ref": null\n' +
        '}\n' +
        '```\n' +
        '\n' +
        '## Common Errors\n' +
        '\n' +
        '- **Empty task**: Return error with message "task_description cannot be empty"\n' +
        "- **Invalid date**: Return error with message \"date must be YYYY-MM-DD or 'today'\"\n" +
        '- **Tool failure**: Include tool error message in response\n' +
        '\n' +
        '## Important\n' +
        '\n' +
        '- Do NOT ask follow-up questions\n' +
        '- Do NOT attempt to fix errors yourself\n' +
        '- Return structured JSON immediately\n',
      fingerprint: 'd21306779ec644ed9de7b1d1ee4860542c6ad40e59c3b52bc6e40e6f14fcf245',
    },
    'logseq-intro': {
      class: LogseqIntro,
      uri: 'resource://logseq/intro',
      description: 'How the graph is laid out, and what to do after a run',
      mimeType: 'text/markdown',
      text:
        '# How this graph is laid out\n' +
        '\n' +
        "- A page is one Markdown file in `pages/`. Its name is the file's name; `___` in a file name stands for `/`.\n" +
        '- Lines of the form `key:: value` at the top of a page are its properties. `type:: project` marks a project, `alias::` lists other names it answers to.\n' +
        "- Every day has a journal in `journals/`, named `yyyy_mm_dd.md`. New tasks go there, not on the project's page.\n" +
        '- Everything is a bullet. A bullet that starts with `TODO` is an open task; `[[Website]]` in it ties it to the page *Website*, where Logseq lists it under the linked references.\n' +
        '\n' +
        '# What to do with the run below\n' +
        '\n' +
        'The steps were carried out on the server before you read this. If they all succeeded, the task stands in the journal: tell the user where, in one sentence, and do not add it again.\n' +
        'If a step failed, nothing after it has happened. Say what was wrong, and suggest the closest page from the list when a project was not found.\n',
      fingerprint: '0cc2544984109f12018bdd4dc457568d281be1b45cd27b1d445b6baa826c926c',
    },
    'project-tags': {
      class: ProjectTags,
      uri: 'resource://logseq/project-tags',
      description: 'How projects are tagged',
      mimeType: 'text/markdown',
      text:
        '# How projects are tagged\n' +
        '\n' +
        '- A project is a page; a task belongs to the first page it links to, as in `TODO [[Website]] Fix login bug`.\n' +
        "- Write the page's own name, not one of its aliases: `[[Website]]`, not `[[Homepage]]`.\n" +
        '- A link to a page that does not exist yet is allowed. Say so, since it is more often a slip of the pen than a new project.\n',
      fingerprint: 'd5a222c294aed7ccf82c4e9c65dde0e5469bbe8f7269720fb00ea8f4fa20fb7f',
    },
    'todo-format': {
      class: TodoFormat,
      uri: 'resource://logseq/todo-format',
      description: 'How a TODO is written',
      mimeType: 'text/markdown',
      text:
        '# How a TODO is written\n' +
        '\n' +
        '- One block, one line: `TODO [[Project]] What needs doing`.\n' +
        '- The state comes first, in capitals: `TODO`, `DOING`, `WAITING`, `DONE`.\n' +
        '- The project is a link to its page, right after the state. More links may follow in the text.\n' +
        '- New TODOs go to the journal of a day, not to the page of the project; Logseq lists them there by itself.\n',
      fingerprint: 'd681f1c6e5ce97d55c9e0460f20a396f548b684befcb20249d2feb11bcaff203',
    },
    'workflow-intro': {
      class: WorkflowIntro,
      uri: 'resource://logseq/workflow-intro',
      description: 'What every workflow on this graph keeps to',
      mimeType: 'text/markdown',
      text:
        '# Logseq Workflow Execution\n' +
        '\n' +
        'You are executing a Logseq automation workflow. Follow these principles:\n' +
        '\n' +
        '1. **Normalize inputs** - Remove formatting, trim whitespace\n' +
        '2. **Use exact formats** - Project tags must be [[name]]\n' +
        '3. **Single-line content** - Keep TODO items on one line\n' +
        '4. **Structured output** - Return JSON matching the schema\n' +
        '\n' +
        '## Available Tools\n' +
        '\n' +
        'The workflow will reference specific tools. Use them in the order specified.\n' +
        '\n' +
        '## Error Handling\n' +
        '\n' +
        'See the error-handling resource for details on how to handle failures.\n',
      fingerprint: 'a9bc94b9dd1b7db979a60b4946322af6116139f1f654753ccebb59ea973a92b1',
    },
  },
  workflows: {
    'add-task': {
      class: AddTask,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "add-task",
        "description": "add a task to a project",
        "inputs": [
          {
            "name": "project",
            "description": "Project page, by name or alias",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "task",
            "description": "What needs doing",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "date",
            "description": "Day of the journal, yyyy-mm-dd; today when left out",
            "required": false,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [{ "resource": "logseq-intro", "uri": "resource://logseq/intro" }],
        "nodes": [
          {
            "id": "list",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": { "kind": "dict", "entries": [] },
            "join": "none_failed",
            "tool": "list-pages"
          },
          {
            "id": "verify",
            "kind": "call",
            "after": ["list"],
            "executor": "server",
            "guidance": {
              "kind": "text",
              "parts": [
                "Find the page that '",
                { "kind": "ref", "root": "inputs", "path": ["project"] },
                "' means, by its name or an alias."
              ],
              "style": "display"
            },
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "project", "value": { "kind": "ref", "root": "inputs", "path": ["project"] } },
                {
                  "key": "available_pages",
                  "value": { "kind": "ref", "root": "steps", "path": ["list", "pages"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "verify-project"
          },
          {
            "id": "add",
            "kind": "call",
            "after": ["verify"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "project", "value": { "kind": "ref", "root": "inputs", "path": ["project"] } },
                { "key": "task", "value": { "kind": "ref", "root": "inputs", "path": ["task"] } },
                {
                  "key": "project_path",
                  "value": { "kind": "ref", "root": "steps", "path": ["verify", "path"] }
                },
                { "key": "date", "value": { "kind": "ref", "root": "inputs", "path": ["date"] } }
              ]
            },
            "join": "none_failed",
            "tool": "add-journal-task"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["add"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                { "key": "task_id", "value": { "kind": "ref", "root": "steps", "path": ["add", "task_id"] } },
                { "key": "journal", "value": { "kind": "ref", "root": "steps", "path": ["add", "journal"] } },
                { "key": "line", "value": { "kind": "ref", "root": "steps", "path": ["add", "line"] } }
              ]
            }
          }
        ]
      }`,
      hash: '6d4e7461b67b5cdfbc49bbaa60fd3260d00f16daf45a49cd2754b2156f0df2f3',
      fingerprint: '92e25f825decbced4c202e3e3697853c00459e432fcb8371e4c9bd3441bc6a2a',
    },
    'add-todo-to-project': {
      class: AddTodoToProject,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "add-todo-to-project",
        "description": "add a TODO item to a Logseq project",
        "inputs": [
          {
            "name": "task_description",
            "description": "What needs doing",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "project_name",
            "description": "Project name (without brackets)",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "date",
            "description": "Date, YYYY-MM-DD or today (default)",
            "required": false,
            "schema": { "pattern": "^(today|\\d{4}-\\d{2}-\\d{2})$", "type": "string" }
          }
        ],
        "instructions": [
          { "resource": "workflow-intro", "uri": "resource://logseq/workflow-intro" },
          { "resource": "error-handling", "uri": "resource://logseq/error-handling" },
          { "resource": "todo-format", "uri": "resource://logseq/todo-format" }
        ],
        "nodes": [
          {
            "id": "normalized",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "input", "value": { "kind": "ref", "root": "inputs", "path": ["project_name"] } }
              ]
            },
            "join": "none_failed",
            "tool": "normalize-project"
          },
          {
            "id": "content",
            "kind": "call",
            "after": ["normalized"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "task", "value": { "kind": "ref", "root": "inputs", "path": ["task_description"] } },
                {
                  "key": "project",
                  "value": { "kind": "ref", "root": "steps", "path": ["normalized", "name"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "build-todo-content"
          },
          {
            "id": "result",
            "kind": "call",
            "after": ["content"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "date", "value": { "kind": "ref", "root": "inputs", "path": ["date"] } },
                {
                  "key": "content",
                  "value": { "kind": "ref", "root": "steps", "path": ["content", "text"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "add-content"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["result"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                { "key": "status", "value": { "kind": "literal", "value": "success" } },
                {
                  "key": "message",
                  "value": {
                    "kind": "conditional",
                    "else": {
                      "kind": "text",
                      "parts": [
                        "Added to ",
                        { "kind": "ref", "root": "steps", "path": ["normalized", "name"] },
                        ", which has no page yet"
                      ],
                      "style": "js"
                    },
                    "test": { "kind": "ref", "root": "steps", "path": ["normalized", "exists"] },
                    "then": {
                      "kind": "text",
                      "parts": [
                        "Added to ",
                        { "kind": "ref", "root": "steps", "path": ["normalized", "name"] }
                      ],
                      "style": "js"
                    },
                    "truth": "truthy.js"
                  }
                },
                {
                  "key": "entry_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["result", "entry_id"] }
                },
                { "key": "page", "value": { "kind": "ref", "root": "steps", "path": ["result", "page"] } },
                {
                  "key": "block_ref",
                  "value": { "kind": "ref", "root": "steps", "path": ["result", "block_ref"] }
                }
              ]
            }
          }
        ]
      }`,
      hash: '7ed798b451b41fd9a3398be7b38b6663aade7833a5cb3b5ab5883747cce80211',
      fingerprint: 'c2ceaec805bd866926b4309078706005fa35a61f385c28bc889cb1550108b7ad',
    },
    'note-task': {
      class: NoteTask,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "note-task",
        "description": "note a task for the project that fits it best",
        "inputs": [
          {
            "name": "project",
            "description": "Project, as the user calls it",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "task",
            "description": "What needs doing",
            "required": true,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "pages",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": { "kind": "dict", "entries": [] },
            "join": "none_failed",
            "tool": "list-pages"
          },
          {
            "id": "added.content",
            "kind": "ask",
            "after": ["pages"],
            "executor": "server",
            "expects": {
              "description": "One line of Logseq Markdown, without the bullet",
              "maxLength": 4000,
              "type": "string"
            },
            "feeds": { "node": "added", "path": ["content"] },
            "join": "none_failed",
            "message": {
              "kind": "text",
              "parts": [
                "Write '",
                { "kind": "ref", "root": "inputs", "path": ["task"] },
                "' as one TODO for the page '",
                { "kind": "ref", "root": "inputs", "path": ["project"] },
                "' of: ",
                {
                  "kind": "call",
                  "args": [
                    { "kind": "ref", "root": "steps", "path": ["pages", "pages"] },
                    { "kind": "literal", "value": ", " }
                  ],
                  "fn": "join.js"
                }
              ],
              "style": "js"
            },
            "mode": "model",
            "resources": [{ "resource": "todo-format", "uri": "resource://logseq/todo-format" }]
          },
          {
            "id": "added",
            "kind": "call",
            "after": ["added.content"],
            "executor": "server",
            "guidance": {
              "kind": "text",
              "parts": [
                "Link the page of the list that '",
                { "kind": "ref", "root": "inputs", "path": ["project"] },
                "' means."
              ],
              "style": "display"
            },
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "content", "value": { "kind": "ref", "root": "steps", "path": ["added.content"] } }
              ]
            },
            "join": "none_failed",
            "tool": "add-content"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["added"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                {
                  "key": "entry_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["added", "entry_id"] }
                },
                { "key": "page", "value": { "kind": "ref", "root": "steps", "path": ["added", "page"] } }
              ]
            }
          }
        ]
      }`,
      hash: '3d36b492b2ab3d61ae048b079ad5c2fffb721d4632fa53851803461734c8525e',
      fingerprint: '5a785a40640634d50dbfb5b75e2820215523c2760ad664edd8e731a479191216',
    },
    'weekly-review': {
      class: WeeklyReview,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "weekly-review",
        "description": "write the review of a week",
        "inputs": [
          {
            "name": "day",
            "default": "today",
            "description": "A day of the week, YYYY-MM-DD or today",
            "required": false,
            "schema": { "type": "string" }
          },
          {
            "name": "limit",
            "default": 20,
            "description": "Open tasks to list at most",
            "required": false,
            "schema": { "maximum": 200, "minimum": 1, "type": "integer" }
          }
        ],
        "instructions": [
          { "resource": "workflow-intro", "uri": "resource://logseq/workflow-intro" },
          { "resource": "error-handling", "uri": "resource://logseq/error-handling" },
          { "resource": "project-tags", "uri": "resource://logseq/project-tags" }
        ],
        "nodes": [
          {
            "id": "week",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [{ "key": "day", "value": { "kind": "ref", "root": "inputs", "path": ["day"] } }]
            },
            "join": "none_failed",
            "retry": { "backoff": "constant", "capMs": 60000, "delayMs": 100, "extra": 1, "jitter": 0 },
            "tool": "read-week"
          },
          {
            "id": "empty",
            "kind": "error",
            "after": ["week"],
            "executor": "server",
            "join": "none_failed",
            "message": {
              "kind": "text",
              "parts": [
                "No tasks in the journals of ",
                { "kind": "ref", "root": "steps", "path": ["week", "week"] }
              ],
              "style": "js"
            },
            "when": {
              "kind": "compare",
              "left": { "kind": "ref", "root": "steps", "path": ["week", "tasks", "length"] },
              "ops": [{ "op": "eq.strict", "right": { "kind": "literal", "value": 0 } }]
            }
          },
          {
            "id": "finished",
            "kind": "compute",
            "after": ["empty"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "each",
              "as": "task",
              "body": {
                "kind": "compare",
                "left": { "kind": "ref", "root": "local", "path": ["task", "state"] },
                "ops": [{ "op": "eq.strict", "right": { "kind": "literal", "value": "DONE" } }]
              },
              "in": { "kind": "ref", "root": "steps", "path": ["week", "tasks"] },
              "mode": "filter",
              "truth": "truthy.js"
            }
          },
          {
            "id": "open",
            "kind": "compute",
            "after": ["finished"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "each",
              "as": "task",
              "body": {
                "kind": "not",
                "of": {
                  "kind": "call",
                  "args": [
                    {
                      "kind": "list",
                      "items": [
                        { "value": { "kind": "literal", "value": "DONE" } },
                        { "value": { "kind": "literal", "value": "CANCELED" } }
                      ]
                    },
                    { "kind": "ref", "root": "local", "path": ["task", "state"] }
                  ],
                  "fn": "includes.js"
                },
                "truth": "truthy.js"
              },
              "in": { "kind": "ref", "root": "steps", "path": ["week", "tasks"] },
              "mode": "filter",
              "truth": "truthy.js"
            }
          },
          {
            "id": "left",
            "kind": "compute",
            "after": ["open"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "conditional",
              "else": { "kind": "literal", "value": 0 },
              "test": {
                "kind": "compare",
                "left": { "kind": "ref", "root": "steps", "path": ["open", "length"] },
                "ops": [{ "op": "gt.js", "right": { "kind": "ref", "root": "inputs", "path": ["limit"] } }]
              },
              "then": {
                "kind": "arithmetic",
                "left": { "kind": "ref", "root": "steps", "path": ["open", "length"] },
                "op": "sub",
                "right": { "kind": "ref", "root": "inputs", "path": ["limit"] }
              },
              "truth": "truthy.js"
            }
          },
          {
            "id": "projects",
            "kind": "compute",
            "after": ["left"],
            "executor": "server",
            "function": {
              "name": "projectsOf",
              "hash": "84399e6d28149aec1d768c8112c9f2d8ee23d26dd18793b4c918b13bdabdd6fb"
            },
            "join": "none_failed",
            "value": {
              "kind": "list",
              "items": [{ "value": { "kind": "ref", "root": "steps", "path": ["week", "tasks"] } }]
            }
          },
          {
            "id": "pages",
            "kind": "call",
            "after": ["projects"],
            "executor": "server",
            "input": { "kind": "dict", "entries": [] },
            "join": "none_failed",
            "summary": {
              "kind": "text",
              "parts": [
                {
                  "key": { "kind": "literal", "value": "length" },
                  "kind": "get",
                  "of": {
                    "kind": "each",
                    "as": "page",
                    "body": {
                      "kind": "call",
                      "args": [{ "kind": "ref", "root": "local", "path": ["page"] }],
                      "fn": "toLowerCase.js"
                    },
                    "in": { "kind": "ref", "root": "steps", "path": ["pages", "pages"] },
                    "mode": "map"
                  },
                  "optional": true
                },
                " pages"
              ],
              "style": "display"
            },
            "tool": "list-pages"
          },
          {
            "id": "unknown",
            "kind": "compute",
            "after": ["pages"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "each",
              "as": "project",
              "body": {
                "kind": "not",
                "of": {
                  "kind": "call",
                  "args": [
                    {
                      "kind": "each",
                      "as": "page",
                      "body": {
                        "kind": "call",
                        "args": [{ "kind": "ref", "root": "local", "path": ["page"] }],
                        "fn": "toLowerCase.js"
                      },
                      "in": { "kind": "ref", "root": "steps", "path": ["pages", "pages"] },
                      "mode": "map"
                    },
                    {
                      "kind": "call",
                      "args": [{ "kind": "ref", "root": "local", "path": ["project"] }],
                      "fn": "toLowerCase.js"
                    }
                  ],
                  "fn": "includes.js"
                },
                "truth": "truthy.js"
              },
              "in": { "kind": "ref", "root": "steps", "path": ["projects"] },
              "mode": "filter",
              "truth": "truthy.js"
            }
          },
          {
            "id": "review",
            "kind": "call",
            "after": ["unknown"],
            "executor": "server",
            "guidance": {
              "kind": "text",
              "parts": [
                "The review of ",
                {
                  "key": { "kind": "literal", "value": "week" },
                  "kind": "get",
                  "of": { "kind": "ref", "root": "steps", "path": ["week"] },
                  "optional": true
                },
                " counts ",
                {
                  "key": { "kind": "literal", "value": "length" },
                  "kind": "get",
                  "of": { "kind": "ref", "root": "steps", "path": ["finished"] },
                  "optional": true
                },
                " done and ",
                {
                  "key": { "kind": "literal", "value": "length" },
                  "kind": "get",
                  "of": { "kind": "ref", "root": "steps", "path": ["open"] },
                  "optional": true
                },
                " open tasks."
              ],
              "style": "display"
            },
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "name",
                  "value": {
                    "kind": "text",
                    "parts": ["Review/", { "kind": "ref", "root": "steps", "path": ["week", "week"] }],
                    "style": "js"
                  }
                },
                {
                  "key": "properties",
                  "value": {
                    "kind": "dict",
                    "entries": [
                      { "key": "type", "value": { "kind": "literal", "value": "review" } },
                      {
                        "key": "week",
                        "value": { "kind": "ref", "root": "steps", "path": ["week", "week"] }
                      }
                    ]
                  }
                },
                {
                  "key": "blocks",
                  "value": {
                    "kind": "list",
                    "items": [
                      {
                        "value": {
                          "kind": "dict",
                          "entries": [
                            {
                              "key": "text",
                              "value": {
                                "kind": "text",
                                "parts": [
                                  "## Done (",
                                  { "kind": "ref", "root": "steps", "path": ["finished", "length"] },
                                  ")"
                                ],
                                "style": "js"
                              }
                            },
                            {
                              "key": "children",
                              "value": {
                                "kind": "each",
                                "as": "task",
                                "body": {
                                  "kind": "text",
                                  "parts": [
                                    { "kind": "ref", "root": "local", "path": ["task", "text"] },
                                    " (",
                                    { "kind": "ref", "root": "local", "path": ["task", "day"] },
                                    ")"
                                  ],
                                  "style": "js"
                                },
                                "in": { "kind": "ref", "root": "steps", "path": ["finished"] },
                                "mode": "map"
                              }
                            }
                          ]
                        }
                      },
                      {
                        "value": {
                          "kind": "dict",
                          "entries": [
                            {
                              "key": "text",
                              "value": {
                                "kind": "text",
                                "parts": [
                                  "## Open (",
                                  { "kind": "ref", "root": "steps", "path": ["open", "length"] },
                                  ")"
                                ],
                                "style": "js"
                              }
                            },
                            {
                              "key": "children",
                              "value": {
                                "kind": "list",
                                "items": [
                                  {
                                    "spread": true,
                                    "value": {
                                      "kind": "each",
                                      "as": "task",
                                      "body": {
                                        "kind": "text",
                                        "parts": [
                                          { "kind": "ref", "root": "local", "path": ["task", "text"] },
                                          " (",
                                          {
                                            "kind": "call",
                                            "args": [
                                              { "kind": "ref", "root": "local", "path": ["task", "state"] }
                                            ],
                                            "fn": "toLowerCase.js"
                                          },
                                          ", ",
                                          { "kind": "ref", "root": "local", "path": ["task", "day"] },
                                          ")"
                                        ],
                                        "style": "js"
                                      },
                                      "in": {
                                        "kind": "slice",
                                        "end": { "kind": "ref", "root": "inputs", "path": ["limit"] },
                                        "of": { "kind": "ref", "root": "steps", "path": ["open"] },
                                        "start": { "kind": "literal", "value": 0 },
                                        "style": "js"
                                      },
                                      "mode": "map"
                                    }
                                  },
                                  {
                                    "spread": true,
                                    "value": {
                                      "kind": "conditional",
                                      "else": { "kind": "list", "items": [] },
                                      "test": {
                                        "kind": "compare",
                                        "left": { "kind": "ref", "root": "steps", "path": ["left"] },
                                        "ops": [
                                          { "op": "gt.js", "right": { "kind": "literal", "value": 0 } }
                                        ]
                                      },
                                      "then": {
                                        "kind": "list",
                                        "items": [
                                          {
                                            "value": {
                                              "kind": "text",
                                              "parts": [
                                                "and ",
                                                { "kind": "ref", "root": "steps", "path": ["left"] },
                                                " more"
                                              ],
                                              "style": "js"
                                            }
                                          }
                                        ]
                                      },
                                      "truth": "truthy.js"
                                    }
                                  }
                                ]
                              }
                            }
                          ]
                        }
                      },
                      {
                        "value": {
                          "kind": "dict",
                          "entries": [
                            { "key": "text", "value": { "kind": "literal", "value": "## Projects" } },
                            {
                              "key": "children",
                              "value": {
                                "kind": "each",
                                "as": "project",
                                "body": {
                                  "kind": "text",
                                  "parts": [
                                    "[[",
                                    { "kind": "ref", "root": "local", "path": ["project"] },
                                    "]]"
                                  ],
                                  "style": "js"
                                },
                                "in": { "kind": "ref", "root": "steps", "path": ["projects"] },
                                "mode": "map"
                              }
                            }
                          ]
                        }
                      }
                    ]
                  }
                }
              ]
            },
            "join": "none_failed",
            "tool": "create-page"
          },
          {
            "id": "note",
            "kind": "call",
            "after": ["review"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "date", "value": { "kind": "ref", "root": "inputs", "path": ["day"] } },
                {
                  "key": "content",
                  "value": {
                    "kind": "text",
                    "parts": [
                      "Wrote [[",
                      { "kind": "ref", "root": "steps", "path": ["review", "name"] },
                      "]]"
                    ],
                    "style": "js"
                  }
                }
              ]
            },
            "join": "none_failed",
            "onError": {
              "value": {
                "kind": "dict",
                "entries": [
                  { "key": "entry_id", "value": { "kind": "literal", "value": null } },
                  { "key": "page", "value": { "kind": "literal", "value": null } },
                  {
                    "key": "block_ref",
                    "value": {
                      "kind": "text",
                      "parts": [
                        "not noted in the journal: ",
                        { "kind": "ref", "root": "error", "path": ["message"] }
                      ],
                      "style": "js"
                    }
                  }
                ]
              }
            },
            "tool": "add-content"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["note"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                { "key": "page", "value": { "kind": "ref", "root": "steps", "path": ["review", "path"] } },
                {
                  "key": "done",
                  "value": { "kind": "ref", "root": "steps", "path": ["finished", "length"] }
                },
                { "key": "open", "value": { "kind": "ref", "root": "steps", "path": ["open", "length"] } },
                {
                  "key": "unknown_projects",
                  "value": {
                    "kind": "call",
                    "args": [
                      { "kind": "ref", "root": "steps", "path": ["unknown"] },
                      { "kind": "literal", "value": ", " }
                    ],
                    "fn": "join.js"
                  }
                },
                {
                  "key": "noted",
                  "value": {
                    "kind": "call",
                    "args": [
                      { "kind": "ref", "root": "steps", "path": ["note", "page"] },
                      { "kind": "ref", "root": "steps", "path": ["note", "block_ref"] }
                    ],
                    "fn": "coalesce"
                  }
                },
                {
                  "key": "tags",
                  "value": {
                    "kind": "dict",
                    "entries": [
                      { "key": "type", "value": { "kind": "literal", "value": "resource_link" } },
                      {
                        "key": "uri",
                        "value": { "kind": "literal", "value": "resource://logseq/project-tags" }
                      },
                      { "key": "name", "value": { "kind": "literal", "value": "project-tags" } },
                      {
                        "key": "description",
                        "value": { "kind": "literal", "value": "How projects are tagged" }
                      }
                    ]
                  }
                }
              ]
            }
          }
        ]
      }`,
      hash: 'ced9e2385820aba32b6e806ef0d8d6e055e0d278ba6e6e4db1b65206591cb035',
      fingerprint: 'e6217a18ea1ef68de3915c3c6f195c4381a31527ecff8b9b8480660a17100ebf',
    },
  },
  functions: {
    projectsOf: {
      function: projectsOf,
      hash: '84399e6d28149aec1d768c8112c9f2d8ee23d26dd18793b4c918b13bdabdd6fb',
    },
  },
});

/** The names of the tools. */
export type ToolName = 
  | 'add-content'
  | 'add-journal-task'
  | 'build-todo-content'
  | 'create-page'
  | 'list-pages'
  | 'normalize-project'
  | 'read-week'
  | 'verify-project';

/** The names of the resources. */
export type ResourceName = 
  | 'error-handling'
  | 'logseq-intro'
  | 'project-tags'
  | 'todo-format'
  | 'workflow-intro';

/** The names of the workflows. */
export type WorkflowName = 'add-task' | 'add-todo-to-project' | 'note-task' | 'weekly-review';

interface Workflows {
  readonly 'add-task': AddTask;
  readonly 'add-todo-to-project': AddTodoToProject;
  readonly 'note-task': NoteTask;
  readonly 'weekly-review': WeeklyReview;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
