import { parseDuration } from '../../../formats/dialects/fields.js';
import { defined } from '../../../graph/defined.js';
import { singleLine } from '../../../graph/printable-text.js';
import { metricsText } from '../../../print/runs.js';
import type { Retention } from '../../../runtime/runs/store/journal.js';
import type { StoreCheck } from '../../../runtime/runs/store/reader.js';
import { StoreError } from '../../../runtime/runs/store/store-error.js';
import { type Command, Misuse } from '../../command-line.js';
import { COMMON, numberIn, operatorOf, STORE_OPTIONS, storeCommand } from './store-command.js';

/** `stepwright runs backup FILE`: copies a store while a server uses it. */
export const backUp = copyCommand(
  'backup',
  `Usage: stepwright runs backup FILE --store sqlite:PATH [options]

Copies the store to a file that does not exist, while a server uses it, and checks the copy.

Options:
${COMMON}`,
);

/** `stepwright runs restore FILE`: makes a store of a backup. */
export const restore = copyCommand(
  'restore',
  `Usage: stepwright runs restore FILE --store sqlite:PATH [options]

Makes a store of a backup, and checks it. The store must not exist: no file is overwritten.

Options:
${COMMON}`,
);

function copyCommand(kind: 'backup' | 'restore', help: string) {
  const name = `stepwright runs ${kind}`;
  return storeCommand(name, help, STORE_OPTIONS, 1, async (store, { values, args: [file] }, output) => {
    if (file === undefined) throw new Misuse(`stepwright: \`${name}\` needs a file`);
    const isBackup = kind === 'backup';
    const from = isBackup ? store : await operatorOf(`sqlite:${file}`);
    const to = isBackup ? file : store.path;
    const { runs, bytes } = await from.copyTo(to);
    const text = `${isBackup ? 'backup' : 'store'} '${to}' has ${runs} ${runs === 1 ? 'run' : 'runs'}, and is intact`;
    output.out(values.json ? `${JSON.stringify({ file: to, runs, bytes })}\n` : `${text}\n`);
    return 0;
  });
}

const checkRuns = storeCommand(
  'stepwright runs check',
  `Usage: stepwright runs check FILE [options]

Reads all of a store or of a backup, while servers use it, and lists what is damaged: runs by their names, and parts of
the file. The exit code is 1 if there is damage. Restore the file from a backup then.

Options:
${COMMON}`,
  STORE_OPTIONS,
  0,
  async (store, { values: { json } }, output) => {
    const { runs, damages } = await store
      .read((reader) => reader.check())
      .catch((error: unknown): StoreCheck => {
        if (!(error instanceof StoreError) || error.problem !== 'damaged') throw error;
        return { runs: 0, damages: [{ why: error.detail }] };
      });
    if (json) output.out(`${JSON.stringify({ runs, damaged: damages.map(shown) })}\n`);
    else {
      for (const damage of damages) {
        const { run, reason } = shown(damage);
        output.out(`${run === undefined ? 'the file' : `run ${run}`} is damaged: ${reason}\n`);
      }
      const count = `${runs} ${runs === 1 ? 'run' : 'runs'}`;
      const named = new Set(damages.flatMap(({ run }) => run ?? [])).size;
      output.out(damages.length === 0 ? `${count}, intact\n` : `${count}, ${named} damaged\n`);
    }
    return damages.length === 0 ? 0 : 1;
  },
);

function shown({ run, why }: StoreCheck['damages'][number]) {
  return { ...(run === undefined ? {} : { run: singleLine(run) }), reason: singleLine(why) };
}

/** `stepwright runs check FILE`: reads all of a store, and lists damaged runs. The file is a store, or a backup. */
export const check: Command = ([file, ...args], output) =>
  file === undefined || file.startsWith('-')
    ? checkRuns(file === undefined ? [] : [file, ...args], output)
    : checkRuns(['--store', `sqlite:${file}`, ...args], output);

/** `stepwright runs metrics`: prints how a store does. */
export const metrics = storeCommand(
  'stepwright runs metrics',
  `Usage: stepwright runs metrics --store sqlite:PATH [options]

Prints how the store does: its runs, what was sent and not taken, times that came and were not taken, the servers that
have runs, and its size.

Options:
${COMMON}`,
  STORE_OPTIONS,
  0,
  async (store, { values }, output) => {
    const { nextDueAt, holders, open, waiting, paused, missing, ...counts } = await store.read((reader) =>
      reader.metrics(Date.now()),
    );
    const shown = {
      ...{ open, waiting, paused, missing, ...counts },
      ...(nextDueAt === undefined ? {} : { next_due_at: new Date(nextDueAt).toISOString() }),
      servers: holders.map(({ id, runs, beat, leaseMs }) => ({ id, runs, beat, lease_ms: leaseMs })),
    };
    output.out(values.json ? `${JSON.stringify(shown)}\n` : metricsText(shown));
    return 0;
  },
);

const PRUNE_OPTIONS = {
  ...STORE_OPTIONS,
  'older-than': { type: 'string' },
  keep: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;

/** `stepwright runs prune`: removes runs that are over. */
export const prune = storeCommand(
  'stepwright runs prune',
  `Usage: stepwright runs prune --store sqlite:PATH [options]

Removes runs that are over, with their logs, while a server uses the store. Open runs stay.

Options:
  --older-than AGE runs that ended so long ago, such as 30d, 12h, 90m or 45s
  --keep N         runs beyond the N that ended last
  --dry-run        remove nothing, and say how many would be removed
${COMMON}`,
  PRUNE_OPTIONS,
  0,
  async (store, { values }, output) => {
    const { 'older-than': age, 'dry-run': isDry = false, json } = values;
    const keep = numberIn('keep', values.keep, { least: 0 });
    const ms = age !== undefined && /^\d{1,9}[dhms]$/.test(age) ? parseDuration(age) : undefined;
    if (age !== undefined && ms === undefined)
      throw new Misuse(
        `stepwright: \`--older-than\` takes a whole number and a unit (d, h, m or s), such as \`30d\`, not \`${singleLine(age)}\``,
      );
    if (keep === undefined && ms === undefined)
      throw new Misuse('stepwright: `stepwright runs prune` needs `--older-than AGE` or `--keep N`');
    const retention: Retention = {
      ...(ms === undefined ? {} : { endedBefore: Date.now() - ms }),
      ...defined({ keep }),
    };
    const runs = isDry
      ? await store.read((reader) => reader.countExpired(retention))
      : await store.prune(retention);
    const text = `${isDry ? 'would remove' : 'removed'} ${runs} ${runs === 1 ? 'run' : 'runs'}`;
    output.out(json ? `${JSON.stringify({ [isDry ? 'would_remove' : 'removed']: runs })}\n` : `${text}\n`);
    return 0;
  },
);
