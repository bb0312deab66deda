import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tool, type ToolContext, Workflow } from 'stepwright';
import {
  createServer,
  type Registry,
  type UpstreamPort,
  type UpstreamTool,
  upstreamServers,
} from 'stepwright/runtime';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { runLocally } from '../../../src/runtime/server/local-run.js';
import { programWithPackage } from '../../built-package.js';
import { call, lit, returns, runs, step, workflow } from '../composite/fixture/workflows.js';
import { registryOf } from '../server/fixture/registry-of.js';

@Tool({ name: 'files_read', description: 'Reads', upstream: { server: 'files', tool: 'read' } })
class Read {
  execute(input: object, context: ToolContext): Promise<unknown> {
    return context.callUpstream(input);
  }
}

@Tool({ name: 'files_list', description: 'Lists', upstream: { server: 'files', tool: 'list' } })
class List extends Read {}

@Workflow({ name: 'reading', description: 'do reading' })
class Reading {}

const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const;
const output = {
  type: 'object',
  properties: { content: { type: 'string' } },
  required: ['content'],
} as const;

const reading = workflow('reading', [
  call('file', 'files_read', { path: lit('a.txt') }),
  returns(step('file', 'content')),
]);
const around = workflow('around', [runs('inner', 'reading', {}), returns(step('inner'))]);
const other = workflow('other', [returns(lit(1))]);

const registry: Registry = registryOf({
  tools: [
    { class: Read, input, output },
    { class: List, input },
  ],
});

const recorded: readonly UpstreamTool[] = [
  { name: 'read', inputSchema: input, outputSchema: output },
  { name: 'list', inputSchema: input },
];

/** A server with these tools; without any it cannot be reached. */
function upstreamOf(tools?: readonly UpstreamTool[]) {
  const state = { lists: 0, closes: 0 };
  const port: UpstreamPort = {
    call: async () => ({ content: [], structuredContent: { content: 'hi' }, isError: false }),
    list: async () => {
      state.lists += 1;
      if (tools === undefined) throw new Error('it is down');
      return { server: { name: 'files', version: '1' }, tools };
    },
    close: async () => {
      state.closes += 1;
    },
  };
  return { port, state };
}

async function started(tools?: readonly UpstreamTool[], graphs = [reading, around, other]) {
  const log: string[] = [];
  const { port, state } = upstreamOf(tools);
  const server = createServer(registry, {
    upstream: port,
    log: (text) => log.push(text),
    workflows: graphs.map((graph) => ({ graph })) as never,
  });
  onTestFinished(() => server.stop());
  await server.start();
  const request = { requestId: '1', signal: new AbortController().signal, progress: () => {}, local: true };
  return {
    log,
    state,
    server,
    tool: (name: string) => server.callTool(name, {}, request),
    prompt: (name: string) => server.getPrompt(name, {}, request).catch((error: unknown) => error),
  };
}

const gone = recorded.map((tool) =>
  tool.name === 'read'
    ? { ...tool, outputSchema: { ...output, properties: {}, required: [], additionalProperties: false } }
    : tool,
);

