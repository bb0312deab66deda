import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  PromptListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { attach } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { smoke } from '../../nightly.js';
import { callOf, clientOf, runIn } from '../composite/client.js';
import { connectedTo } from '../server/connected.js';
import { factories, registry } from '../server/fixture/registry.js';
import { Probe } from '../server/fixture/tools.js';
import { ask, folder, folderWith, repeat, serverWith, workflowTools } from './fixture.js';

const own = ['w_greet', 'w_meet-twice', 'w_misled'];
const added = (server: { listTools(): { tools: readonly { name: string }[] } }) =>
  workflowTools(server.listTools()).filter((name) => !own.includes(name) && !name.startsWith('w_try-'));

describe('files', () => {
  test('are read when the server starts', async () => {
    const root = folderWith({
      'a.yaml': repeat('twice'),
      'deep/er/b.yaml': repeat('thrice', 3),
      'c.txt': 'x',
    });
    const { server } = serverWith({ specs: { root, files: ['**/*.yaml'] } });
    const { client } = await connectedTo(server);
    expect(added(server)).toEqual(['w_thrice', 'w_twice']);
    const { structuredContent } = await callOf(client, 'w_thrice', { text: 'hi' });
    expect(structuredContent).toEqual({ result: { text: 'hi 3' } });
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('twice');
  });

  test('may have several versions of a workflow, of which `start_workflow` starts any', async () => {
    const versioned = (version: string, times: number): string =>
      `version: "${version}"${repeat('twice', times)}`;
    const root = folderWith({
      'a.yaml': versioned('1.9.0', 2),
      'b.yaml': versioned('1.10.0', 3),
      'c.yaml': versioned('1.0.0', 4),
    });
    const { server } = serverWith({ specs: { root, files: ['*.yaml'] } });
    const { client } = await connectedTo(server);
    expect(added(server)).toEqual(['w_twice']);
    const start = async (version?: string) => {
      const answer = await callOf(client, 'start_workflow', {
        ...{ name: 'twice', inputs: { text: 'hi' } },
        ...(version === undefined ? {} : { version }),
      });
      return answer.structuredContent?.result ?? answer.content[0]?.text;
    };
    expect(await start()).toEqual({ text: 'hi 3' });
    expect(await start('1.10.0')).toEqual({ text: 'hi 3' });
    expect(await start('1.9.0')).toEqual({ text: 'hi 2' });
    expect(await start('1.0.0')).toEqual({ text: 'hi 4' });
    expect(await start('2.0.0')).toContain('has version 1.10.0, 1.9.0, 1.0.0 of');
  });

  test('with the same version of a workflow are refused, both named', async () => {
    const root = folderWith({ 'a.yaml': repeat('twice'), 'b.yaml': repeat('twice', 3) });
    const { server } = serverWith({ specs: { root, files: ['*.yaml'] } });
    await expect(server.start()).rejects.toMatchObject({
      message: expect.stringMatching(/b\.yaml:3:3[\s\S]*SW5004[\s\S]*a\.yaml:3:3/),
    });
  });

  test('that are broken keep the server from starting, each fault at its place', async () => {
    const root = folderWith({ 'a.yaml': repeat('twice').replace('call: echo', 'call: ecko') });
    const { server } = serverWith({ specs: { root, files: ['a.yaml'] } });
    await expect(server.start()).rejects.toMatchObject({
      name: 'SpecError',
      code: 'E_SPEC_INVALID',
      message: expect.stringMatching(/a\.yaml:7:7[\s\S]*ecko[\s\S]*echo/),
    });
  });

  test('with warnings are logged with the bars below each other', async () => {
    const optional = repeat('twice').replace('required: true', 'required: false');
    const root = folderWith({
      'a.yaml': optional
        .replace('"$text 2"', '"$text? 2"')
        .concat('      after: { call: echo, args: { text: $say.text } }\n'),
    });
    const { server, log } = serverWith({ specs: { root, files: ['a.yaml'] } });
    await server.start();
    const [bar, line] = (log.find(({ event }) => event === 'workflow.warning')?.message ?? '')
      .split('\n')
      .slice(2, 4);
    expect(bar?.indexOf('|')).toBe(line?.indexOf('|'));
    expect(line).toMatch(/^ {2}\d+ \|/);
  });

  test('that are missing keep the server from starting', async () => {
    const { server } = serverWith({ specs: { root: folder(), files: ['none.yaml'] } });
    await expect(server.start()).rejects.toThrow(/none\.yaml.*there is no such file/s);
  });

  test('with the name of a workflow of the registry keep the server from starting', async () => {
    const root = folderWith({ 'a.yaml': repeat('greet') });
    const { server } = serverWith({ specs: { root, files: ['a.yaml'] } });
    await expect(server.start()).rejects.toMatchObject({
      name: 'RegistrationError',
      message: expect.stringContaining(
        'the workflow at a.yaml:3:3 is named `greet`, as a workflow of the registry is: prompts and workflows share their ' +
          'names. Rename one of them, or leave out the file if codegen has read it for the registry',
      ),
      problems: [{ code: 'E_NAME_TAKEN', taken: 'greet', file: 'a.yaml' }],
    });
  });

  test('outside of the root are refused, links among them', async () => {
    const outside = folderWith({ 'a.yaml': repeat('twice') });
    const root = folder();
    symlinkSync(path.join(outside, 'a.yaml'), path.join(root, 'link.yaml'));
    for (const file of ['link.yaml', path.join(outside, 'a.yaml')]) {
      const { server } = serverWith({ specs: { root, files: [file] } });
      await expect(server.start()).rejects.toThrow(/it is not in the folder .*set specs\.root/s);
    }
  });

  test('that no pattern finds are a warning', async () => {
    const { server, next } = serverWith({ specs: { root: folder(), files: ['*.yaml'] } });
    await server.start();
    expect(await next('specs.loaded')).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(/matches \*\.yaml/),
    });
  });
});

