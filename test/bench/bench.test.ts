import { beforeAll, describe, expect, test } from 'vitest';
import { bench } from '../../scripts/bench/bench.js';
import { fan, line, lineBehindOutput, lineBesideField, loop, question } from '../../scripts/bench/graphs.js';
import { HostedRun } from '../../scripts/bench/host.js';
import * as functions from '../../scripts/bench/peers/functions.js';
import { lineMachine, loopMachine, runMachine } from '../../scripts/bench/peers/machines.js';
import { type Row, row, table } from '../../scripts/bench/row.js';
import { TINY } from '../../scripts/bench/sizes.js';

describe('what is measured', () => {
  const items = [5, 3, 9, 1];

  test('gives the same result everywhere: a line of calls', async () => {
    expect(new HostedRun(line(7)).answer().result).toBe(7);
    expect(await functions.line(7)).toBe(7);
    expect(await runMachine(lineMachine(7))).toBe(7);
  });

  test.each([1, 3, 10])('gives the same result everywhere: a fan-out, %i at once', async (concurrency) => {
    expect(new HostedRun(loop(concurrency), { items }).answer().result).toEqual([6, 4, 10, 2]);
    expect(await functions.loop(items, concurrency)).toEqual([6, 4, 10, 2]);
    expect(await runMachine(loopMachine(concurrency), items)).toEqual([6, 4, 10, 2]);
  });

  test('is whole runs', () => {
    expect(new HostedRun(fan(12)).answer().result).toBe(2);
    expect(new HostedRun(lineBesideField('x', 3)).answer().result).toBe(3);
    expect(new HostedRun(lineBehindOutput({ n: 1 }, 3)).answer().result).toBe(3);
    expect(new HostedRun(line(9)).answer(4).answer(5).result).toBe(9);
    expect(() => new HostedRun(line(9)).answer(4).result).toThrow('running');
    expect(new HostedRun(question()).answer().state.nodes.sure?.status).toBe('waiting');
  });
});

describe('the rows', () => {
  let rows: readonly Row[] = [];

  beforeAll(async () => {
    rows = await bench(TINY);
  });

  test('are all there', () => {
    expect(rows.map(({ name, peer }) => `${name} / ${peer.name}`)).toEqual([
      'step, in a line of 2 / async functions',
      'step, in a line of 2 / XState',
      'step, in a line of 3 / async functions',
      'step, in a line of 3 / XState',
      'item, 4 of them, 2 at once / async functions',
      'item, 4 of them, 2 at once / XState',
      'item, 4 of them, 3 at once / async functions',
      'item, 4 of them, 3 at once / XState',
      'node, planned and run, in a line of 8 / in one of 4',
      'node, planned and run, in a fan of 8 / in one of 4',
      'step 5 of a run / step 2',
      'step beside a field of 1 kB / of a few bytes',
      'step that reads a result of 1 kB / of a few bytes',
      'memory of a run that waits, 10 of them / XState',
      'plan, for each node / XState',
      'hash in it, for each node / the whole plan',
      'reference in an expression / JavaScript',
      'secret item, 4 of them / one of 2',
      'tools/call, in memory / the bare SDK',
    ]);
  });

  test('have figures', () => {
    for (const { name, ours, peer } of rows) {
      expect(ours, name).toSatisfy(Number.isFinite);
      expect(peer.value, `${name}, ${peer.name}`).toSatisfy(Number.isFinite);
    }
  });

  test('stand in one line each', () => {
    expect(table(rows).split('\n')).toHaveLength(rows.length + 1);
  });
});

describe('a target', () => {
  const figures = { name: 'step', unit: 'µs', ours: 12, peer: { name: 'XState', value: 48 } } as const;

  test('may be for the figure itself', () => {
    expect(row({ ...figures, target: { of: 'ours', atMost: 12 } })).toMatchObject({ ratio: 0.25, ok: true });
    expect(row({ ...figures, target: { of: 'ours', atMost: 10 } }).ok).toBe(false);
  });

  test('may be for the ratio', () => {
    expect(row({ ...figures, target: { of: 'ratio', atMost: 0.25 } }).ok).toBe(true);
    expect(row({ ...figures, target: { of: 'ratio', atMost: 0.2 } }).ok).toBe(false);
  });

  test('that is missed catches the eye', () => {
    const missed = row({ ...figures, target: { of: 'ours', atMost: 10 } });
    const [, first, second] = table([missed, row(figures)]).split('\n');
    expect(first).toBe('step  12.0 µs  48.0 µs  XState  0.250×  ≤ 10 µs  MISSED');
    expect(second).toBe('step  12.0 µs  48.0 µs  XState  0.250×');
  });
});
