import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ToolContext } from 'stepwright';
import { toolContext } from 'stepwright/testing';
import { describe, expect, test } from 'vitest';
import { LogseqGraph } from '../../../examples/logseq/graph.js';
import { AddJournalTask } from '../../../examples/logseq/tools/add-journal-task.tool.js';
import { ListPages } from '../../../examples/logseq/tools/list-pages.tool.js';
import { VerifyProject } from '../../../examples/logseq/tools/verify-project.tool.js';
import { temporaryGraph } from './temp-graph.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/logseq/graph/', import.meta.url));

async function exampleGraph(): Promise<{ folder: string; graph: LogseqGraph }> {
  const folder = await temporaryGraph({});
  await cp(EXAMPLE, folder, { recursive: true });
  return { folder, graph: new LogseqGraph(folder) };
}

function context(idempotencyKey?: string): ToolContext {
  return toolContext(idempotencyKey === undefined ? {} : { idempotencyKey });
}

const WEBSITE = { project: 'Website', task: 'Fix login bug', project_path: 'pages/Website.md' };

test('list-pages names every page of the example', async () => {
  const { graph } = await exampleGraph();
  expect(await new ListPages(graph).execute()).toEqual({
    pages: ['Ada', 'Blog', 'Grace', 'Mobile', 'Website', 'Website/Login'],
  });
});

describe('verify-project', () => {
  test.each(['Website', 'website', 'Homepage'])('finds %s', async (project) => {
    const { graph } = await exampleGraph();
    const answer = new VerifyProject(graph).execute({ project, available_pages: ['Blog', 'Website'] });
    expect(await answer).toEqual({ exists: true, path: 'pages/Website.md' });
  });

  test.each([
    ['Nonexistent', ['Website']],
    ['Website', ['Blog']],
    ['../journals/2026_01_12', ['../journals/2026_01_12']],
    ['/etc/passwd', ['/etc/passwd']],
    ['Website\0', ['Website\0', 'Website']],
  ])('refuses %j when %j are available', async (project, available_pages) => {
    const { graph } = await exampleGraph();
    await expect(new VerifyProject(graph).execute({ project, available_pages })).rejects.toThrow(
      `Project '${project}' not found in available pages`,
    );
  });
});

describe('add-journal-task', () => {
  test('writes one block under the day, linked to the page by its real name', async () => {
    const { folder, graph } = await exampleGraph();
    const result = await new AddJournalTask(graph).execute(
      { ...WEBSITE, project: 'homepage', date: '2026-01-12' },
      context(),
    );
    expect(result).toMatchObject({ success: true, journal: 'journals/2026_01_12.md', line: 5 });
    const lines = (await readFile(join(folder, result.journal), 'utf8')).split('\n');
    expect(lines.slice(4)).toEqual(['- TODO [[Website]] Fix login bug', `  id:: ${result.task_id}`, '']);
  });

  test('goes to today without a date', async () => {
    const { graph } = await exampleGraph();
    const tool = new AddJournalTask(graph, () => '2026-02-28');
    expect((await tool.execute(WEBSITE, context())).journal).toBe('journals/2026_02_28.md');
    expect((await new AddJournalTask(graph).execute(WEBSITE, context())).journal).toMatch(
      /^journals\/\d{4}_\d{2}_\d{2}\.md$/,
    );
  });

  test('a repeated attempt of one step finds what the first one wrote, even after midnight', async () => {
    const { folder, graph } = await exampleGraph();
    const days = ['2026-01-31', '2026-02-01'];
    const tool = new AddJournalTask(graph, () => days.shift() ?? '');
    const first = await tool.execute(WEBSITE, context('key'));
    expect(first.task_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await tool.execute(WEBSITE, context('key'))).toEqual(first);
    expect((await readFile(join(folder, first.journal), 'utf8')).match(/Fix login bug/g)).toHaveLength(1);
  });

  test('another step, or a call without a key, is another task', async () => {
    const { graph } = await exampleGraph();
    const tool = new AddJournalTask(graph, () => '2026-02-28');
    const keys = ['a', 'b', undefined, undefined];
    const results = await Promise.all(keys.map((key) => tool.execute(WEBSITE, context(key))));
    expect(new Set(results.map((result) => result.task_id)).size).toBe(4);
    expect(results.map((result) => result.line).sort()).toEqual([1, 3, 5, 7]);
  });

  test.each([
    [{ project_path: 'pages/Blog.md' }, "'pages/Blog.md' is not the page of project 'Website'"],
    [{ project_path: 'pages/../pages/Website.md' }, 'is not the page of project'],
    [{ project_path: '/etc/passwd' }, 'is not the page of project'],
    [{ project: 'Nonexistent' }, "'pages/Website.md' is not the page of project 'Nonexistent'"],
    [{ task: ' \n\u2028\t' }, 'The task has no text'],
    [{ date: '../../x' }, 'is not a day of the form yyyy-mm-dd'],
  ])('refuses %j and writes nothing', async (change, message) => {
    const { folder, graph } = await exampleGraph();
    const tool = new AddJournalTask(graph, () => '2026-01-13');
    const before = await readFile(join(folder, 'journals/2026_01_13.md'), 'utf8');
    await expect(tool.execute({ ...WEBSITE, ...change }, context())).rejects.toThrow(message);
    expect(await readFile(join(folder, 'journals/2026_01_13.md'), 'utf8')).toBe(before);
  });

  test('an aborted call writes nothing', async () => {
    const { folder, graph } = await exampleGraph();
    const before = await readFile(join(folder, 'journals/2026_01_13.md'), 'utf8');
    const aborted = { ...context(), signal: AbortSignal.abort(new Error('cancelled')) };
    const call = new AddJournalTask(graph).execute({ ...WEBSITE, date: '2026-01-13' }, aborted);
    await expect(call).rejects.toThrow('cancelled');
    expect(await readFile(join(folder, 'journals/2026_01_13.md'), 'utf8')).toBe(before);
  });
});
