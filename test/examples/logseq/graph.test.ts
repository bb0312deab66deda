import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotAPlainFile } from '../../../examples/logseq/atomic-append.js';
import type { Block } from '../../../examples/logseq/block.js';
import { GraphNotFound, LogseqGraph } from '../../../examples/logseq/graph.js';
import { temporaryGraph } from './temp-graph.js';

const PAGES = {
  'pages/Website.md': 'alias:: Site\n\n- a\n',
  'pages/Site.md': '- a page whose name is another one’s alias\n',
  'pages/Mobile.md': 'alias:: App\n',
  'pages/Website___Login.md': '',
};
const block = (n: number | string): Block => ({
  id: `00000000-0000-8000-8000-${String(n).padStart(12, '0')}`,
  text: `TODO ${n}`,
});

describe('pages', () => {
  test('lists Markdown files by name, and nothing else', async () => {
    const folder = await temporaryGraph({
      ...PAGES,
      'pages/.hidden.md': '',
      'pages/notes.txt': '',
      'secret.md': 'secret',
    });
    await mkdir(join(folder, 'pages/folder.md'));
    await symlink(join(folder, 'secret.md'), join(folder, 'pages/link.md'));
    const names = (await new LogseqGraph(folder).pages()).map((page) => page.name);
    expect(names).toEqual(['Mobile', 'Site', 'Website', 'Website/Login']);
  });

  test('finds by name before alias, without case', async () => {
    const graph = new LogseqGraph(await temporaryGraph(PAGES));
    expect((await graph.findPage('wEBSITE'))?.path).toBe('pages/Website.md');
    expect((await graph.findPage('app'))?.path).toBe('pages/Mobile.md');
    expect((await graph.findPage('site'))?.path).toBe('pages/Site.md');
    expect((await graph.findPage('website/login'))?.path).toBe('pages/Website___Login.md');
    expect(await graph.findPage('')).toBeUndefined();
  });

  test('no name or path leads to a file that is not a page', async () => {
    const folder = await temporaryGraph({ ...PAGES, 'secret.md': '', 'journals/2026_01_12.md': '' });
    const graph = new LogseqGraph(folder);
    const known = new Set((await graph.pages()).map((page) => page.path));
    const piece = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      'pages',
      'secret',
      'secret.md',
      '\0',
      '%2e%2e',
      'Website',
      folder,
      'journals',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((parts) => parts.join('')),
        ),
        async (name) => {
          for (const page of [await graph.findPage(name), await graph.pageAt(name)]) {
            expect(page === undefined || known.has(page.path)).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
    for (const name of [
      '../secret',
      '../secret.md',
      join(folder, 'secret.md'),
      'Website\0',
      'pages/../secret.md',
    ]) {
      expect(await graph.findPage(name)).toBeUndefined();
      expect(await graph.pageAt(name)).toBeUndefined();
    }
  });
});

describe('appendToJournal', () => {
  test('creates the journal, and its folder', async () => {
    const folder = await temporaryGraph(PAGES);
    const place = await new LogseqGraph(folder).appendToJournal('2026-01-12', block(1));
    expect(place).toEqual({ file: 'journals/2026_01_12.md', line: 1 });
    expect(await readFile(join(folder, place.file), 'utf8')).toBe(`- TODO 1\n  id:: ${block(1).id}\n`);
  });

  test.each([
    ['- a\n', '- a\n- TODO 1\n', 2],
    ['- a', '- a\n- TODO 1\n', 2],
    ['- a\r\n- b', '- a\r\n- b\r\n- TODO 1\r\n', 3],
  ])('after %j', async (before, after, line) => {
    const folder = await temporaryGraph({ ...PAGES, 'journals/2026_01_12.md': before });
    const place = await new LogseqGraph(folder).appendToJournal('2026-01-12', block(1));
    expect(place.line).toBe(line);
    expect(await readFile(join(folder, place.file), 'utf8')).toContain(after);
  });

  test('writes an id once, on whatever day it comes again', async () => {
    const folder = await temporaryGraph({ ...PAGES, 'journals/2026_01_12.md': '- a\n' });
    const graph = new LogseqGraph(folder);
    const first = await graph.appendToJournal('2026-01-12', block(1));
    expect(await graph.appendToJournal('2026-01-13', block(1))).toEqual(first);
    expect(await readdir(join(folder, 'journals'))).toEqual(['2026_01_12.md']);
  });

  test('calls at once lose nothing', async () => {
    const folder = await temporaryGraph(PAGES);
    const graph = new LogseqGraph(folder);
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const places = await Promise.all(numbers.map((n) => graph.appendToJournal('2026-01-12', block(n))));
    const lines = (await readFile(join(folder, 'journals/2026_01_12.md'), 'utf8')).split('\n');
    expect(places.map((place) => lines[place.line - 1])).toEqual(numbers.map((n) => `- TODO ${n}`));
    expect(lines).toHaveLength(41);
  });

  test('an aborted call writes nothing, and the next one still gets its turn', async () => {
    const folder = await temporaryGraph(PAGES);
    const graph = new LogseqGraph(folder);
    await expect(
      graph.appendToJournal('2026-01-12', block(1), AbortSignal.abort(new Error('gone'))),
    ).rejects.toThrow('gone');
    expect((await graph.appendToJournal('2026-01-12', block(2))).line).toBe(1);
  });

  test.each(['../../etc/x', '2026_01_12', '2026-01-12/../x', '2026-01-12\0', '', '2026-01-12\n'])(
    'refuses the day %j',
    async (day) => {
      const folder = await temporaryGraph(PAGES);
      await expect(new LogseqGraph(folder).appendToJournal(day, block(1))).rejects.toThrow(RangeError);
      expect(await readdir(folder)).not.toContain('x.md');
    },
  );

  test('follows no link out of the graph', async () => {
    const outside = await temporaryGraph({ 'target.md': 'outside\n' });
    const folder = await temporaryGraph({ ...PAGES, 'journals/2026_01_11.md': '' });
    const graph = new LogseqGraph(folder);
    await symlink(join(outside, 'target.md'), join(folder, 'journals/2026_01_12.md'));
    await expect(graph.appendToJournal('2026-01-12', block(1))).rejects.toThrow(NotAPlainFile);
    await rm(join(folder, 'journals'), { recursive: true });
    await symlink(outside, join(folder, 'journals'));
    await expect(graph.appendToJournal('2026-01-12', block(1))).rejects.toThrow(NotAPlainFile);
    expect(await readdir(outside)).toEqual(['target.md']);
    expect(await readFile(join(outside, 'target.md'), 'utf8')).toBe('outside\n');
  });
});

describe('a folder that is not a graph', () => {
  test('is named, with what to do', async () => {
    const folder = await temporaryGraph({ 'notes.md': '' });
    const missing = join(folder, 'missing');
    await expect(new LogseqGraph(missing).pages()).rejects.toThrow(
      `No Logseq graph at '${missing}': the folder does not exist. Start the server with the path of a graph folder as its argument, or set LOGSEQ_GRAPH.`,
    );
    await expect(new LogseqGraph(folder).pages()).rejects.toThrow('it has no folder `pages`');
    await expect(new LogseqGraph(folder).appendToJournal('2026-01-12', block(1))).rejects.toThrow(
      GraphNotFound,
    );
    expect(await readdir(folder)).toEqual(['notes.md']);
  });

  test('is found as soon as it is there', async () => {
    const folder = await temporaryGraph({ 'notes.md': '' });
    const graph = new LogseqGraph(join(folder, 'later'));
    await expect(graph.pages()).rejects.toThrow(GraphNotFound);
    await mkdir(join(folder, 'later/pages'), { recursive: true });
    await writeFile(join(folder, 'later/pages/Blog.md'), '');
    expect(await graph.pages()).toHaveLength(1);
  });
});
