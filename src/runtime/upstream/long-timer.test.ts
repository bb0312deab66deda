import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LongTimer, withLimit } from './long-timer.js';

const YEAR_MS = 366 * 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([0, 1, 2 ** 31 - 1, 2 ** 31, YEAR_MS, 10 * YEAR_MS])('a timer fires after %d ms', (delayMs) => {
  const callback = vi.fn();
  new LongTimer(callback, delayMs);
  if (delayMs > 0) vi.advanceTimersByTime(delayMs - 1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledTimes(1);
});

test('a timer that is cancelled does not fire, and one that is refreshed fires later', () => {
  const [cancelled, refreshed] = [vi.fn(), vi.fn()];
  const timers = [new LongTimer(cancelled, YEAR_MS), new LongTimer(refreshed, YEAR_MS)];
  vi.advanceTimersByTime(YEAR_MS - 1);
  timers[0]?.cancel();
  timers[1]?.refresh();
  vi.advanceTimersByTime(YEAR_MS - 1);
  expect(refreshed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect([cancelled, refreshed].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
});

test('work is aborted after its limit, and says so', async () => {
  const ending = withLimit(YEAR_MS, new AbortController().signal, (signal, isLate) => {
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(isLate())));
  });
  vi.advanceTimersByTime(YEAR_MS);
  expect(await ending).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('work that the caller aborts is not late, and its limit leaves no timer', async () => {
  const caller = new AbortController();
  const ending = withLimit(YEAR_MS, caller.signal, (signal, isLate) => {
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(isLate())));
  });
  caller.abort();
  expect(await ending).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});
