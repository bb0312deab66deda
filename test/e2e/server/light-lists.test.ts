import { Tool } from 'stepwright';
import { createServer, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { ask, call, input, returns, step, wait, workflow } from '../composite/fixture/workflows.js';
import { connectedTo, refusal } from './connected.js';
import { registryOf } from './fixture/registry-of.js';

const text = { type: 'string' } as const;
const object = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, text])),
  required: names,
  additionalProperties: false,
});

@Tool({ name: 'search-pages', description: 'Finds pages by a word', annotations: { readOnlyHint: true } })
class SearchPages {
  execute({ word }: { word: string }) {
    return { path: word };
  }
}

@Tool({ name: 'read-page', description: 'Reads a page', annotations: { readOnlyHint: true } })
class ReadPage {
  execute({ path }: { path: string }) {
    return { text: path };
  }
}

@Tool({ name: 'add-line', description: 'Adds a line to a page' })
class AddLine {
  execute({ path }: { path: string; line: string }) {
    return { id: path };
  }
}

@Tool({ name: 'remove-line', description: 'Removes a line' })
class RemoveLine {
  execute({ id }: { id: string }) {
    return { id };
  }
}

@Tool({ name: 'rename-page', description: 'Renames a page' })
class RenamePage {
  execute({ to }: { path: string; to: string }) {
    return { path: to };
  }
}

const registry = registryOf({
  tools: [
    { class: SearchPages, input: object('word'), output: object('path') },
    { class: ReadPage, input: object('path'), output: object('text') },
    { class: AddLine, input: object('path', 'line'), output: object('id') },
    { class: RemoveLine, input: object('id'), output: object('id') },
    { class: RenamePage, input: object('path', 'to'), output: object('path') },
  ],
});

const steps = [
  call('found', 'search-pages', { word: input('word') }),
  call('line', 'add-line', { path: step('found', 'path'), line: input('line') }),
];
const wordAndLine = ['word', 'line'].map((name) => ({
  name,
  description: `The ${name}`,
  schema: text,
  required: true,
}));
const note = workflow('note-down', [...steps, returns(step('line'))], { inputs: wordAndLine });

const asking = workflow('ask-first', [ask('sure'), ...steps], { inputs: wordAndLine });
const pausing = workflow('pause-first', [wait('pause', 1), ...steps], {
  inputs: wordAndLine,
  expose: ['prompt'],
});

const listed = (graphs: readonly Graph[], settings: ServerSettings = {}) =>
  createServer(registry, { ...settings, workflows: graphs.map((graph) => ({ graph })) }).listTools();
const namesOf = (graphs: readonly Graph[]) => listed(graphs).tools.map(({ name }) => name);
const sizeOf = (list: unknown) => JSON.stringify(list).length;

describe('the list of a server with five small tools and a workflow', () => {
  test('is well below 7,000 characters', () => {
    expect(sizeOf(listed([note]))).toBeLessThan(4_000);
    expect(sizeOf(listed([asking], { hints: false }))).toBeLessThan(5_500);
    // One of the tools says what it requires.
    expect(sizeOf(listed([asking]))).toBeLessThan(5_750);
  });

  test('has no output schemas where the server says so', async () => {
    const server = createServer(registry, { workflows: [{ graph: note }], outputSchemas: false });
    const { client } = await connectedTo(server);
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    const answer = await client.callTool({ name: 'w_note-down', arguments: { word: 'a', line: 'b' } });
    expect(answer.structuredContent).toEqual({ id: 'a' });
  });

  test('describes a workflow in short, or with a box', () => {
    const described = (settings: ServerSettings) =>
      listed([asking], settings).tools.find(({ name }) => name === 'w_ask-first')?.description;
    expect(described({})).toBe(
      'do ask-first\n\nMay ask a question before it is done: then answer with submit_result.',
    );
    expect(described({ describe: 'full' })).toContain('│ sure → found → line');
  });

  test('names workflows with another prefix, or none', async () => {
    expect(listed([note], { workflowPrefix: 'run-' }).tools.map(({ name }) => name)).toContain(
      'run-note-down',
    );
    const server = createServer(registry, { workflows: [{ graph: note }], workflowPrefix: '' });
    const { client } = await connectedTo(server);
    const answer = await client.callTool({ name: 'note-down', arguments: { word: 'a', line: 'b' } });
    expect(answer.structuredContent).toEqual({ id: 'a' });
  });
});

describe('the tools that look after runs', () => {
  const own = Object.keys(registry.tools).sort();

  test.each<[string, Graph, readonly string[]]>([
    ['may be cut short', note, ['w_note-down', 'get_workflow_status', 'cancel_workflow']],
    [
      'asks',
      asking,
      ['w_ask-first', 'submit_result', 'get_workflow_status', 'cancel_workflow', 'list_workflows'],
    ],
    ['waits', pausing, ['get_workflow_status', 'cancel_workflow', 'list_workflows']],
    ['is a part of others alone', { ...asking, expose: [] }, []],
  ])('are those that a workflow needs which %s', (_, graph, expected) => {
    expect(namesOf([graph])).toEqual([...own, ...expected]);
  });

  test('are unknown where none is needed', async () => {
    const { client } = await connectedTo(createServer(registry, { workflows: [{ graph: note }] }));
    expect(await refusal(client.callTool({ name: 'submit_result', arguments: {} }))).toMatchObject({
      message: "MCP error -32602: Unknown tool 'submit_result'",
    });
  });
});
