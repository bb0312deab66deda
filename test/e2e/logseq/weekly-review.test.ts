import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printTrace, startExample, texts } from './example-server.js';

const review = (args: Record<string, string> = {}) => ({
  name: 'weekly-review',
  arguments: { day: '2026-01-14', ...args },
});
const PAGE = 'pages/Review___2026-W03.md';

describe('weekly-review, over stdio', () => {
  test('collects the week, writes a page, and tells the journal', async () => {
    const { client, folder } = await startExample();
    const trace = await client.getPrompt(review());
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/weekly-review.txt');
    await expect(await readFile(join(folder, PAGE), 'utf8')).toMatchFileSnapshot(
      './golden/weekly-review.page.txt',
    );
    expect(trace._meta).toMatchObject({
      status: 'succeeded',
      result: {
        page: PAGE,
        done: 1,
        open: 2,
        unknown_projects: '',
        noted: 'journals/2026_01_14.md',
        tags: { type: 'resource_link', uri: 'resource://logseq/project-tags' },
      },
    });
    expect(await readFile(join(folder, 'journals/2026_01_14.md'), 'utf8')).toContain(
      '- Wrote [[Review/2026-W03]]\n',
    );
  });

  test('lists as many open tasks as asked for, and the projects without a page', async () => {
    const { client, folder } = await startExample();
    await writeFile(join(folder, 'journals/2026_01_18.md'), '- TODO [[Garden]] Dig\n- CANCELED [[Blog]] x\n');
    const trace = await client.getPrompt(review({ limit: '1' }));
    expect(trace._meta).toMatchObject({ result: { open: 3, unknown_projects: 'Garden' } });
    expect(await readFile(join(folder, PAGE), 'utf8')).toContain(
      '- ## Open (3)\n\t- [[Website]] Tell support about the new form (todo, 2026-01-12)\n\t- and 2 more\n',
    );
  });

  test('leaves a review that exists as it is', async () => {
    const { client, folder } = await startExample();
    await writeFile(join(folder, PAGE), '- mine\n');
    const trace = await client.getPrompt(review());
    expect(trace._meta).toMatchObject({
      status: 'failed',
      errors: [{ step: 'review', code: 'E_PAGE_EXISTS' }],
    });
    expect(await readFile(join(folder, PAGE), 'utf8')).toBe('- mine\n');
    expect(await readdir(join(folder, 'journals'))).not.toContain('2026_01_14.md');
  });

  test('is kept if the journal cannot be written', async () => {
    const { client, folder } = await startExample();
    // The journal of the day is not a file.
    await mkdir(join(folder, 'journals/2026_01_14.md'));
    const trace = await client.getPrompt(review());
    expect(texts(trace).join('\n')).toContain("Step 'note' continues with its fallback value");
    expect(trace._meta).toMatchObject({
      status: 'succeeded',
      result: { page: PAGE, noted: expect.stringContaining('not noted in the journal: ') },
    });
  });

  test('ends on purpose where the week has no tasks', async () => {
    const { client, folder } = await startExample();
    const trace = await client.getPrompt(review({ day: '2025-12-31' }));
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/weekly-review-empty.txt');
    expect(trace._meta).toMatchObject({ status: 'failed', errors: [{ step: 'empty' }] });
    expect(await readdir(join(folder, 'pages'))).not.toContain('Review___2026-W01.md');
  });
});
