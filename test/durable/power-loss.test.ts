import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';
import { Random } from '../simulation/random.js';
import { programOf } from './child.js';

const start = programOf('append-entries');

// `npm run test:faults` copies more often.
const { COPIES = '10', COPY_SEED = '1' } = process.env;

const RUNS = 10;

/** The headers of the write-ahead log and of each of its frames, in bytes. */
const [WAL_HEADER, FRAME_HEADER] = [32, 24];

/** Frames whose pages are in the database, and frames whose pages may be there: places in the index of the log, in bytes. */
const [BACKFILLED, ATTEMPTED] = [96, 128];

/** How much of a log has been synced because its pages are being written to the database, or were, in bytes. */
function checkpointed(path: string): { readonly end: number; readonly isWhole: boolean } {
  const pageSize = readFileSync(path).readUInt16BE(16);
  const index = readFileSync(`${path}-shm`);
  // In the byte order of the machine.
  const [done, begun] = [BACKFILLED, ATTEMPTED].map(
    (place) => new Uint32Array(index.buffer, index.byteOffset + place, 1)[0],
  );
  return { end: WAL_HEADER + (begun ?? 0) * (pageSize + FRAME_HEADER), isWhole: done === begun };
}

/** The last entry of each run in a store. Each entry must be there as a whole. */
async function entriesIn(path: string): Promise<ReadonlyMap<string, number>> {
  const journal = await SqliteJournal.open(path);
  try {
    const entries = new Map<string, number>();
    for (const { run } of await journal.openRuns()) {
      const { seq = 0, hostRows = [] } = (await journal.load(run)) ?? {};
      expect(hostRows.map(({ row }) => (row as { readonly seq: number }).seq)).toEqual([seq, seq]);
      entries.set(run, seq);
    }
    return entries;
  } finally {
    await journal.close();
  }
}

const sum = (entries: ReadonlyMap<string, number>): number =>
  [...entries.values()].reduce((total, seq) => total + seq, 0);

test(`after a loss of power at ${COPIES} moments a store has what was acknowledged (seed ${COPY_SEED})`, {
  timeout: 60_000 + Number(COPIES) * 5_000,
}, async () => {
  const random = new Random(Number(COPY_SEED));
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-power-'));
  const path = join(folder, 'runs.db');
  const child = start(path, '0', String(RUNS), '1000000');
  onTestFinished(async () => {
    await child.kill();
    rmSync(folder, { recursive: true });
  });
  await child.printed(RUNS);
  let copies = 0;
  let lost = 0;

  /** The store as it was with this write-ahead log, or without one. */
  const withLog = async (database: string, log: Uint8Array | undefined) => {
    copies += 1;
    const copy = join(folder, `copy-${copies}.db`);
    copyFileSync(database, copy);
    if (log !== undefined) writeFileSync(`${copy}-wal`, log);
    const entries = await entriesIn(copy);
    rmSync(copy);
    return entries;
  };

  for (let moment = 0; moment < Number(COPIES); moment += 1) {
    await delay(random.below(60));
    child.process.kill('SIGSTOP');
    await delay(5);
    const acknowledged = new Map<string, number>();
    for (const line of child.lines) {
      const [run = '', seq] = line.split(' ');
      acknowledged.set(run, Math.max(acknowledged.get(run) ?? 0, Number(seq)));
    }
    const database = join(folder, 'moment.db');
    copyFileSync(path, database);
    const log = readFileSync(`${path}-wal`);
    const { end: synced, isWhole } = checkpointed(path);
    child.process.kill('SIGCONT');

    const whole = await withLog(database, log);
    for (const [run, seq] of acknowledged) expect(whole.get(run)).toBeGreaterThanOrEqual(seq);
    // What was not on disk yet is lost from some place on, or is there in part.
    for (let cut = 0; cut < 4; cut += 1) {
      const end = synced + random.below(Math.max(1, log.length - synced));
      const torn = Buffer.from(log);
      torn.fill(random.below(256), end, Math.min(end + 512, torn.length));
      for (const rest of [log.subarray(0, end), torn]) {
        const entries = await withLog(database, rest);
        for (const [run, seq] of entries) expect(seq).toBeLessThanOrEqual(whole.get(run) ?? 0);
        if (sum(entries) < sum(whole)) lost += 1;
      }
    }
    // Somebody deleted the log: what is in the database itself is a state that was there once, unless pages of the log
    // were just being written to it.
    if (!isWhole) continue;
    const without = await withLog(database, undefined);
    for (const [run, seq] of without) expect(seq).toBeLessThanOrEqual(whole.get(run) ?? 0);
  }
  expect(lost).toBeGreaterThan(0);
  process.stdout.write(`${COPIES} losses of power, ${copies} files, ${child.lines.length} entries\n`);
});
