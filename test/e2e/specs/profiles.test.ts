import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { callOf, runIn } from '../composite/client.js';
import { listening, sessionOf } from '../composite/http.js';
import { ask, folderWith, repeat, serverWith, workflowTools } from './fixture.js';

const flights = {
  specs: { files: ['flights.yaml'] },
  resources: { files: ['guide.yaml'] },
  hints: { echo: { category: 'search', hint: 'Repeat before you meet', next: ['meet'] } },
  tools: ['echo', 'meet'],
  workflows: ['book', 'greet', 'guide'],
};

async function serving(settings: ServerSettings = {}) {
  const root = folderWith({
    'flights.yaml': repeat('book'),
    'guide.yaml': repeat('guide'),
    'all.yaml': repeat('everywhere'),
  });
  const made = serverWith({
    specs: { root, files: ['all.yaml'] },
    profiles: { flights, bare: { workflows: [] } },
    ...settings,
  });
  return { ...made, root, url: await listening(made.server) };
}

const at = (url: URL, profile: string) => new URL(`${url.href}/${profile}`);

describe('a profile', () => {
  test('shows its own workflows, hints and resources, and the tools that it lists', async () => {
    const { url } = await serving();
    const { client } = await sessionOf(at(url, 'flights'));
    const { tools } = await client.listTools();
    expect(workflowTools({ tools })).toEqual(['w_book', 'w_greet']);
    const single = tools.map(({ name }) => name).filter((name) => !name.includes('_'));
    expect(single).toEqual(['echo', 'meet']);
    expect(tools.find(({ name }) => name === 'echo')?.description).toContain('└─ Hint: Repeat before');
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['workflow://default/guide', 'workflow://default/overview']),
    );
    expect((await callOf(client, 'w_book', { text: 'a' })).structuredContent).toEqual({
      result: { text: 'a 2' },
    });
    await expect(client.callTool({ name: 'throw', arguments: {} })).rejects.toThrow(/throw/);
    await expect(client.callTool({ name: 'w_everywhere', arguments: {} })).rejects.toThrow(/w_everywhere/);
  });

  test('does not change what other clients get', async () => {
    const { url } = await serving();
    const { client } = await sessionOf(url);
    const { tools } = await client.listTools();
    expect(workflowTools({ tools })).toContain('w_everywhere');
    expect(workflowTools({ tools })).not.toContain('w_book');
    expect(tools.find(({ name }) => name === 'echo')?.description).not.toContain('Repeat before');
    expect(tools.map(({ name }) => name)).toContain('throw');
  });

  test('with an empty list of workflows has none', async () => {
    const { url } = await serving({ planTool: true });
    const { client } = await sessionOf(at(url, 'bare'));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('echo');
    expect(names.filter((name) => name.includes('_'))).toEqual([]);
    expect((await client.listPrompts()).prompts).toEqual([]);
    expect(client.getInstructions()).toBeUndefined();
  });

  test('follows changes of its own files, and of those of the server', async () => {
    const { url, root, next } = await serving({ profiles: { flights: { specs: flights.specs } } });
    const { client } = await sessionOf(at(url, 'flights'));
    const { client: other } = await sessionOf(url);
    const told = new Set<string>();
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    other.setNotificationHandler(ToolListChangedNotificationSchema, () => void told.add('other'));
    writeFileSync(path.join(root, 'flights.yaml'), repeat('rebook'));
    await next('specs.loaded');
    await changed;
    expect(workflowTools(await client.listTools())).toContain('w_rebook');
    await other.ping();
    expect([...told]).toEqual([]);
    writeFileSync(path.join(root, 'all.yaml'), repeat('nowhere'));
    await next('specs.loaded');
    expect(workflowTools(await client.listTools())).toEqual(
      expect.arrayContaining(['w_nowhere', 'w_rebook']),
    );
    expect(workflowTools(await client.listTools())).not.toContain('w_everywhere');
  });

  test('tells its clients when its resources have changed', async () => {
    const { url, root, next } = await serving({
      profiles: { guided: { resources: { files: ['guide.yaml'] } } },
    });
    const { client } = await sessionOf(at(url, 'guided'));
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => resolve());
    });
    writeFileSync(path.join(root, 'guide.yaml'), repeat('manual'));
    await next('specs.loaded');
    await changed;
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(uris).toContain('workflow://default/manual');
    expect(uris).not.toContain('workflow://default/guide');
  });

  test('stays as it is when a change of the server does not go with it', async () => {
    const { url, root, log, next } = await serving({ profiles: { flights: { specs: flights.specs } } });
    const { client } = await sessionOf(at(url, 'flights'));
    writeFileSync(path.join(root, 'all.yaml'), repeat('book', 5));
    expect(await next('specs.refused')).toMatchObject({
      message: expect.stringMatching(/do not go with those of a profile or client.*book/s),
    });
    const { tools } = await client.listTools();
    expect(workflowTools({ tools })).toEqual(expect.arrayContaining(['w_book', 'w_everywhere']));
    expect(tools.find(({ name }) => name === 'w_book')?.description).toContain('2 times');
    writeFileSync(path.join(root, 'all.yaml'), repeat('elsewhere'));
    await next('specs.loaded');
    expect(workflowTools(await client.listTools())).toEqual(
      expect.arrayContaining(['w_book', 'w_elsewhere']),
    );
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('shares its runs with the server', async () => {
    const root = folderWith({ 'ask.yaml': ask('careful', 'yes') });
    const { server } = serverWith({
      specs: { root },
      profiles: { careful: { specs: { files: ['*.yaml'] } } },
    });
    const url = await listening(server);
    const { client } = await sessionOf(at(url, 'careful'));
    const workflow_id = runIn(await callOf(client, 'w_careful'));
    const { client: later } = await sessionOf(at(url, 'careful'));
    const end = await callOf(later, 'submit_result', { workflow_id, result: { sure: true } });
    expect(end.structuredContent).toMatchObject({ status: 'completed', result: { text: 'yes' } });
  });

  test('that is unknown is refused with the nearest name', async () => {
    const { url } = await serving();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list' });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const response = await fetch(at(url, 'flight'), { method: 'POST', headers, body });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32_602,
        message: "There is no profile 'flight' on this server; did you mean 'flights'?",
        data: { code: 'E_PROFILE_UNKNOWN' },
      },
    });
    expect((await fetch(at(url, 'flights/more'), { method: 'POST', headers, body })).status).toBe(404);
  });

  test('has sessions of its own', async () => {
    const { url } = await serving();
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const begun = await fetch(at(url, 'flights'), { method: 'POST', headers, body });
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    const ask = (to: URL) => fetch(to, { method: 'POST', headers: { ...headers, ...session }, body: list });
    expect((await ask(url)).status).toBe(404);
    expect((await ask(at(url, 'flights'))).status).toBe(200);
  });
});