describe('a change', () => {
  test('of one file keeps the graphs of the others, and a folder that vanishes is said', async () => {
    const root = folderWith({ 'flows/a.yaml': repeat('twice'), 'flows/b.yaml': repeat('thrice', 3) });
    const { server, next } = serverWith({ specs: { root, files: ['flows/*.yaml'] } });
    const { client } = await connectedTo(server);
    writeFileSync(path.join(root, 'flows/b.yaml'), repeat('thrice', 4));
    await next('specs.loaded');
    const says = async (name: string) => (await callOf(client, name, { text: 'hi' })).structuredContent;
    expect(await says('w_thrice')).toEqual({ result: { text: 'hi 4' } });
    expect(await says('w_twice')).toEqual({ result: { text: 'hi 2' } });
    rmSync(path.join(root, 'flows'), { recursive: true });
    expect(await next('workflow.warning')).toMatchObject({
      message: expect.stringMatching(/matches flows\/\*\.yaml any more: its workflows are gone/),
    });
    await next('specs.loaded');
    expect(added(server)).toEqual([]);
  });

  test('of a workflow changes what the workflows that run it give', async () => {
    const outer = `workflows:\n  outer:\n    description: d\n    graph: { both: { workflow: twice, args: { text: hi } } }\n`;
    const root = folderWith({ 'a.yaml': repeat('twice'), 'outer.yaml': outer });
    const { server, next, log } = serverWith({ specs: { root, files: ['*.yaml'] } });
    const { client } = await connectedTo(server);
    writeFileSync(path.join(root, 'a.yaml'), repeat('twice', 5));
    await next('specs.loaded');
    expect((await callOf(client, 'w_outer', {})).structuredContent).toEqual({ result: { text: 'hi 5' } });
    writeFileSync(path.join(root, 'a.yaml'), repeat('twise'));
    await next('specs.refused');
    expect(log.at(-1)?.message).toContain('did you mean `twise`?');
    writeFileSync(path.join(root, 'a.yaml'), repeat('twice', 6));
    await next('specs.loaded');
    expect((await callOf(client, 'w_outer', {})).structuredContent).toEqual({ result: { text: 'hi 6' } });
  });

  test('replaces the workflows and tells the clients which lists have changed', async () => {
    const root = folderWith({ 'a.yaml': repeat('twice') });
    const { server, next } = serverWith({ specs: { root, files: ['*.yaml'] } });
    const { client } = await connectedTo(server);
    const told: string[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told.push('tools'));
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => void told.push('prompts'));
    writeFileSync(path.join(root, 'b.yaml'), repeat('thrice', 3));
    expect(await next('specs.loaded')).toMatchObject({
      message: expect.stringMatching(/2 workflows are of files/),
    });
    expect(added(server)).toEqual(['w_thrice', 'w_twice']);
    await client.ping();
    expect(told).toEqual(['tools', 'prompts']);
    rmSync(path.join(root, 'a.yaml'));
    expect(await next('specs.loaded')).toMatchObject({
      message: expect.stringMatching(/1 workflow is of files/),
    });
    expect(added(server)).toEqual(['w_thrice']);
  });

  test('of what a file says about its domain is in the overview of the domain', async () => {
    const text = (rule: string) =>
      `domain: talk\nrules: [${rule}]\ndocs: Say little.${repeat('twice').replace('params:', 'expose: resource\n    params:')}`;
    const root = folderWith({ 'a.yaml': text('Greet first.') });
    const domains = [{ name: 'talk', rules: ['Be kind.'] }];
    const { server, next } = serverWith({ domains, specs: { root, files: ['*.yaml'] } });
    const { client } = await connectedTo(server);
    const overview = async () => {
      const { contents } = await client.readResource({ uri: 'workflow://talk/overview' });
      return contents.map((each) => ('text' in each ? each.text : '')).join('');
    };
    expect(await overview()).toMatch(/guide\n\nSay little\.\n\n[\s\S]*- Be kind\.\n- Greet first\.\n/);
    writeFileSync(path.join(root, 'a.yaml'), text('Thank last.'));
    await next('specs.loaded');
    expect(await overview()).toMatch(/- Be kind\.\n- Thank last\.\n/);
    expect(await overview()).not.toContain('Greet first');
  });

  test('may be a file that takes the place of another', async () => {
    const root = folderWith({ 'a.yaml': repeat('twice') });
    const { server, next } = serverWith({ specs: { root, files: ['a.yaml'] } });
    await server.start();
    for (const times of [3, 4]) {
      writeFileSync(path.join(root, 'a.yaml.tmp'), repeat('again', times));
      renameSync(path.join(root, 'a.yaml.tmp'), path.join(root, 'a.yaml'));
      await next('specs.loaded');
      const tool = server.listTools().tools.find(({ name }) => name === 'w_again');
      expect(tool?.description).toContain(`Says it ${times} times`);
    }
  });

  test.each(smoke(['all/*.yaml', 'all/a.yaml', 'all/**/*.yaml']))(
    'may be the folder of %s, which is made again',
    async (pattern) => {
      const root = folderWith({ 'all/a.yaml': repeat('twice') });
      const { server, next } = serverWith({ specs: { root, files: [pattern] } });
      await server.start();
      const emptied = pattern === 'all/a.yaml' ? 'specs.refused' : 'specs.loaded';
      rmSync(path.join(root, 'all'), { recursive: true });
      await next(emptied);
      mkdirSync(path.join(root, 'all'));
      writeFileSync(path.join(root, 'all/a.yaml'), repeat('thrice', 3));
      await next('specs.loaded');
      expect(added(server)).toEqual(['w_thrice']);
      renameSync(path.join(root, 'all'), path.join(root, 'away'));
      await next(emptied);
      renameSync(path.join(root, 'away'), path.join(root, 'all'));
      writeFileSync(path.join(root, 'all/a.yaml'), repeat('again'));
      await next('specs.loaded');
      expect(added(server)).toEqual(['w_again']);
    },
  );

  test.each(smoke(['volume/*.yaml', 'volume/a.yaml', 'volume/**/a.yaml']))(
    'may be a link on the way to %s',
    async (pattern) => {
      const root = folderWith({
        'volume/..1/a.yaml': repeat('twice'),
        'volume/..2/a.yaml': repeat('thrice', 3),
        'volume/..3/a.yaml': repeat('again'),
      });
      const link = (target: string, name: string) => symlinkSync(target, path.join(root, 'volume', name));
      link('..1', '..data');
      link('..data/a.yaml', 'a.yaml');
      const { server, next } = serverWith({ specs: { root, files: [pattern] } });
      await server.start();
      for (const [target, name] of [
        ['..2', 'w_thrice'],
        ['..3', 'w_again'],
      ] as const) {
        link(target, '..next');
        renameSync(path.join(root, 'volume/..next'), path.join(root, 'volume/..data'));
        await next('specs.loaded');
        expect(added(server)).toEqual([name]);
      }
    },
  );

  test('that is broken leaves the workflows before it, and is reported once', async () => {
    const root = folderWith({ 'a.yaml': repeat('twice'), 'profile/p.yaml': repeat('other') });
    const { server, log, next } = serverWith({
      specs: { root, files: ['*.yaml'] },
      profiles: { other: { specs: { files: ['profile/p.yaml'] } } },
    });
    await server.start();
    writeFileSync(path.join(root, 'a.yaml'), `${repeat('twice')}  - ]`);
    expect(await next('specs.refused')).toMatchObject({
      level: 'error',
      message: expect.stringMatching(/a\.yaml:8:/),
    });
    expect(added(server)).toEqual(['w_twice']);
    writeFileSync(path.join(root, 'b.yaml'), repeat('thrice', 3));
    writeFileSync(path.join(root, 'profile/p.yaml'), repeat('other', 3));
    // The profile is read after the server, which has the same fault once more.
    await next('specs.loaded');
    expect(added(server)).toEqual(['w_twice']);
    writeFileSync(path.join(root, 'a.yaml'), repeat('twice', 5));
    await next('specs.loaded');
    expect(log.filter(({ event }) => event === 'specs.refused')).toHaveLength(1);
    expect(added(server)).toEqual(['w_thrice', 'w_twice']);
  });

  test('to a name that is taken leaves the workflows before it', async () => {
    const root = folderWith({ 'a.yaml': repeat('twice') });
    const { server, next } = serverWith({ specs: { root, files: ['*.yaml'] } });
    await server.start();
    writeFileSync(path.join(root, 'a.yaml'), repeat('greet'));
    expect(await next('specs.refused')).toMatchObject({
      message: expect.stringMatching(
        /stay:\n *the workflow at a\.yaml:3:3 is named `greet`, as a workflow of the registry is/,
      ),
    });
    expect(added(server)).toEqual(['w_twice']);
  });

  test('does not touch a run that waits: it goes on with the graph it began with', async () => {
    const root = folderWith({ 'a.yaml': ask('careful', 'before') });
    const { server, next } = serverWith({ specs: { root, files: ['*.yaml'] } });
    const client = await clientOf(server);
    const workflow_id = runIn(await callOf(client, 'w_careful'));
    writeFileSync(path.join(root, 'a.yaml'), ask('careful', 'after'));
    await next('specs.loaded');
    const status = await callOf(client, 'get_workflow_status', { workflow_id });
    expect(status.structuredContent).toMatchObject({ status: 'waiting', definition_changed: true });
    // The workflow is gone, and so is the last one that asks.
    rmSync(path.join(root, 'a.yaml'));
    await next('specs.loaded');
    expect(added(server)).toEqual([]);
    const end = await callOf(client, 'submit_result', { workflow_id, result: { sure: true } });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: { text: 'before' } });
  });

  test('does not touch a run in a file', async () => {
    const root = folderWith({ 'a.yaml': ask('careful', 'before') });
    const store = `sqlite:${path.join(root, 'runs.db')}` as const;
    const settings = { store, specs: { root, files: ['*.yaml'] } };
    const first = serverWith(settings);
    const client = await clientOf(first.server);
    const workflow_id = runIn(await callOf(client, 'w_careful'));
    writeFileSync(path.join(root, 'a.yaml'), ask('careful', 'after'));
    await first.next('specs.loaded');
    await first.server.drain();
    const second = await clientOf(serverWith(settings).server);
    const end = await callOf(second, 'submit_result', { workflow_id, result: { sure: true } });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: { text: 'before' } });
  });

  test('may remove the workflow of a run in a file before a restart', async () => {
    const root = folderWith({ 'a.yaml': ask('careful', 'before') });
    const store = `sqlite:${path.join(root, 'runs.db')}` as const;
    const settings = { store, specs: { root, files: ['*.yaml'] }, profiles: { other: {} } };
    const first = serverWith(settings);
    const client = await clientOf(first.server);
    const [mine, other] = [
      runIn(await callOf(client, 'w_careful')),
      runIn(await callOf(client, 'w_careful')),
    ];
    await first.server.drain();
    rmSync(path.join(root, 'a.yaml'));
    const { server } = serverWith(settings);
    const second = await clientOf(server);
    expect(added(server)).toEqual([]);
    const end = await callOf(second, 'submit_result', { workflow_id: mine, result: { sure: true } });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: { text: 'before' } });
    const profile = await clientOf(await server.view({ profile: 'other' }));
    const done = await callOf(profile, 'submit_result', { workflow_id: other, result: { sure: true } });
    expect(done.structuredContent).toMatchObject({ status: 'completed' });
    await server.drain();
    // Nothing is left to answer.
    const third = serverWith(settings).server;
    await third.start();
    expect(third.listTools().tools.map(({ name }) => name)).not.toContain('submit_result');
  });
});

