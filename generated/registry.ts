// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry } from 'stepwright/runtime';
import { AddTask } from '../examples/logseq/add-task.workflow.js';
import { LogseqIntro } from '../examples/logseq/logseq-intro.resource.js';
import { AddJournalTask } from '../examples/logseq/tools/add-journal-task.tool.js';
import { ListPages } from '../examples/logseq/tools/list-pages.tool.js';
import { VerifyProject } from '../examples/logseq/tools/verify-project.tool.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: 'f43bab152206ab2d4e908f46114ed9fe81f05ea9613aec6fefa59976867fe81a',
  tools: {
    'add-journal-task': {
      class: AddJournalTask,
      description: 'Add the task to the project',
      inputSchema: {
        type: 'object',
        properties: {
          project: { type: 'string', minLength: 1, description: 'Name of the project, as the user gave it' },
          task: {
            type: 'string',
            minLength: 1,
            maxLength: 2000,
            description: 'What needs doing; line breaks become spaces',
          },
          project_path: {
            type: 'string',
            description: 'File of the project page, as verify-project returns it',
          },
          date: {
            description: 'Day of the journal, yyyy-mm-dd; today when left out',
            type: 'string',
            format: 'date',
            pattern: '^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$',
          },
        },
        required: ['project', 'task', 'project_path'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: {
          success: { type: 'boolean', const: true },
          task_id: { type: 'string', description: 'Id of the new block, for ((block references))' },
          journal: { type: 'string', description: 'File the task was written to' },
          line: {
            type: 'integer',
            minimum: -9007199254740991,
            maximum: 9007199254740991,
            description: 'Line of the task in that file',
          },
        },
        required: ['success', 'task_id', 'journal', 'line'],
        additionalProperties: false,
      },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      fingerprint: '6d1b6c58d1f10a390259bf861e9c4d5ab4dacf8fd35e4ec1ec17e66786dc3781',
    },
    'list-pages': {
      class: ListPages,
      description: 'Get all available pages',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      outputSchema: {
        type: 'object',
        properties: { pages: { type: 'array', items: { type: 'string' } } },
        required: ['pages'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: '828c36117dc492a7e89d79dae8a5164d2d1dceb5a912110e19a130f77b35ca3e',
    },
    'verify-project': {
      class: VerifyProject,
      description: 'Check if project exists',
      inputSchema: {
        type: 'object',
        properties: {
          project: {
            type: 'string',
            minLength: 1,
            description: 'Name or alias of the project page; case does not matter',
          },
          available_pages: {
            type: 'array',
            items: { type: 'string' },
            description: 'Pages to choose from, as list-pages returns them',
          },
        },
        required: ['project', 'available_pages'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: {
          exists: { type: 'boolean', const: true },
          path: { type: 'string', description: 'File of the page in the graph' },
        },
        required: ['exists', 'path'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: 'f2eeb2a11c19ed3959a590c8a8ca22db4ba344e80c691c82912d2bf9e2dcf36c',
    },
  },
  resources: {
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
  },
  workflows: {
    'add-task': {
      class: AddTask,
      graph: {
        graphVersion: 1,
        name: 'add-task',
        description: 'add a task to a project',
        inputs: [
          {
            name: 'project',
            description: 'Project page, by name or alias',
            required: true,
            schema: { type: 'string' },
          },
          { name: 'task', description: 'What needs doing', required: true, schema: { type: 'string' } },
          {
            name: 'date',
            description: 'Day of the journal, yyyy-mm-dd; today when left out',
            required: false,
            schema: { type: 'string' },
          },
        ],
        instructions: [{ resource: 'logseq-intro', uri: 'resource://logseq/intro' }],
        nodes: [
          {
            id: 'list',
            kind: 'call',
            after: [],
            executor: 'server',
            input: { kind: 'dict', entries: [] },
            join: 'none_failed',
            tool: 'list-pages',
          },
          {
            id: 'verify',
            kind: 'call',
            after: ['list'],
            executor: 'server',
            guidance: {
              kind: 'text',
              parts: [
                "Find the page that '",
                { kind: 'ref', root: 'inputs', path: ['project'] },
                "' means, by its name or an alias.",
              ],
              style: 'display',
            },
            input: {
              kind: 'dict',
              entries: [
                { key: 'project', value: { kind: 'ref', root: 'inputs', path: ['project'] } },
                { key: 'available_pages', value: { kind: 'ref', root: 'steps', path: ['list', 'pages'] } },
              ],
            },
            join: 'none_failed',
            tool: 'verify-project',
          },
          {
            id: 'add',
            kind: 'call',
            after: ['verify'],
            executor: 'server',
            input: {
              kind: 'dict',
              entries: [
                { key: 'project', value: { kind: 'ref', root: 'inputs', path: ['project'] } },
                { key: 'task', value: { kind: 'ref', root: 'inputs', path: ['task'] } },
                { key: 'project_path', value: { kind: 'ref', root: 'steps', path: ['verify', 'path'] } },
                { key: 'date', value: { kind: 'ref', root: 'inputs', path: ['date'] } },
              ],
            },
            join: 'none_failed',
            tool: 'add-journal-task',
          },
          {
            id: 'output',
            kind: 'return',
            after: ['add'],
            executor: 'server',
            join: 'none_failed',
            value: {
              kind: 'dict',
              entries: [
                { key: 'task_id', value: { kind: 'ref', root: 'steps', path: ['add', 'task_id'] } },
                { key: 'journal', value: { kind: 'ref', root: 'steps', path: ['add', 'journal'] } },
                { key: 'line', value: { kind: 'ref', root: 'steps', path: ['add', 'line'] } },
              ],
            },
          },
        ],
      },
      hash: '6d4e7461b67b5cdfbc49bbaa60fd3260d00f16daf45a49cd2754b2156f0df2f3',
      fingerprint: '92e25f825decbced4c202e3e3697853c00459e432fcb8371e4c9bd3441bc6a2a',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'add-journal-task' | 'list-pages' | 'verify-project';

/** The names of the resources. */
export type ResourceName = 'logseq-intro';

/** The names of the workflows. */
export type WorkflowName = 'add-task';

interface Workflows {
  readonly 'add-task': AddTask;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