describe('a malformed profile keeps the server from starting', () => {
  test.each([
    [{ 'no/name': {} }, /'no\/name' is not a name of a profile/],
    [{ a: { tools: ['ecko'] } }, /profiles\.a\.tools: clients have no tool 'ecko'; did you mean 'echo'/],
    [{ a: { hints: { echo: { nxt: [] } } } }, /profiles\.a\.hints: 'echo' has 'nxt'.*did you mean 'next'/],
  ])('%#', async (profiles, message) => {
    const { server } = serverWith({ profiles: profiles as never });
    await expect(server.start()).rejects.toThrow(message);
    await expect(server.start()).rejects.toThrow(RangeError);
  });

  test.each([
    [{ specs: { file: ['a.yaml'] } }, "specs has no option 'file'; did you mean 'files'?"],
    [{ specs: { folder: '.' } }, "specs has no option 'folder'; it has files, urls, root, watch, remote"],
    [{ specs: { remote: { allow: [], header: {} } } }, "specs.remote has no option 'header'"],
    [{ profiles: { a: { tool: [] } } }, "profiles.a has no option 'tool'; did you mean 'tools'?"],
    [{ profiles: { a: { specs: { root: '.' } } } }, "profiles.a.specs has no option 'root'"],
  ])('with an option that there is not: %j', async (options, message) => {
    const { server } = serverWith(options as never);
    await expect(server.start()).rejects.toThrow(message);
    await expect(server.start()).rejects.toThrow(RangeError);
  });

  test('with a workflow that is not there', async () => {
    const { server } = serverWith({ profiles: { a: { workflows: ['great'] } } });
    await expect(server.start()).rejects.toThrow(/the profile 'a'.*'great'; did you mean 'greet'/);
  });

  test('with a file that is broken', async () => {
    const root = folderWith({ 'a.yaml': 'workflows: [' });
    const { server } = serverWith({ specs: { root }, profiles: { a: { specs: { files: ['a.yaml'] } } } });
    await expect(server.start()).rejects.toThrow(
      /The workflows of the profile 'a' cannot be used:\na\.yaml:1/,
    );
  });
});
