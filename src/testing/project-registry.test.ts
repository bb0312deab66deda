import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { expectRun, projectRegistry, testWorkflow, upstreamCassette } from './index.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'stepwright-testing-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a project in YAML is tested with its snapshots and a cassette', async () => {
  const registry = await projectRegistry({ root: 'templates/yaml' });
  const interaction = (tool: string, input: object, content: string) => ({
    ...{ server: 'files', tool, input },
    result: { content: [], isError: false, structuredContent: { content } },
  });
  const path = 'inbox.md';
  const cassette = join(folder(), 'notes.cassette.json');
  const interactions = [
    interaction('read_text_file', { path }, '# Inbox\n'),
    interaction('write_file', { path, content: '# Inbox\n- Buy bread\n' }, 'written'),
    interaction('read_text_file', { path }, '# Inbox\n- Buy bread\n'),
  ];
  writeFileSync(cassette, JSON.stringify({ cassetteVersion: 1, interactions }));
  const run = await testWorkflow(registry, 'add-note', {
    args: { line: 'Buy bread' },
    server: { upstream: upstreamCassette(cassette) },
  });
  expectRun(run).toHaveCompleted('# Inbox\n- Buy bread\n');
  expect(run.effects.map(({ step }) => step)).toEqual(['write']);
});

test('faults of the project are the error, and TypeScript is named', async () => {
  const root = folder();
  writeFileSync(join(root, 'stepwright.config.json'), '{ "specs": ["*.yaml"] }');
  writeFileSync(
    join(root, 'w.yaml'),
    'workflows: { w: { description: d, graph: { a: { call: absent } } } }\n',
  );
  await expect(projectRegistry({ root })).rejects.toThrow(/w\.yaml:1:\d+ - error SW4001/);
  await expect(projectRegistry()).rejects.toThrow('has TypeScript: import `registry`');
});
