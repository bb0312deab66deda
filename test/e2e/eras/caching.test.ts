import { Resource } from 'stepwright';
import { createServer, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { desk } from '../composite/fixture/registry.js';
import { book, built } from '../composite/fixture/workflows.js';
import { listening, tokenOf } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { post } from './client.js';

@Resource({ name: 'now', description: 'The time' })
class Now {
  static readonly uri = 'clock://now';
  read() {
    return String(Date.now());
  }
}

@Resource({ name: 'guide', description: 'A guide', file: './guide.md' })
class Guide {
  static readonly uri = 'docs://guide';
}

const registry = registryOf({
  tools: [],
  resources: [{ class: Now }, { class: Guide, text: '# Guide' }],
});

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'];

type Hint = readonly [ttlMs: unknown, scope: unknown];

/** What the result of a request says to those who keep it. */
async function hintOf(url: URL, method: string, uri?: string, token?: string): Promise<Hint> {
  const headers = {
    ...(uri === undefined ? {} : { 'mcp-name': uri }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await post(url, method, { params: uri === undefined ? {} : { uri }, headers });
  const { result } = (await response.json()) as { readonly result: Readonly<Record<string, unknown>> };
  return [result.ttlMs, result.cacheScope];
}

const listsOf = async (url: URL, token?: string) =>
  Promise.all(LISTS.map((method) => hintOf(url, method, undefined, token)));
const served = (cache: ServerSettings['cache']) =>
  listening(createServer(registry, { ...(cache && { cache }) }));

describe('lists', () => {
  test('are kept for a minute by anybody, where each caller gets the same', async () => {
    expect(new Set((await listsOf(await served(undefined))).map(String))).toEqual(new Set(['60000,public']));
  });

  test('are kept by their caller alone, where it is authenticated or a tool needs scopes', async () => {
    const { server } = desk({ workflows: built([book]) });
    const token = tokenOf('desktop', { sub: 'ada' });
    expect(await hintOf(await listening(server), 'tools/list', undefined, token)).toEqual([
      60_000,
      'private',
    ]);
    const scoped = desk({ workflows: built([{ ...book, scopes: ['travel:book'] }]) }).server;
    expect(new Set((await listsOf(await listening(scoped))).map(String))).toEqual(new Set(['60000,private']));
  });

  test('are kept by their caller alone with an app, which hosts without apps do not get', async () => {
    const url = await listening(createServer(registry, { questions: { app: true } }));
    expect(new Set((await listsOf(url)).map(String))).toEqual(new Set(['60000,private']));
  });

  test('are kept for as long as the option says, and not where watched files change them', async () => {
    expect(await hintOf(await served({ listsMs: 5_000 }), 'tools/list')).toEqual([5_000, 'public']);
    const watched = await listening(createServer(registry, { specs: { files: [] } }));
    expect(await hintOf(watched, 'tools/list')).toEqual([0, 'public']);
    const still = await listening(createServer(registry, { specs: { files: [], watch: false } }));
    expect(await hintOf(still, 'tools/list')).toEqual([60_000, 'public']);
  });
});

describe('contents', () => {
  test('are kept as lists where they are embedded, and not where a class reads them', async () => {
    const url = await served(undefined);
    expect(await hintOf(url, 'resources/read', Guide.uri)).toEqual([60_000, 'public']);
    expect(await hintOf(url, 'resources/read', Now.uri)).toEqual([0, 'private']);
  });

  test('are kept for as long as the option says', async () => {
    const url = await served({ resourcesMs: { now: 1_000, guide: 0 } });
    expect(await hintOf(url, 'resources/read', Now.uri)).toEqual([1_000, 'private']);
    expect(await hintOf(url, 'resources/read', Guide.uri)).toEqual([0, 'public']);
  });

  test.each([
    [{ resourcesMs: { later: 1 } }, "cache.resourcesMs has 'later', which is not a resource of the registry"],
    [{ listsMs: -1 }, "cache: 'listsMs' must be a whole number of ms from 0, not -1"],
    [{ resourcesMs: { now: 1.5 } }, "cache: 'now' must be a whole number of ms from 0, not 1.5"],
  ])('have options that are checked: %j', (cache, message) => {
    expect(() => createServer(registry, { cache })).toThrow(new RangeError(message));
  });
});
