import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';
import { type Child, programOf } from './child.js';

const start = programOf('append-entries');
let folder: string;
let path: string;
const children: Child[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-file-'));
  path = join(folder, 'runs.db');
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  rmSync(folder, { recursive: true });
});

function append(...args: readonly (string | number)[]): Child {
  const child = start(path, ...args.map(String));
  children.push(child);
  return child;
}

/** The last entry of each run that a process reported as safe. */
function acknowledged(children: readonly Child[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const line of children.flatMap(({ lines }) => lines)) {
    const [run = '', seq] = line.split(' ');
    last.set(run, Math.max(last.get(run) ?? 0, Number(seq)));
  }
  return last;
}

test('two processes append to one file at once', { timeout: 60_000 }, async () => {
  const both = [append(0, 4, 50), append(4, 4, 50)];
  await Promise.all(both.map(({ closed }) => closed));
  expect(both.map(({ errors }) => errors)).toEqual(['', '']);
  const journal = await SqliteJournal.open(path);
  const runs = await journal.openRuns();
  expect(runs.map(({ run }) => run).sort()).toEqual(Array.from({ length: 8 }, (_, index) => `r${index}`));
  for (const { run } of runs) expect((await journal.load(run))?.seq).toBe(50);
  await journal.close();
});

test('a process that is killed loses nothing it reported as safe', { timeout: 60_000 }, async () => {
  for (let round = 0; round < 4; round += 1) {
    const child = append(round * 10, 10, 100_000);
    await child.printed(25 + round * 40);
    await child.kill();
    const journal = await SqliteJournal.open(path);
    for (const [run, seq] of acknowledged([child])) {
      const loaded = await journal.load(run);
      expect(loaded?.seq).toBeGreaterThanOrEqual(seq);
      // Each entry is there as a whole.
      const rows = loaded?.hostRows.map(({ row }) => (row as { readonly seq: number }).seq);
      expect(rows).toEqual([loaded?.seq, loaded?.seq]);
    }
    await journal.close();
  }
});
