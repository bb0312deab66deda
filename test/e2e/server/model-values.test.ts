import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Tool } from 'stepwright';
import { connect, createServer, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/graph/json.js';
import {
  argument,
  ask,
  built,
  call,
  input,
  returns,
  step,
  workflow,
} from '../composite/fixture/workflows.js';
import { textsOf } from './connected.js';
import { registryOf } from './fixture/registry-of.js';

const line = { type: 'string', pattern: '^- \\[ \\] ' } as const;

@Tool({ name: 'find-page', description: 'Finds a page' })
class FindPage {
  execute({ name }: { name: string }) {
    return { path: `pages/${name}.md` };
  }
}

@Tool({ name: 'add-task', description: 'Adds a task' })
class AddTask {
  execute(given: { path: string; formatted_task: string }) {
    return given;
  }
}

const closed = (properties: JsonObject) =>
  ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false }) as const;

const registry = registryOf({
  tools: [
    { class: FindPage, input: closed({ name: { type: 'string' } }) },
    { class: AddTask, input: closed({ path: { type: 'string' }, formatted_task: line }) },
  ],
});

const hybrid = built([
  workflow(
    'hybrid',
    [
      call('found', 'find-page', { name: input('project') }),
      ask('added.formatted_task', {
        ...{ mode: 'model', expects: line, feeds: { node: 'added', path: ['formatted_task'] } },
        message: { kind: 'literal', value: 'Format the task as a block' },
      }),
      call(
        'added',
        'add-task',
        { path: step('found', 'path'), formatted_task: step('added.formatted_task') },
        { guidance: { kind: 'literal', value: 'Begin with a box' } },
      ),
      call('again', 'find-page', { name: step('added', 'path') }),
      returns(step('added')),
    ],
    { inputs: [argument('project', { type: 'string' })] },
  ),
  workflow(
    'confirmed',
    [
      ask('sure', { mode: 'confirm', message: { kind: 'literal', value: 'Sure?' } }),
      ask('task', {
        ...{ mode: 'model', expects: line, after: ['sure'] },
        message: { kind: 'literal', value: 'Format the task as a block' },
      }),
      returns(step('task')),
    ],
    { inputs: [argument('project', { type: 'string' })] },
  ),
]);

const added = { path: 'pages/Website.md', formatted_task: '- [ ] water' };

async function clientOf(settings: ServerSettings = {}, sampled?: string): Promise<Client> {
  const server = createServer(registry, { log: () => {}, workflows: hybrid, ...settings });
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await connect(server, toClient, { log: () => {} });
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: sampled === undefined ? {} : { sampling: {} } },
  );
  if (sampled !== undefined) {
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      role: 'assistant',
      content: { type: 'text', text: sampled },
      model: 'm',
    }));
  }
  await client.connect(toServer);
  onTestFinished(() => client.close());
  return client;
}

const promptOf = (client: Client) => client.getPrompt({ name: 'hybrid', arguments: { project: 'Website' } });
const toolOf = (client: Client, name: string, given: JsonObject) =>
  client.callTool({ name, arguments: given }) as Promise<{
    structuredContent: JsonObject;
    isError?: boolean;
  }>;

describe('a value that the caller supplies', () => {
  test('is a placeholder in the call that a prompt hands over', async () => {
    const client = await clientOf();
    const got = await promptOf(client);
    const last = textsOf(got).at(-1);
    expect(last).toBe(`Step 'added.formatted_task' needs a value that you supply.

To continue the workflow, make these tool calls:

1. Call add-task with {"path":"pages/Website.md","formatted_task":"<Format the task as a block>"}
   Note: Begin with a box
2. Call find-page with {"name":"<field 'path' from added>"}`);
    expect(got._meta).not.toHaveProperty('workflow_id');
    const { runs } = (await toolOf(client, 'list_workflows', {})).structuredContent;
    expect(runs).toEqual([]);
  });

  test('is submitted to the run of a tool, which refuses one that does not fit and goes on waiting', async () => {
    const client = await clientOf();
    const begun = (await toolOf(client, 'w_hybrid', { project: 'Website' })).structuredContent;
    expect(begun).toMatchObject({
      status: 'waiting',
      actions: [{ schema: line, parameters: { type: 'model', message: 'Format the task as a block' } }],
    });
    const submit = (result: Json) =>
      toolOf(client, 'submit_result', { workflow_id: begun.workflow_id ?? '', result });
    for (const wrong of ['water', 7, '{"a":', { text: '- [ ] water' }]) {
      const refused = await submit(wrong);
      expect(refused.isError).toBe(true);
      expect(JSON.stringify(refused)).toContain('E_RESULT_SHAPE');
    }
    const ended = await submit('- [ ] water');
    expect(ended.structuredContent).toMatchObject({ status: 'completed', result: added });
  });
});

test('the client’s model is asked after an answer as well', async () => {
  const client = await clientOf({ allowSampling: true }, '- [ ] water');
  const begun = (await toolOf(client, 'w_confirmed', { project: 'Website' })).structuredContent;
  expect(begun).toMatchObject({ status: 'waiting', actions: [{ parameters: { type: 'confirm' } }] });
  const workflow_id = begun.workflow_id ?? '';
  const ended = await toolOf(client, 'submit_result', { workflow_id, result: { confirmed: true } });
  expect(ended.structuredContent).toMatchObject({ status: 'completed', result: '- [ ] water' });
});

test('the status of a run shows which values of the model did not fit', async () => {
  let askedAgain = (): void => {};
  const again = new Promise<void>((resolve) => {
    askedAgain = resolve;
  });
  const model: ServerSettings['model'] = ({ errors }) => {
    if (errors.length === 0) return 'water';
    askedAgain();
    return new Promise(() => {});
  };
  const client = await clientOf({ model, toolAnswerMs: 1 });
  const begun = (await toolOf(client, 'w_hybrid', { project: 'Website' })).structuredContent;
  await again;
  const status = await client.callTool({
    name: 'get_workflow_status',
    arguments: { workflow_id: begun.workflow_id },
  });
  const problems = [expect.stringContaining('pattern')];
  expect(status.structuredContent).toMatchObject({ actions: [{ refused_values: [{ problems }] }] });
  expect(JSON.stringify(status.content)).toContain('Try 1 of the model did not fit: ');
});

describe.each(['prompt', 'tool'] as const)('the run of a %s', (kind) => {
  const resultOf = async (client: Client) =>
    kind === 'prompt'
      ? (await promptOf(client))._meta
      : (await toolOf(client, 'w_hybrid', { project: 'Website' })).structuredContent;

  test('takes the value of the operator’s model, which is asked again', async () => {
    const errors: (readonly string[])[] = [];
    const model: ServerSettings['model'] = async (request) => {
      errors.push(request.errors);
      return errors.length === 1 ? 'water' : '- [ ] water';
    };
    const given = await resultOf(await clientOf({ model }));
    expect(given).toMatchObject({ result: added });
    expect(errors).toEqual([[], [expect.stringContaining('pattern')]]);
  });

  test('fails with E_MODEL_VALUE for a model that supplies nothing fitting', async () => {
    expect(JSON.stringify(await resultOf(await clientOf({ model: () => 7 })))).toContain('E_MODEL_VALUE');
  });

  test('takes the value of the client’s model if the operator allows it', async () => {
    const given = await resultOf(await clientOf({ allowSampling: true }, '- [ ] water'));
    expect(given).toMatchObject({ result: added });
  });

  test('does not ask the client’s model otherwise', async () => {
    const given = await resultOf(await clientOf({}, '- [ ] water'));
    expect(given).not.toHaveProperty('result');
  });
});
