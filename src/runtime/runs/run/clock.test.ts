import { describe, expect, test } from 'vitest';
import { callAt, processClock, TURN_MS, Turns } from './clock.js';
import { FakeClock } from './fake-clock.fixture.js';

describe('callAt', () => {
  test('calls back when the time has come, once', () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    callAt(clock, 1_250, () => fired.push(clock.now()));
    clock.pass(249);
    expect(fired).toEqual([]);
    clock.pass(1_000);
    expect(fired).toEqual([1_250]);
    expect(clock.pending).toBe(0);
  });

  test('a timer that comes early is set again', () => {
    const clock = new FakeClock();
    const early = {
      now: () => clock.now(),
      setTimer: (callback: () => void, delayMs: number) => clock.setTimer(callback, Math.min(delayMs, 100)),
    };
    const fired: number[] = [];
    callAt(early, 1_350, () => fired.push(clock.now()));
    clock.pass(1_000);
    expect(fired).toEqual([1_350]);
  });

  test('it can be called off, also after it was set again', () => {
    const clock = new FakeClock();
    const early = {
      now: () => clock.now(),
      setTimer: (callback: () => void) => clock.setTimer(callback, 100),
    };
    const cancel = callAt(early, 1_350, () => expect.unreachable());
    clock.pass(150);
    cancel();
    expect(clock.pending).toBe(0);
  });
});

describe('processClock', () => {
  test('tells the time of day in whole milliseconds', () => {
    const now = processClock.now();
    expect(Number.isInteger(now)).toBe(true);
    expect(new Date(now).getUTCFullYear()).toBe(new Date().getUTCFullYear());
  });

  test('a delay too long for the system is cut short instead of firing at once', async () => {
    let hasFired = false;
    const cancel = processClock.setTimer(() => {
      hasFired = true;
    }, 2 ** 40);
    await new Promise((resolve) => setTimeout(resolve, 5));
    cancel();
    expect(hasFired).toBe(false);
  });
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Turns', () => {
  test('a turn is over when its time is, and not because of the time before it', async () => {
    let now = 0;
    const turns = new Turns(() => now);
    expect(turns.isOver).toBe(false);
    now += TURN_MS - 1;
    expect(turns.isOver).toBe(false);
    now += 1;
    expect(turns.isOver).toBe(true);
    await turn();
    now += 1_000;
    expect(turns.isOver).toBe(false);
  });

  test('who waits goes on in order, in as many turns as it takes', async () => {
    let now = 0;
    const turns = new Turns(() => now);
    const seen: string[] = [];
    const work = (name: string, times: number): void => {
      seen.push(name);
      now += TURN_MS;
      if (times > 1) turns.wait(() => work(name, times - 1));
    };
    expect(turns.isOver).toBe(false);
    turns.wait(() => work('a', 2));
    turns.wait(() => work('b', 1));
    expect(seen).toEqual([]);
    await turn();
    expect(seen).toEqual(['a']);
    await turn();
    expect(seen).toEqual(['a', 'b']);
    await turn();
    expect(seen).toEqual(['a', 'b', 'a']);
  });

  test('several go on in one turn where there is time', async () => {
    const turns = new Turns(() => 0);
    const seen: string[] = [];
    expect(turns.isOver).toBe(false);
    for (const name of ['a', 'b', 'c']) turns.wait(() => seen.push(name));
    await turn();
    expect(seen).toEqual(['a', 'b', 'c']);
  });
});
