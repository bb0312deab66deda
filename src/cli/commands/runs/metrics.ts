import { metricsText } from '../../../print/runs.js';
import { runsTexts } from '../../runs-texts.js';
import { STORE_OPTIONS, storeCommand, withReader } from './store-command.js';

/** `stepwright runs metrics`: prints how a store does. */
export const metrics = storeCommand(
  'stepwright runs metrics',
  runsTexts.metricsHelp,
  STORE_OPTIONS,
  0,
  async (path, { values }, output) => {
    const { nextDueAt, holders, open, waiting, paused, ...counts } = await withReader(path, (reader) =>
      reader.metrics(Date.now()),
    );
    const shown = {
      ...{ open, waiting, paused, ...counts },
      ...(nextDueAt === undefined ? {} : { next_due_at: new Date(nextDueAt).toISOString() }),
      servers: holders.map(({ id, runs, beat, leaseMs }) => ({ id, runs, beat, lease_ms: leaseMs })),
    };
    output.out(values.json ? `${JSON.stringify(shown)}\n` : metricsText(shown));
    return 0;
  },
);
