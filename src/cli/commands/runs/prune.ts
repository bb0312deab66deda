import { defined } from '../../../graph/defined.js';
import type { Retention } from '../../../runtime/runs/store/journal.js';
import { pruneStore } from '../../../runtime/runs/store/sqlite/retention.js';
import { misused } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { numberIn, STORE_OPTIONS, storeCommand, withReader } from './store-command.js';

const OPTIONS = {
  ...STORE_OPTIONS,
  'older-than': { type: 'string' },
  keep: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;

/** `stepwright runs prune`: removes runs that are over. */
export const prune = storeCommand(
  'stepwright runs prune',
  runsTexts.pruneHelp,
  OPTIONS,
  0,
  async (path, { values }, output) => {
    const { 'older-than': age, 'dry-run': isDry = false, json } = values;
    const keep = numberIn('keep', values.keep, { least: 0 });
    if (typeof keep === 'object') return misused(keep.fault, output);
    const ms = age === undefined ? undefined : msIn(age);
    if (age !== undefined && ms === undefined) return misused(runsTexts.badAge(age), output);
    if (keep === undefined && ms === undefined) return misused(runsTexts.missingRetention, output);
    const retention: Retention = {
      ...(ms === undefined ? {} : { endedBefore: Date.now() - ms }),
      ...defined({ keep }),
    };
    const runs = isDry
      ? await withReader(path, (reader) => reader.countExpired(retention))
      : await pruneStore(path, retention);
    const text = isDry ? runsTexts.wouldPrune(runs) : runsTexts.pruned(runs);
    output.out(json ? `${JSON.stringify({ [isDry ? 'would_remove' : 'removed']: runs })}\n` : `${text}\n`);
    return 0;
  },
);

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

function msIn(age: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([dhms])$/.exec(age) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0);
}
