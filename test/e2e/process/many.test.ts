import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { refusal } from '../server/connected.js';
import { startHttp, startStdio, TRANSPORTS } from './server-process.js';

let programs: CompiledPrograms;
beforeAll(async () => {
  programs = await compilePrograms({
    program: fileURLToPath(new URL('fixture/many.ts', import.meta.url)),
  });
});
afterAll(() => programs.remove());

interface Page {
  readonly names: readonly string[];
  readonly nextCursor?: string | undefined;
}

const LISTS: Readonly<Record<string, (client: Client, cursor?: string) => Promise<Page>>> = {
  tool: async (client, cursor) => {
    const { tools, nextCursor } = await client.listTools({ cursor });
    return { names: tools.map(({ name }) => name), nextCursor };
  },
  prompt: async (client, cursor) => {
    const { prompts, nextCursor } = await client.listPrompts({ cursor });
    return { names: prompts.map(({ name }) => name), nextCursor };
  },
  page: async (client, cursor) => {
    const { resources, nextCursor } = await client.listResources({ cursor });
    return { names: resources.map(({ name }) => name), nextCursor };
  },
};

const COUNTS = [
  ['tool', 200],
  ['prompt', 100],
  ['page', 500],
] as const;

async function pagesOf(client: Client, list: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const page: Page | undefined = await LISTS[list]?.(client, cursor);
    if (page === undefined) throw new Error(`there is no list ${list}`);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

describe.each(TRANSPORTS)('a server with many items over %s', { timeout: 120_000 }, (transport) => {
  test('has each of them on one page, in an order that stays', async () => {
    const server = await (transport === 'stdio' ? startStdio(programs, 1_000) : startHttp(programs, 1_000));
    const client = await server.client();
    const cursors = new Map<string, string>();
    for (const [list, count] of COUNTS) {
      const pages = await pagesOf(client, list);
      const names = pages.flatMap((page) => page.names);
      expect(names).toEqual(Array.from({ length: count }, (_, index) => `${list}-${index}`).sort());
      expect(pages.map((page) => page.names.length).slice(0, -1)).toEqual(Array(pages.length - 1).fill(33));
      expect(await pagesOf(client, list)).toEqual(pages);
      cursors.set(list, pages[0]?.nextCursor ?? '');
    }
    for (const [list] of COUNTS) {
      const [foreign = ''] = [...cursors].filter(([other]) => other !== list).map(([, cursor]) => cursor);
      const own = cursors.get(list) ?? '';
      for (const cursor of [foreign, `${own}=`, own.slice(1), `${own.slice(0, -1)}!`]) {
        expect(await refusal(LISTS[list]?.(client, cursor) ?? Promise.reject())).toEqual({
          code: -32602,
          message: expect.stringContaining('Invalid cursor: this list did not return it'),
        });
      }
    }
  });
});
