import { defined } from '../../../graph/defined.js';
import { runLines } from '../../../print/runs.js';
import type { ListedRow, StoredState } from '../../../runtime/runs/store/sqlite/store-reader.js';
import { misused } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { numberIn, STORE_OPTIONS, storeCommand, withReader } from './store-command.js';

const OPTIONS = {
  ...STORE_OPTIONS,
  status: { type: 'string', oneOf: ['running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'] },
  workflow: { type: 'string' },
  limit: { type: 'string' },
  before: { type: 'string' },
} as const;

const NAME = 'stepwright runs list';

/** `stepwright runs list`: lists the runs of a store, the latest first. */
export const listRuns = storeCommand(
  NAME,
  runsTexts.listHelp,
  OPTIONS,
  0,
  async (path, { values }, output) => {
    const limit = numberIn('limit', values.limit, { least: 1, most: 1_000 }) ?? 50;
    if (typeof limit === 'object') return misused(limit.fault, output);
    const before = numberIn('before', values.before, { least: 1 });
    if (typeof before === 'object') return misused(before.fault, output);
    const { status, workflow } = values;
    const found = await withReader(path, (reader) =>
      reader.list({
        // One more says whether there are more.
        limit: limit + 1,
        ...(status === undefined ? {} : { state: status === 'completed' ? 'succeeded' : status }),
        ...defined({ workflow, before }),
      }),
    );
    const rows = found.slice(0, limit);
    const next = found.length > limit ? rows.at(-1)?.n : undefined;
    const runs = rows.map(listed);
    if (values.json) output.out(`${JSON.stringify({ runs, ...defined({ next }) })}\n`);
    else if (runs.length === 0) output.err(`${runsTexts.none}\n`);
    else output.out(runLines(runs));
    if (next !== undefined && !values.json) output.err(`${runsTexts.more(next)}\n`);
    return 0;
  },
);

function listed({ ref, workflow, state, startedAt, endedAt }: ListedRow) {
  return {
    run: ref,
    workflow,
    status: shownStatus(state),
    started_at: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() }),
  };
}

/** As callers see it. */
function shownStatus(state: StoredState): string {
  return state === 'succeeded' ? 'completed' : state;
}