describe('a server that starts', () => {
  test('offers workflows whose tools are as recorded', async () => {
    const { log, tool, state } = await started(recorded);
    expect(await tool('w_reading')).toMatchObject({ structuredContent: { result: 'hi' } });
    expect([log, state.lists]).toEqual([[], 1]);
  });

  test('makes workflows unavailable whose tools lack what they read, and those that run them', async () => {
    const { log, tool, prompt } = await started(gone);
    const text =
      "Workflow 'reading' is unavailable: 'content' in the output of tool 'read' of the upstream server 'files' is not in the output any more; run `npx stepwright pull files`, and correct the workflow";
    expect(await tool('w_reading')).toMatchObject({
      isError: true,
      _meta: { 'stepwright/failure': { code: 'E_UPSTREAM_DRIFT', message: text } },
    });
    expect(await prompt('reading')).toMatchObject({ code: -32006, message: text });
    expect(await tool('w_around')).toMatchObject({
      _meta: { 'stepwright/failure': { code: 'E_UPSTREAM_DRIFT' } },
    });
    expect(await tool('w_other')).toMatchObject({ structuredContent: { result: 1 } });
    expect(log).toEqual([expect.stringContaining("Workflow 'around' is unavailable"), text]);
  });

  test('compares again when an unavailable workflow is called, and offers it once it has what it needs', async () => {
    const tools = [...gone];
    const { log, tool, prompt, state } = await started(tools);
    expect(await tool('w_reading')).toMatchObject({ isError: true });
    tools.splice(0, tools.length, ...recorded);
    expect(await tool('w_reading')).toMatchObject({ structuredContent: { result: 'hi' } });
    expect(log.at(-1)).toBe("Workflow 'reading' is available again: upstream servers have what it needs");
    const { lists } = state;
    expect(await prompt('reading')).toMatchObject({ messages: expect.any(Array) });
    expect(state.lists).toBe(lists);
  });

  test('logs what of a list cannot be used', async () => {
    const { port } = upstreamOf(recorded);
    const log: string[] = [];
    const server = createServer(registry, {
      upstream: {
        ...port,
        list: async () => ({
          server: { name: 'files', version: '1' },
          tools: recorded,
          notes: ['tool x is odd'],
        }),
      },
      log: (text) => log.push(text),
      workflows: [{ graph: reading }] as never,
    });
    onTestFinished(() => server.stop());
    await server.start();
    expect(log).toEqual(["The list of tools of the upstream server 'files': tool x is odd"]);
  });

  test('warns of other changes of used tools', async () => {
    const changed = [
      {
        ...(recorded[0] as UpstreamTool),
        outputSchema: { ...output, properties: { ...output.properties, size: { type: 'number' } } },
      },
      { name: 'list', inputSchema: {} },
    ];
    const { log, tool } = await started(changed);
    expect(log).toEqual([
      "Tool 'read' of the upstream server 'files' has a new `size` of its output, which no workflow depends on: run `npx stepwright pull files`",
    ]);
    expect(await tool('w_reading')).toMatchObject({ structuredContent: { result: 'hi' } });
  });

  test('goes on without a server that cannot be reached', async () => {
    const { log, tool } = await started();
    expect(log).toEqual([
      "The tools of the upstream server 'files' could not be compared with the recorded ones: it is down",
    ]);
    expect(await tool('w_reading')).toMatchObject({ structuredContent: { result: 'hi' } });
  });

  test('asks no server whose tools no workflow calls, and closes connections when it stops', async () => {
    const { state, server } = await started(recorded, [other]);
    expect(state).toEqual({ lists: 0, closes: 0 });
    await server.stop();
    expect(state.closes).toBe(1);
  });
});

test('a list that changes later makes workflows unavailable, and available again', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-drift-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tools.json');
  const listed = (tools: readonly UpstreamTool[]) => writeFileSync(file, JSON.stringify(tools));
  listed(recorded);
  const files = {
    command: process.execPath,
    args: [programWithPackage('test/e2e/upstream/server.fixture.ts')],
    env: { FIXTURE_TOOLS: file },
  };
  const upstream = upstreamServers({ files }, { log: () => {} });
  let logged: (text: string) => void = () => {};
  const nextLog = () =>
    new Promise<string>((resolve) => {
      logged = resolve;
    });
  const server = createServer(registry, {
    ...{ upstream, log: (text: string) => logged(text), workflows: [{ graph: reading }] as never },
  });
  onTestFinished(() => server.stop());
  await server.start();
  const announce = async (): Promise<void> => {
    const { signal } = new AbortController();
    await upstream.call({ server: 'files', tool: 'announce' }, {}, { signal, progress: () => {} });
  };
  const request = { requestId: '1', signal: new AbortController().signal, progress: () => {}, local: true };
  const failureOf = async () => {
    const { _meta } = await server.callTool('w_reading', {}, request);
    return (_meta?.['stepwright/failure'] as { readonly code: string } | undefined)?.code;
  };

  listed(gone);
  const lost = nextLog();
  await announce();
  expect(await lost).toContain("Workflow 'reading' is unavailable");
  expect(await failureOf()).toBe('E_UPSTREAM_DRIFT');
  // A call of an unavailable workflow asks again, and finds the tool back without an announcement.
  listed(recorded);
  const found = nextLog();
  expect(await failureOf()).not.toBe('E_UPSTREAM_DRIFT');
  expect(await found).toBe("Workflow 'reading' is available again: upstream servers have what it needs");

  // The server is deployed anew, and the next call connects again.
  listed(gone);
  const drifted = nextLog();
  const crash = upstream.call(
    { server: 'files', tool: 'crash' },
    {},
    { signal: request.signal, progress: () => {} },
  );
  await expect(crash).rejects.toMatchObject({ code: 'E_UPSTREAM_LOST' });
  await announce();
  expect(await drifted).toContain("Workflow 'reading' is unavailable");
  expect(await failureOf()).toBe('E_UPSTREAM_DRIFT');
});

test('a run of the command line is refused as well, and closes the connection', async () => {
  const { port, state } = upstreamOf(gone);
  const { inputs, nodes } = reading;
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  const outcome = await runLocally({
    registry: registryOf({
      tools: [{ class: Read, input, output }],
      workflows: [{ class: Reading, graph: { inputs, nodes } }],
    }),
    options: { upstream: port, log: () => {} },
    workflow: 'reading',
    args: {},
    progress: () => {},
    signal: new AbortController().signal,
  });
  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'E_UPSTREAM_DRIFT' } });
  expect(state.closes).toBe(1);
  // A process may install its package before it lists its tools.
  expect(timeout.mock.calls).toEqual([[300_000]]);
});
