import { expect, test } from 'vitest';
import { IdleRuns } from './idle-runs.js';
import { FakeClock } from './run/fake-clock.fixture.js';

test('runs expire in the order in which they became idle, each at its time, with one timer', () => {
  const clock = new FakeClock();
  const expired: [string, number][] = [];
  const idle = new IdleRuns<string>(clock, 100, (run) => expired.push([run, clock.now()]));
  for (const run of ['a', 'b', 'c', 'd']) {
    idle.add(run);
    clock.pass(10);
  }
  expect(clock.pending).toBe(1);
  idle.add('a');
  idle.delete('c');
  clock.pass(1_000);
  expect(expired).toEqual([
    ['b', 1_110],
    ['d', 1_130],
    ['a', 1_140],
  ]);
  expect(clock.pending).toBe(0);
});

test('no timer is left when no run is idle', () => {
  const clock = new FakeClock();
  const idle = new IdleRuns<string>(clock, 100, () => expect.unreachable());
  for (const run of ['a', 'b']) idle.add(run);
  for (const run of ['a', 'a', 'b']) idle.delete(run);
  expect(clock.pending).toBe(0);
});

test('a time that is too long for one timer of the process is waited for as well', () => {
  const clock = new FakeClock();
  const short = {
    now: () => clock.now(),
    setTimer: (callback: () => void, delayMs: number) => clock.setTimer(callback, Math.min(delayMs, 50)),
  };
  const expired: number[] = [];
  const idle = new IdleRuns<string>(short, 1_000, () => expired.push(clock.now()));
  idle.add('a');
  clock.pass(5_000);
  expect(expired).toEqual([2_000]);
});
