import { createServer, type UpstreamPort } from 'stepwright/runtime';
import { upstreamCassette, upstreamDoubles } from 'stepwright/testing';
import { expect, test } from 'vitest';
import { registry } from './generated/upstream.registry.js';
import { filesystemDoubles } from './servers/filesystem.doubles.js';
import { memoryDoubles } from './servers/memory.doubles.js';

interface Entity {
  readonly name: string;
  readonly entityType: string;
  readonly observations: readonly string[];
}

/** Doubles of the memory: what is created is there afterwards. Everything else answers as its schema allows. */
function memory(entities: readonly Entity[] = []) {
  let known = entities;
  return memoryDoubles({
    open_nodes: ({ names }) => ({
      entities: known.filter(({ name }) => names.includes(name)),
      relations: [],
    }),
    create_entities: (created) => {
      known = [...known, ...created.entities];
      return created;
    },
  });
}

async function learn(upstream: UpstreamPort, file: string, topic: string): Promise<unknown> {
  const server = createServer(registry, { name: 'test', upstream });
  const request = { requestId: '1', signal: new AbortController().signal, progress: () => {} };
  try {
    const result = await server.callTool('w_learn-note', { file, topic }, request);
    return result.isError === true ? result._meta?.['stepwright/failure'] : result.structuredContent;
  } finally {
    await server.stop();
  }
}

test('a note about a new topic is remembered', async () => {
  const files = filesystemDoubles({ read_text_file: ({ path }) => ({ content: `text of ${path}\n` }) });
  expect(await learn(upstreamDoubles(...files, ...memory()), 'garden.md', 'pears')).toEqual({
    facts: ['text of garden.md'],
  });
});

test('a note about a known topic is added to it', async () => {
  const pears = { name: 'pears', entityType: 'topic', observations: ['They are ripe.'] };
  const upstream = upstreamDoubles(...filesystemDoubles(), ...memory([pears]));
  expect(await learn(upstream, 'garden.md', 'pears')).toEqual({ facts: ['They are ripe.'] });
});

test('a note that cannot be read ends the run', async () => {
  const files = filesystemDoubles({
    read_text_file: () => {
      throw new Error('Access denied');
    },
  });
  expect(await learn(upstreamDoubles(...files, ...memory()), '../secret.md', 'pears')).toMatchObject({
    code: 'E_TOOL_ERROR',
    message: 'Access denied',
  });
});

test('recorded answers of the server for files are those of the notes', async () => {
  const cassette = `${import.meta.dirname}/servers/filesystem.cassette.json`;
  expect(await learn(upstreamCassette(cassette, ...memory()), 'boat.md', 'to do')).toEqual({
    facts: ['The boat needs a new coat of paint before April.'],
  });
  expect(await learn(upstreamCassette(cassette, ...memory()), 'house.md', 'to do')).toMatchObject({
    code: 'E_UPSTREAM_REFUSED',
  });
});
