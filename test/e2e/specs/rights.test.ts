import { Tool } from 'stepwright';
import { type BuiltWorkflow, createServer } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { sequential, step } from '../../../src/formats/builder/index.js';
import { smoke } from '../../nightly.js';
import { connectedTo, refusal } from '../server/connected.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { web, yaml } from './web.js';

const object = { type: 'object', properties: {}, additionalProperties: false } as const;

@Tool({ name: 'read_note', description: 'Reads' })
class ReadNote {
  execute() {
    return { text: 'n' };
  }
}

@Tool({ name: 'write_note', description: 'Writes', scopes: ['notes:write'] })
class WriteNote {
  execute() {
    return { id: 'n-1' };
  }
}

@Tool({ name: 'wipe_notes', description: 'Wipes', visibility: 'workflow' })
class WipeNotes {
  execute() {
    return {};
  }
}

const registry = registryOf({
  tools: [ReadNote, WriteNote, WipeNotes].map((cls) => ({ class: cls, input: object })),
});

const workflows: readonly BuiltWorkflow[] = [
  sequential('audit', 'Audits notes', { scopes: ['notes:audit'] })
    .step(step(ReadNote))
    .build(),
  sequential('hidden', 'For other workflows', { expose: [] }).step(step(ReadNote)).build(),
];

const spec = (node: string) => `
workflows:
  brought:
    description: Brought by a client
    graph:
      one: ${node}
`;

async function viewOf(text: string) {
  const site = await web(yaml(text));
  const server = createServer(registry, {
    workflows,
    specs: { remote: { allow: [site.origin] } },
    log: () => {},
  });
  onTestFinished(() => server.stop());
  return server.view({ workflowUrl: `${site.origin}/a.yaml` });
}

const token = (...scopes: string[]) => ({ token: 't', clientId: 'app', scopes });

test.each(
  smoke([
    ['a private tool', '{ call: wipe_notes }', /wipe_notes/],
    ['a workflow that only others run', '{ type: workflow, workflow: hidden }', /hidden/],
  ]),
)('a workflow of an address cannot use %s', async (_what, node, message) => {
  await expect(viewOf(spec(node))).rejects.toMatchObject({
    code: 'E_SPEC_INVALID',
    message: expect.stringMatching(message),
  });
});

test.each(
  smoke([
    ['tools', '{ call: write_note }', 'notes:write'],
    ['workflows', '{ type: workflow, workflow: audit }', 'notes:audit'],
  ]),
)('its caller needs the scopes of the %s that it uses', async (_what, node, scope) => {
  const view = await viewOf(spec(node));
  const { client: stranger } = await connectedTo(view, token());
  const { tools } = await stranger.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('w_brought');
  expect(await stranger.callTool({ name: 'w_brought', arguments: {} })).toMatchObject({ isError: true });
  expect(await refusal(stranger.getPrompt({ name: 'brought' }))).toMatchObject({ code: -32_006 });
  const { client } = await connectedTo(view, token(scope));
  expect(await client.callTool({ name: 'w_brought', arguments: {} })).not.toHaveProperty('isError', true);
});
