import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from 'stepwright/runtime';
import { testWorkflow } from 'stepwright/testing';
import { expect, test } from 'vitest';
import { runCodegen } from '../built-package.js';
import { fencesOf, page, ROOT } from './fences.js';
import { project } from './pages.js';

const PAGE = 'docs/compare.md';
const FILES = {
  Stepwright: 'stepwright.ts',
  '`fastmcp` 4.20.16': 'peers/fastmcp.js',
  'Mastra 1.71.0': 'peers/mastra.js',
};
const source = (file: string): string => readFileSync(`${ROOT}scripts/compare/${file}`, 'utf8');

function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length;
}

test.each(Object.entries(FILES))('the lines of %s are those of its file', (name, file) => {
  const row = page(PAGE)
    .split('\n')
    .find((line) => line.startsWith(`| ${name} | `) && /\| \d+ \|/.test(line));
  expect(Number(row?.split('|')[2])).toBe(linesOfCode(source(file)));
});

test('the page shows all of the workflow', () => {
  const [shown] = fencesOf(page(PAGE)).filter(({ language }) => language === 'ts');
  expect(shown?.body.trim()).toBe(
    source('stepwright.ts')
      .replace(/^import .*\n/gm, '')
      .trim(),
  );
});

test('the versions are those that are installed', () => {
  const { dependencies } = JSON.parse(source('peers/package.json')) as {
    dependencies: Record<string, string>;
  };
  for (const name of ['@mastra/core', '@mastra/mcp', 'fastmcp'])
    expect(page(PAGE)).toContain(`\`${name}\` ${dependencies[name]}`);
});

test('the workflow compiles, and is answered after a crash', { timeout: 120_000 }, async () => {
  const { root, write } = await project();
  const config = { registries: [{ include: ['src/**/*.ts'], out: 'generated/registry.ts' }] };
  await write('stepwright.config.json', JSON.stringify(config));
  for (const file of ['stepwright.ts', 'notes.js', 'notes.d.ts']) await write(`src/${file}`, source(file));
  expect((await runCodegen({ root })).diagnostics).toEqual([]);
  const { registry } = (await import(join(root, 'generated/registry.ts'))) as { registry: Registry };
  const tools = { 'find-notes': [{ notes: ['Old: mend the fence'] }], 'delete-notes': [{ deleted: 1 }] };
  const run = await testWorkflow(registry, 'tidy-notes', { args: { word: 'old' }, tools });
  expect(run.waiting[0]?.message).toBe('Delete 1 notes?');
  await run.kill();
  await run.answer(true);
  expect(run.result).toEqual({ deleted: 1 });
});
