import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolContext } from 'stepwright/testing';
import { describe, expect, test } from 'vitest';
import { LogseqGraph } from '../../../examples/logseq/graph.js';
import { AddContent } from '../../../examples/logseq/tools/add-content.tool.js';
import { BuildTodoContent } from '../../../examples/logseq/tools/build-todo-content.tool.js';
import { CreatePage } from '../../../examples/logseq/tools/create-page.tool.js';
import { NormalizeProject } from '../../../examples/logseq/tools/normalize-project.tool.js';
import { ReadWeek } from '../../../examples/logseq/tools/read-week.tool.js';
import { temporaryGraph } from './temp-graph.js';

const today = (): string => '2026-01-13';
const context = (idempotencyKey?: string) =>
  toolContext(idempotencyKey === undefined ? {} : { idempotencyKey });

async function graph(files: Record<string, string> = {}): Promise<{ folder: string; graph: LogseqGraph }> {
  const folder = await temporaryGraph({ 'pages/Website.md': 'alias:: Homepage\n', ...files });
  return { folder, graph: new LogseqGraph(folder) };
}

describe('normalize-project', () => {
  test.each([
    ['Website', 'Website', true],
    ['  [[website]] ', 'Website', true],
    ['#Homepage', 'Website', true],
    ['#[[HOMEPAGE]]', 'Website', true],
    ['[[New  thing]]', 'New thing', false],
  ])('%j is %s', async (input, name, exists) => {
    const tool = new NormalizeProject((await graph()).graph);
    expect(await tool.execute({ input })).toEqual({ name, exists });
  });

  test.each([
    [' \n', 'project_name cannot be empty'],
    ['#[[]]', 'project_name cannot be empty'],
    ['a]] [[b', "'a]] [[b' cannot be the name of a page"],
  ])('refuses %j', async (input, message) => {
    await expect(new NormalizeProject((await graph()).graph).execute({ input })).rejects.toThrow(message);
  });
});

test('build-todo-content writes one line, whatever is in the task', () => {
  const tool = new BuildTodoContent();
  expect(tool.execute({ task: 'Fix\n- DONE x [[Blog]] ]]', project: 'Website' })).toEqual({
    text: 'TODO [[Website]] Fix - DONE x [[Blog]] \\]\\]',
  });
  expect(() => tool.execute({ task: '\u2028', project: 'Website' })).toThrow(
    'task_description cannot be empty',
  );
});

describe('add-content', () => {
  test('adds a block to the journal of the day, today when there is none', async () => {
    const { folder, graph: logseq } = await graph();
    const tool = new AddContent(logseq, today);
    const added = await tool.execute({ content: 'a\nb' }, context('key'));
    expect(added).toEqual({
      entry_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      page: 'journals/2026_01_13.md',
      block_ref: `((${added.entry_id}))`,
    });
    expect(await readFile(join(folder, added.page), 'utf8')).toBe(`- a b\n  id:: ${added.entry_id}\n`);
    expect(await tool.execute({ content: 'a\nb' }, context('key'))).toEqual(added);
    expect((await tool.execute({ content: 'a', date: '2026-01-12' }, context())).page).toBe(
      'journals/2026_01_12.md',
    );
  });

  test.each([
    [{ content: ' ' }, 'content cannot be empty'],
    [{ content: 'x', date: 'tomorrow' }, "date must be YYYY-MM-DD or 'today'"],
  ])('refuses %j', async (input, message) => {
    const { graph: logseq } = await graph();
    await expect(new AddContent(logseq, today).execute(input, context())).rejects.toThrow(message);
  });
});

test('read-week collects the tasks of Monday to Sunday', async () => {
  const { graph: logseq } = await graph({
    'journals/2026_01_11.md': '- TODO before',
    'journals/2026_01_18.md': '- DONE [[Blog]] b',
    'journals/2026_01_12.md': '- TODO a\n- no task',
    'journals/2026_01_19.md': '- TODO after',
  });
  expect(await new ReadWeek(logseq, today).execute({})).toEqual({
    week: '2026-W03',
    journals: ['2026-01-12', '2026-01-18'],
    tasks: [
      { state: 'TODO', text: 'a', day: '2026-01-12' },
      { state: 'DONE', text: '[[Blog]] b', project: 'Blog', day: '2026-01-18' },
    ],
  });
  await expect(new ReadWeek(logseq, today).execute({ day: '2026-1-1' })).rejects.toThrow('YYYY-MM-DD');
});

test('create-page makes a page, and leaves one that is there', async () => {
  const { folder, graph: logseq } = await graph();
  const page = {
    name: 'Review/1',
    properties: { type: 'review', week: '1' },
    blocks: [{ text: 'a', children: ['b'] }],
  };
  const tool = new CreatePage(logseq);
  expect(await tool.execute(page, context())).toEqual({ name: 'Review/1', path: 'pages/Review___1.md' });
  expect(await readFile(join(folder, 'pages/Review___1.md'), 'utf8')).toBe(
    'type:: review\nweek:: 1\n\n- a\n\t- b\n',
  );
  await expect(tool.execute({ ...page, name: 'Homepage' }, context())).rejects.toThrow('exists already');
});