test('a server that a registry is attached to offers the workflows of files as well', async () => {
  const root = folderWith({ 'a.yaml': repeat('twice') });
  const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
  mcp.registerTool('stock', {}, () => ({ content: [{ type: 'text', text: '3 pens' }] }));
  const settings = { specs: { root, files: ['*.yaml'] }, log: () => {} };
  const server = await attach(mcp, registry, { ...settings, tools: factories(new Probe()) });
  onTestFinished(() => server.stop());
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await mcp.connect(toClient);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(toServer);
  onTestFinished(() => client.close());
  const said = { structuredContent: { result: { text: 'hi 2' } } };
  expect(await client.callTool({ name: 'w_twice', arguments: { text: 'hi' } })).toMatchObject(said);
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  writeFileSync(path.join(root, 'b.yaml'), repeat('again'));
  await changed;
  expect(await client.callTool({ name: 'w_again', arguments: { text: 'hi' } })).toMatchObject(said);
  expect(await client.callTool({ name: 'stock', arguments: {} })).toMatchObject({ content: [{}] });
});

test('a file with the name of a tool of the server cannot be attached', async () => {
  const root = folderWith({ 'a.yaml': repeat('twice') });
  const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
  mcp.registerTool('w_twice', {}, () => ({ content: [] }));
  const settings = { specs: { root, files: ['*.yaml'] }, log: () => {} };
  await expect(attach(mcp, registry, { ...settings, tools: factories(new Probe()) })).rejects.toThrow(
    /w_twice/,
  );
});

