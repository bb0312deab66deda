import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { connect, createServer, type ModelRequest } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toolsOf } from '../../../examples/logseq/factories.js';
import { LogseqGraph } from '../../../examples/logseq/graph.js';
import { registry } from '../../../generated/registry.js';
import { printTrace, startExample, texts } from './example-server.js';

const given = { project: 'the site', task: 'fix the form' };
const written = 'TODO [[Website]] Fix the form';
const message =
  "Write 'fix the form' as one TODO for the page 'the site' of: Ada, Blog, Grace, Mobile, Website, Website/Login";

describe('note-task, over stdio', () => {
  test('as a prompt, hands the call over with everything but the text', async () => {
    const { client } = await startExample();
    const trace = await client.getPrompt({ name: 'note-task', arguments: given });
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/note-task.txt');
    expect(texts(trace).at(-1)).toBe(`Step 'added.content' needs a value that you supply.

To continue the workflow, make these tool calls:

1. Call add-content with {"content":"<${message}>"}
   Note: Link the page of the list that 'the site' means.`);
  });

  test('as a tool, takes the text by submit_result', async () => {
    const { client, folder } = await startExample();
    const call = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>;
    const begun = await call('w_note-task', given);
    expect(begun).toMatchObject({
      status: 'waiting',
      actions: [{ step_id: 'added.content', parameters: { type: 'model', message } }],
    });
    const ended = await call('submit_result', { workflow_id: begun.workflow_id, result: written });
    expect(ended).toMatchObject({ status: 'completed' });
    const { page } = ended.result as { page: string };
    expect(await readFile(join(folder, page), 'utf8')).toContain(written);
  });
});

test('note-task with a model of the operator runs to its end', async () => {
  const { folder } = await startExample();
  const requests: ModelRequest[] = [];
  const server = createServer(registry, {
    log: () => {},
    tools: toolsOf(new LogseqGraph(folder)),
    model: (request) => {
      requests.push(request);
      return written;
    },
  });
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await connect(server, toClient, { log: () => {} });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(toServer);
  onTestFinished(() => client.close());
  const trace = await client.getPrompt({ name: 'note-task', arguments: given });
  expect(requests).toMatchObject([{ message, step: 'added.content', workflow: 'note-task' }]);
  expect(trace._meta).toMatchObject({ status: 'succeeded' });
});
