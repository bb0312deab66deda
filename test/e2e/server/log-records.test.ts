import type { LogRecord } from 'stepwright/runtime';
import { runRef } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { atDesk, callOf, runIn } from '../composite/client.js';

const shown = ({ message: _, durationMs, ...record }: LogRecord) => ({
  ...record,
  ...(durationMs === undefined ? {} : { isTimed: durationMs >= 0 }),
});

test('the start and the end of a run are records without its id', async () => {
  const records: LogRecord[] = [];
  const texts: string[] = [];
  const { client } = await atDesk({
    logLevel: 'debug',
    log: (text, record) => {
      if (!record.event.startsWith('run.')) return;
      texts.push(text);
      records.push(record);
    },
  });
  const begun = await callOf(client, 'w_careful', { city: 'Rome' });
  const id = runIn(begun);
  const run = { run: runRef(id), workflow: 'careful' };
  expect(records.map(shown)).toEqual([{ level: 'debug', event: 'run.started', ...run }]);
  await callOf(client, 'cancel_workflow', { workflow_id: id });
  expect(records.map(shown).slice(1)).toEqual([
    { level: 'debug', event: 'run.ended', status: 'cancelled', code: 'E_CANCELLED', isTimed: true, ...run },
  ]);
  expect(texts.join('\n')).toMatch(
    new RegExp(
      `^run ${run.run} of workflow \`careful\` started\nrun ${run.run} of workflow \`careful\` cancelled with E_CANCELLED after \\d+ ms$`,
    ),
  );
  expect(JSON.stringify(records)).not.toContain(id);
});
