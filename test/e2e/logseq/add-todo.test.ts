import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printTrace, startExample, texts } from './example-server.js';

const addTodo = (args: Record<string, string>) => ({ name: 'add-todo-to-project', arguments: args });
const JOURNALS = ['2026_01_12.md', '2026_01_13.md'];

describe('add-todo-to-project, over stdio', () => {
  test('normalizes the project, builds the line, and adds it to the journal of the day', async () => {
    const { client, folder } = await startExample();
    const trace = await client.getPrompt(
      addTodo({ task_description: 'Fix login bug', project_name: ' [[homepage]] ', date: '2026-01-12' }),
    );
    await expect(printTrace(trace)).toMatchFileSnapshot('./golden/add-todo.txt');
    expect(trace._meta).toMatchObject({
      status: 'succeeded',
      result: {
        status: 'success',
        message: 'Added to Website',
        entry_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        page: 'journals/2026_01_12.md',
        block_ref: expect.stringMatching(/^\(\([0-9a-f-]{36}\)\)$/),
      },
    });
    const journal = await readFile(join(folder, 'journals/2026_01_12.md'), 'utf8');
    expect(journal).toMatch(/\n- TODO \[\[Website\]\] Fix login bug\n {2}id:: [0-9a-f-]{36}\n$/);
  });

  test('reports a project without a page', async () => {
    const { client } = await startExample();
    const trace = await client.getPrompt(
      addTodo({ task_description: 'Begin', project_name: '#Garden', date: '2026-01-14' }),
    );
    expect(trace._meta).toMatchObject({ result: { message: 'Added to Garden, which has no page yet' } });
  });

  test('stops at what the tools refuse, and writes nothing', async () => {
    const { client, folder } = await startExample();
    const todo = { task_description: 'x', project_name: 'Website' };
    const refused = [
      [{ ...todo, task_description: ' \n' }, 'content', 'task_description cannot be empty'],
      [{ ...todo, project_name: '[[ ]]' }, 'normalized', 'project_name cannot be empty'],
      [{ ...todo, date: '2026-02-30' }, 'result', "date must be YYYY-MM-DD or 'today'"],
    ] as const;
    for (const [args, step, message] of refused) {
      const trace = await client.getPrompt(addTodo(args));
      expect(texts(trace)).toContain(`Error executing tool: ${message}`);
      expect(trace._meta).toMatchObject({ status: 'failed', errors: [{ step, message }] });
    }
    // A date of another form does not reach a tool either.
    await expect(client.getPrompt(addTodo({ ...todo, date: 'tomorrow' }))).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("'date'"),
    });
    expect(await readdir(join(folder, 'journals'))).toEqual(JOURNALS);
    expect(await readFile(join(folder, 'journals/2026_01_13.md'), 'utf8')).not.toContain('Website');
  });
});
