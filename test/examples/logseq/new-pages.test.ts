import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotAPlainFile } from '../../../examples/logseq/atomic-append.js';
import { printPage } from '../../../examples/logseq/block.js';
import { LogseqGraph } from '../../../examples/logseq/graph.js';
import { fileOfPage, pageOf } from '../../../examples/logseq/page.js';
import { temporaryGraph } from './temp-graph.js';

describe('fileOfPage', () => {
  test.each([
    ['Website/Login', 'Website___Login.md'],
    ['Review/2026-W03', 'Review___2026-W03.md'],
    ['Café 2', 'Café 2.md'],
    ['v1.0: a?', 'v1%2E0%3A a%3F.md'],
    ['..', '%2E%2E.md'],
    ['../x', '%2E%2E___x.md'],
    ['C:\\x', 'C%3A%5Cx.md'],
  ])('%j is kept in %s', (name, file) => {
    expect(fileOfPage(name)).toBe(file);
  });

  test.each(['', 'a___b', 'a\nb', 'a[[b', 'a\0b', '\ud800'])('%j has no file', (name) => {
    expect(fileOfPage(name)).toBeUndefined();
  });

  test('any name it takes is one plain file name, and comes back from it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const file = fileOfPage(name);
        fc.pre(file !== undefined);
        expect(file).toMatch(/^[^/\\.\0]+\.md$/u);
        expect(pageOf(file ?? '', '')?.name).toBe(name);
      }),
    );
  });
});

test('a page is its properties, then its bullets, each on one line', () => {
  const blocks = [
    { text: '## Done\n- forged', children: ['a\n\tb', 'c'] },
    { text: 'last', children: [] },
  ];
  expect(printPage({ type: 'review\nalias:: x', week: '1' }, blocks)).toBe(
    'type:: review alias:: x\nweek:: 1\n\n- ## Done - forged\n\t- a b\n\t- c\n- last\n',
  );
  expect(printPage({}, [{ text: 'a', children: [] }])).toBe('- a\n');
  expect(printPage({}, [])).toBe('');
});

describe('createPage', () => {
  test('writes the page once, however often it is asked to', async () => {
    const folder = await temporaryGraph({ 'pages/Blog.md': '' });
    const graph = new LogseqGraph(folder);
    const made = { name: 'Review/1', path: 'pages/Review___1.md', aliases: [] };
    expect(await Promise.all([1, 2, 3].map(() => graph.createPage('Review/1', '- x\n')))).toEqual([
      made,
      made,
      made,
    ]);
    expect(await readFile(join(folder, made.path), 'utf8')).toBe('- x\n');
    expect(await graph.findPage('review/1')).toEqual(made);
  });

  test('leaves a page of that name, or with it as an alias, as it is', async () => {
    const pages = {
      'pages/Blog.md': 'alias:: Posts\n',
      'pages/x.md': 'title:: Other\n',
      'pages/CAFÉ.md': '- y\n',
    };
    const folder = await temporaryGraph(pages);
    for (const name of ['Blog', 'blog', 'Posts', 'Other', 'x', 'Café']) {
      await expect(new LogseqGraph(folder).createPage(name, '- x\n'), name).rejects.toThrow(
        `Page '${name}' exists already, and is left as it is`,
      );
    }
    for (const [file, text] of Object.entries(pages))
      expect(await readFile(join(folder, file), 'utf8')).toBe(text);
    expect(await readdir(join(folder, 'pages'))).toHaveLength(3);
  });

  test('refuses names that no page can have, follows no link, and writes nothing once it is aborted', async () => {
    const folder = await temporaryGraph({ 'pages/Blog.md': '', 'outside.md': '' });
    const graph = new LogseqGraph(folder);
    await expect(graph.createPage('a]]b', '- x\n')).rejects.toThrow("'a]]b' cannot be the name of a page");
    await symlink(join(folder, 'outside.md'), join(folder, 'pages/Link.md'));
    await expect(graph.createPage('Link', '- x\n')).rejects.toThrow(NotAPlainFile);
    const aborted = AbortSignal.abort(new Error('gone'));
    await expect(graph.createPage('Late', '- x\n', aborted)).rejects.toThrow('gone');
    expect(await readdir(join(folder, 'pages'))).toEqual(['Blog.md', 'Link.md']);
    expect(await readFile(join(folder, 'outside.md'), 'utf8')).toBe('');
  });
});

test('journal reads the day it is asked for, and no link', async () => {
  const folder = await temporaryGraph({
    'pages/Blog.md': '',
    'journals/2026_01_12.md': '- a\n',
    'x.md': 'secret',
  });
  const graph = new LogseqGraph(folder);
  await symlink(join(folder, 'x.md'), join(folder, 'journals/2026_01_13.md'));
  await writeFile(join(folder, 'journals/notes.md'), '- b\n');
  expect(await graph.journal('2026-01-12')).toBe('- a\n');
  expect(await graph.journal('2026-01-13')).toBeUndefined();
  expect(await graph.journal('2026-01-14')).toBeUndefined();
  await expect(graph.journal('../x')).rejects.toThrow(RangeError);
});
