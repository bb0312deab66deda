import { testWorkflow, upstreamCassette, upstreamDoubles } from 'stepwright/testing';
import { expect, test } from 'vitest';
import { registry } from './generated/upstream.registry.js';
import { LearnNote } from './learn-note.workflow.js';
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

type Upstream = ReturnType<typeof upstreamDoubles>;

const learn = (upstream: Upstream, file: string, topic: string) =>
  testWorkflow(registry, LearnNote, { args: { file, topic }, server: { upstream } });

test('a note about a new topic is remembered', async () => {
  const files = filesystemDoubles({ read_text_file: ({ path }) => ({ content: `text of ${path}\n` }) });
  const run = await learn(upstreamDoubles(...files, ...memory()), 'garden.md', 'pears');
  expect(run.result).toEqual({ facts: ['text of garden.md'] });
});

test('a note about a known topic is added to it', async () => {
  const pears = { name: 'pears', entityType: 'topic', observations: ['They are ripe.'] };
  const run = await learn(upstreamDoubles(...filesystemDoubles(), ...memory([pears])), 'garden.md', 'pears');
  expect(run.result).toEqual({ facts: ['They are ripe.'] });
  expect(run.calls.map(({ step }) => step)).toContain('remembered.then');
});

test('a note that cannot be read ends the run', async () => {
  const files = filesystemDoubles({
    read_text_file: () => {
      throw new Error('Access denied');
    },
  });
  const run = await learn(upstreamDoubles(...files, ...memory()), '../secret.md', 'pears');
  expect(run.failure).toMatchObject({ code: 'E_TOOL_ERROR', message: 'Access denied' });
});

test('recorded answers of the server for files are those of the notes', async () => {
  const cassette = `${import.meta.dirname}/servers/filesystem.cassette.json`;
  const { result } = await learn(upstreamCassette(cassette, ...memory()), 'boat.md', 'to do');
  expect(result).toEqual({ facts: ['The boat needs a new coat of paint before April.'] });
  const { failure } = await learn(upstreamCassette(cassette, ...memory()), 'house.md', 'to do');
  expect(failure?.code).toBe('E_UPSTREAM_REFUSED');
});