test('a server without watch keeps what it has read', async () => {
  const root = folderWith({ 'a.yaml': repeat('twice') });
  const { server, log } = serverWith({ specs: { root, files: ['*.yaml'], watch: false } });
  await server.start();
  const witness = serverWith({ specs: { root, files: ['*.yaml'] } });
  await witness.server.start();
  writeFileSync(path.join(root, 'a.yaml'), repeat('thrice', 3));
  await witness.next('specs.loaded');
  expect(log).toEqual([]);
  expect(added(server)).toEqual(['w_twice']);
});

test('workflows that are switched off show nowhere', async () => {
  const root = folderWith({ 'a.yaml': repeat('twice') });
  const settings = { planTool: true, specs: { root, files: ['*.yaml', 'none.yaml'] } };
  const { server, log } = serverWith({ ...settings, offerWorkflows: false });
  const { client } = await connectedTo(server);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('echo');
  expect(workflowTools({ tools })).toEqual([]);
  expect(tools.map(({ name }) => name)).not.toContain('_plan');
  expect(tools.map(({ name }) => name)).not.toContain('get_workflow_status');
  expect((await client.listPrompts()).prompts).toEqual([]);
  const { resources } = await client.listResources();
  expect(resources.filter(({ uri }) => uri.startsWith('workflow:'))).toEqual([]);
  expect(client.getInstructions()).toBeUndefined();
  await expect(client.callTool({ name: 'w_greet', arguments: {} })).rejects.toThrow(/w_greet/);
  expect(log).toEqual([]);
});
