import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../src/runtime/runs/store/journal.js';
import { SqliteReader } from '../../src/runtime/runs/store/sqlite/store-reader.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { smoke } from '../nightly.js';
import { programOf } from './child.js';
import { CALLS_AT_ONCE, CRASH_WORKFLOWS, ONCE } from './crash-workflows.js';

const start = programOf('crash-points');

/** Each so many points are tried. `npm run test:faults` tries all of them. */
const STRIDE = Number(process.env.CRASH_STRIDE ?? '16');

/** How often an effect took place, by its node, tool and key. */
type Effects = ReadonlyMap<string, number>;

/** What tools did, by the runs they did it for. */
function effectsIn(ledger: string): Map<string, Effects> {
  const runs = new Map<string, Map<string, number>>();
  for (const line of readFileSync(ledger, 'utf8').trim().split('\n')) {
    const [run = '', ...effect] = line.split(' ');
    const effects = runs.get(run) ?? new Map();
    const name = effect.join(' ');
    effects.set(name, (effects.get(name) ?? 0) + 1);
    runs.set(run, effects);
  }
  return runs;
}

/** The same without the keys, which are those of one run: counts of each key, the effects in the order of their names. */
const countsOf = (effects: Effects = new Map()): [effect: string, count: number][] =>
  [...effects]
    .map(([effect, count]): [string, number] => [effect.split(' ').slice(0, 2).join(' '), count])
    .sort(([one], [other]) => one.localeCompare(other));

describe.each(
  smoke(
    Object.keys(CRASH_WORKFLOWS).map((name, index) => [name, 1 + (index % 4)] as const),
    3,
  ),
)('a run with %s', (name, first) => {
  test('ends the same wherever its process is killed', { timeout: 300_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-crash-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [path, ledger] = [join(folder, 'runs.db'), join(folder, 'ledger.txt')];
    const acknowledged: string[] = [];
    let kills = 0;
    for (let point = first; ; point += STRIDE) {
      const child = start(path, ledger, name, String(point));
      await child.closed;
      expect(child.errors).toBe('');
      const [id, end] = child.lines;
      if (id !== undefined) acknowledged.push(id);
      if (end === 'whole') break;
      expect(child.process.signalCode).toBe('SIGKILL');
      kills += 1;
    }
    expect(kills).toBeGreaterThan(0);

    const reader = await SqliteReader.open(path);
    onTestFinished(() => reader.close());
    const ended = reader.list({ limit: 1_000 }).map(({ ref }) => ref);
    for (const id of acknowledged) expect(ended).toContain(runRef(id));
    const effects = effectsIn(ledger);
    const endOf = (ref: string) => {
      const [head] = reader.find(ref);
      const rows = head === undefined ? [] : (reader.read(head)?.loaded.rows ?? []);
      const run = rows.find(({ table }) => table === 'run')?.row;
      const { status, result } = run as Extract<Row, { table: 'run' }>['row'];
      return { status, result, counts: countsOf(effects.get(ref)) };
    };
    // The last one was not killed.
    const { counts, ...whole } = endOf(runRef(acknowledged.at(-1) ?? ''));
    for (const ref of ended) {
      const { counts: own, ...end } = endOf(ref);
      expect(end).toEqual(whole);
      expect(own.map(([effect]) => effect)).toEqual(counts.map(([effect]) => effect));
      // A call that was in flight is repeated with its key, unless it may not be.
      const repeated = own.filter(([, count], index) => count !== counts[index]?.[1]);
      expect(repeated.length).toBeLessThanOrEqual(CALLS_AT_ONCE.get(name) ?? 1);
      for (const [effect, count] of repeated) {
        expect(effect).not.toContain(ONCE);
        expect(count).toBe((counts.find(([name]) => name === effect)?.[1] ?? 0) + 1);
      }
      effects.delete(ref);
    }
    // A run that is not in the file has done nothing.
    expect([...effects.keys()]).toEqual([]);
  });
});
