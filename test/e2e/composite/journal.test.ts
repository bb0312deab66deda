import { MemoryJournal } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { commandsOf } from '../../../src/runtime/engine/read.js';
import { atDesk, callOf, clientOf, failureIn, runIn, textIn } from './client.js';
import { desk } from './fixture/registry.js';
import { built, lit, returns, workflow } from './fixture/workflows.js';

describe('a server with a journal', () => {
  test('writes down what a run waits for, and how it ends', async () => {
    const journal = new MemoryJournal();
    const { client } = await atDesk({ journal });
    const workflow_id = runIn(await callOf(client, 'w_careful', { city: 'Rome' }));
    expect(journal.runs).toEqual([workflow_id]);
    const { state } = journal.read(workflow_id) ?? {};
    expect(state && commandsOf(state)).toMatchObject([{ id: 'sure#1', kind: 'requestAction' }]);
    await callOf(client, 'cancel_workflow', { workflow_id });
    const run = journal.read(workflow_id);
    expect(run?.state.run.status).toBe('cancelled');
    expect(run?.entries.map(({ events }) => events.map(({ kind }) => kind))).toEqual([
      ...[[], ['toolReturned'], ['cancelled']],
    ]);
  });

  test('keeps nothing of a prompt that is over', async () => {
    const journal = new MemoryJournal();
    // It asks for nothing, and so its run ends with the request.
    const plain = workflow('plain', [returns(lit(1))]);
    const { client } = await atDesk({ journal, workflows: built([plain]) });
    const begun = new Set<string>();
    const append = journal.append.bind(journal);
    journal.append = (entry) => {
      begun.add(entry.run);
      return append(entry);
    };
    await client.getPrompt({ name: 'plain' });
    expect(begun.size).toBe(1);
    expect(journal.runs).toEqual([]);
  });

  test.each([undefined, null, {}, { local: true }, 5])(
    'names a call without a caller: %j',
    async (request) => {
      const { server } = desk({});
      for (const tool of ['search', 'w_careful'])
        await expect(server.callTool(tool, { city: 'Rome' }, request as never)).rejects.toMatchObject({
          name: 'UnidentifiedCallerError',
          message: expect.stringContaining('local: true'),
        });
    },
  );

  test('refuses a run that cannot be journaled, and logs why', async () => {
    const full = new MemoryJournal();
    full.append = async () => {
      throw new Error('the disk is full');
    };
    const log: string[] = [];
    const { server } = desk({ journal: full, log: (text) => void log.push(text) });
    const client = await clientOf(server);
    const refused = await callOf(client, 'w_careful', { city: 'Rome' });
    expect(failureIn(refused)?.code).toBe('E_STORE');
    expect(textIn(refused)).not.toContain('the disk is full');
    expect(log.join('\n')).toContain('the disk is full');
  });
});
