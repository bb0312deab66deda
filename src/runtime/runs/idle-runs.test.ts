import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdleRuns } from './idle-runs.js';
import { FakeClock } from './run/fake-clock.fixture.js';

interface Run {
  readonly name: string;
}

const runOf = (name: string): Run => ({ name });

test('runs expire in the order in which they became idle, each at its time, with one timer', () => {
  const clock = new FakeClock();
  const expired: [string, number][] = [];
  const idle = new IdleRuns<Run>(clock, 100, ({ name }) => expired.push([name, clock.now()]));
  const [a, b, c, d] = [runOf('a'), runOf('b'), runOf('c'), runOf('d')];
  for (const run of [a, b, c, d]) {
    idle.add(run);
    clock.pass(10);
  }
  expect(clock.pending).toBe(1);
  idle.add(a);
  idle.delete(c);
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
  const idle = new IdleRuns<Run>(clock, 100, () => expect.unreachable());
  const [a, b] = [runOf('a'), runOf('b')];
  for (const run of [a, b, a, a]) idle.add(run);
  for (const run of [a, a, b]) idle.delete(run);
  expect(clock.pending).toBe(0);
});

test('a time that is too long for one timer of the process is waited for as well', () => {
  const clock = new FakeClock();
  const short = {
    now: () => clock.now(),
    setTimer: (callback: () => void, delayMs: number) => clock.setTimer(callback, Math.min(delayMs, 50)),
  };
  const expired: number[] = [];
  const idle = new IdleRuns<Run>(short, 1_000, () => expired.push(clock.now()));
  idle.add(runOf('a'));
  clock.pass(5_000);
  expect(expired).toEqual([2_000]);
});

test('runs come and go in any order, as in a list that is sorted', () => {
  const runs = Array.from({ length: 6 }, (_, index) => runOf(String(index)));
  const steps = fc.array(fc.tuple(fc.constantFrom('add', 'delete', 'pass'), fc.nat(5)), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (all) => {
      const clock = new FakeClock();
      const expired: string[] = [];
      const due = new Map<string, number>();
      const expected: string[] = [];
      const idle = new IdleRuns<Run>(clock, 10, ({ name }) => expired.push(name));
      for (const [step, index] of [...all, ['pass', 11] as const]) {
        const run = runs[index];
        if (step === 'pass') {
          clock.pass(index);
          for (const [name, at] of due) {
            if (at > clock.now()) continue;
            due.delete(name);
            expected.push(name);
          }
        } else if (run !== undefined) {
          idle[step](run);
          due.delete(run.name);
          if (step === 'add') due.set(run.name, clock.now() + 10);
        }
        expect(expired).toEqual(expected);
        expect(clock.pending).toBe(due.size === 0 ? 0 : 1);
      }
    }),
  );
});
