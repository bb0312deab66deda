import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nightlyTest } from '../../nightly.js';
import { printTrace, startExample, texts } from './example-server.js';

const JANUARY_12 = 'journals/2026_01_12.md';
const addTask = (args: Record<string, string>) => ({ name: 'add-task', arguments: args });

describe('the Logseq example, over stdio', () => {
  test('lists what it offers', async () => {
    const { client } = await startExample();
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'add-task',
      'add-todo-to-project',
      'note-task',
      'weekly-review',
    ]);
    expect(prompts.slice(0, 1)).toEqual([
      {
        name: 'add-task',
        description: 'add a task to a project',
        arguments: [
          { name: 'project', description: 'Project page, by name or alias', required: true },
          { name: 'task', description: 'What needs doing', required: true },
          {
            name: 'date',
            description: 'Day of the journal, yyyy-mm-dd; today when left out',
            required: false,
          },
        ],
      },
    ]);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      'add-content',
      'add-journal-task',
      'build-todo-content',
      'create-page',
      'list-pages',
      'normalize-project',
      'read-week',
      'verify-project',
      ...['w_add-task', 'w_add-todo-to-project', 'w_note-task', 'w_weekly-review'],
      ...['submit_result', 'get_workflow_status', 'cancel_workflow', 'list_workflows'],
    ]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'resource://logseq/error-handling',
      'resource://logseq/intro',
      'resource://logseq/project-tags',
      'resource://logseq/todo-format',
      'resource://logseq/workflow-intro',
    ]);
    expect(new Set(resources.map(({ mimeType }) => mimeType))).toEqual(new Set(['text/markdown']));
  });

  test('runs add-task in prompts/get: the trace, and the line in the journal', async () => {
    const { client, folder } = await startExample();
    const before = await readFile(join(folder, JANUARY_12), 'utf8');
    const trace = await client.getPrompt(
      addTask({ project: 'Website', task: 'Fix login bug', date: '2026-01-12' }),
    );
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/success.txt');
    const after = await readFile(join(folder, JANUARY_12), 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(after.slice(before.length)).toMatch(
      /^- TODO \[\[Website\]\] Fix login bug\n {2}id:: [0-9a-f-]{36}\n$/,
    );
    expect(trace._meta).toMatchObject({
      status: 'succeeded',
      result: { journal: JANUARY_12, line: before.split('\n').length },
    });
  });

  nightlyTest('shows how far it came with an unknown project, and writes nothing', async () => {
    const { client, folder } = await startExample();
    const trace = await client.getPrompt(
      addTask({ project: 'Nonexistent', task: 'Fix bug', date: '2026-01-12' }),
    );
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/unknown-project.txt');
    expect(trace._meta).toMatchObject({ status: 'failed' });
    expect(await readFile(join(folder, JANUARY_12), 'utf8')).not.toContain('Fix bug');
  });

  nightlyTest('takes a project as a name, never as a path', async () => {
    const { client, folder } = await startExample();
    for (const project of ['../journals/2026_01_12', '/etc/passwd', 'pages/Website.md', 'Website\0']) {
      const trace = await client.getPrompt(addTask({ project, task: 'x', date: '2026-01-14' }));
      expect(texts(trace).join('\n'), project).toContain('not found in available pages');
    }
    expect(await readdir(join(folder, 'journals'))).toEqual(['2026_01_12.md', '2026_01_13.md']);
  });

  nightlyTest('keeps a task on one line, whatever is in it', async () => {
    const { client, folder } = await startExample();
    const task = 'x\n- DONE forged\n  id:: forged {project} "__proto__"';
    const trace = await client.getPrompt(addTask({ project: 'site', task, date: '2026-01-14' }));
    expect(trace._meta).toMatchObject({ status: 'succeeded' });
    const [bullet, id, ...rest] = (await readFile(join(folder, 'journals/2026_01_14.md'), 'utf8')).split(
      '\n',
    );
    expect(bullet).toBe('- TODO [[Website]] x - DONE forged id:: forged {project} "__proto__"');
    expect(id).toMatch(/^ {2}id:: [0-9a-f-]{36}$/);
    expect(rest).toEqual(['']);
  });

  nightlyTest('refuses a day that is none before it writes', async () => {
    const { client, folder } = await startExample();
    const trace = await client.getPrompt(addTask({ project: 'Website', task: 'x', date: '2026-02-30' }));
    expect(trace._meta).toMatchObject({ status: 'failed' });
    expect(await readdir(join(folder, 'journals'))).toEqual(['2026_01_12.md', '2026_01_13.md']);
  });

  nightlyTest('answers -32602 for arguments that are missing or unknown', async () => {
    const { client } = await startExample();
    await expect(client.getPrompt(addTask({ project: 'Website' }))).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("'task'"),
    });
    await expect(client.getPrompt(addTask({ project: 'a', task: 'b', dat: 'c' }))).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("'dat'"),
    });
  });

  nightlyTest('lives on without its graph, and says what is missing', async () => {
    const { client, folder } = await startExample({ graph: false });
    const trace = await client.getPrompt(addTask({ project: 'Website', task: 'x' }));
    expect(texts(trace).join('\n')).toContain(`No Logseq graph at '${folder}': the folder does not exist.`);
    expect(trace._meta).toMatchObject({
      status: 'failed',
      errors: [{ step: 'list', code: 'E_GRAPH_NOT_FOUND' }],
    });
    const direct = await client.callTool({ name: 'list-pages', arguments: {} });
    expect(direct.isError).toBe(true);
    expect((await client.listTools()).tools).toHaveLength(16);
  });
});
