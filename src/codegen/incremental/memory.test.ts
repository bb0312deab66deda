import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DeferredWork } from './memory.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('is done once, while nothing else is', () => {
  const deferred = new DeferredWork();
  const done: string[] = [];
  deferred.put(() => done.push('first'));
  deferred.put(() => done.push('second'));
  expect(done).toEqual([]);
  vi.runAllTimers();
  expect(done).toEqual(['second']);
  deferred.finish();
  expect(done).toEqual(['second']);
});

test('is done at once where it is asked for, and later where it has to wait', () => {
  const deferred = new DeferredWork();
  const done: string[] = [];
  deferred.put(() => done.push('first'));
  deferred.finish();
  expect(done).toEqual(['first']);
  deferred.put(() => done.push('second'));
  deferred.pause();
  vi.runAllTimers();
  expect(done).toEqual(['first']);
  deferred.resume();
  vi.runAllTimers();
  expect(done).toEqual(['first', 'second']);
  deferred.resume();
  vi.runAllTimers();
  expect(done).toEqual(['first', 'second']);
});

test('ends neither the process nor other work where it fails', () => {
  const [one, other] = [new DeferredWork(), new DeferredWork()];
  const done: string[] = [];
  one.put(() => {
    throw new Error('ENOTDIR');
  });
  other.put(() => done.push('other'));
  vi.runAllTimers();
  expect(done).toEqual(['other']);
});

test('is done when the process ends, which then has no listener of it', () => {
  const listeners = process.listeners('exit');
  const [one, other] = [new DeferredWork(), new DeferredWork()];
  const done: string[] = [];
  one.put(() => done.push('one'));
  other.put(() => done.push('other'));
  const [added, second] = process.listeners('exit').filter((each) => !listeners.includes(each));
  expect(second).toBeUndefined();
  added?.(0);
  expect(done).toEqual(['one', 'other']);
  expect(process.listeners('exit')).toEqual(listeners);
});
