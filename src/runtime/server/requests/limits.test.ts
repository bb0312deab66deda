import { describe, expect, test } from 'vitest';
import { limited, RequestSignal } from './limits.js';

test('tells its listeners of the first abort alone, each once, and none that left or came later', () => {
  const told: string[] = [];
  const signal = new RequestSignal();
  const left = (): void => void told.push('left');
  const first = (): void => {
    told.push(`first: ${String(signal.reason)}`);
    signal.removeEventListener('abort', left);
  };
  signal.addEventListener('abort', left);
  signal.removeEventListener('abort', left);
  signal.addEventListener('abort', first);
  signal.addEventListener('abort', first);
  signal.addEventListener('abort', () => told.push('second'));
  signal.abort('gone');
  signal.addEventListener('abort', () => told.push('late'));
  signal.abort('again');
  expect(told).toEqual(['first: gone', 'second']);
  expect(signal).toMatchObject({ aborted: true, reason: 'gone' });
});

const never = new AbortController().signal;

describe('limited', () => {
  test('hands the value on', async () => {
    expect(await limited(10_000, never, async () => 7)).toStrictEqual({ kind: 'done', value: 7 });
  });

  test('hands an error on', async () => {
    const failing = limited(10_000, never, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
  });

  test('times out work that ignores its signal, and aborts it', async () => {
    let seen: AbortSignal | undefined;
    const ending = await limited(1, never, (signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    expect(ending).toStrictEqual({ kind: 'timedOut' });
    expect(seen?.aborted).toBe(true);
  });

  test('rejects when the request is cancelled, with its reason', async () => {
    const request = new AbortController();
    const ending = await limited(10_000, request.signal, (signal) => {
      request.abort('changed my mind');
      expect(signal.reason).toBe('changed my mind');
      return new Promise(() => {});
    });
    expect(ending).toStrictEqual({ kind: 'cancelled' });
  });

  test('does not begin work for a request that is cancelled already', async () => {
    const ending = await limited(10_000, AbortSignal.abort(), () => Promise.reject(new Error('it began')));
    expect(ending).toStrictEqual({ kind: 'cancelled' });
  });

  test('work that fails after its timeout causes no unhandled rejection', async () => {
    let fail: (error: Error) => void = () => {};
    const ending = await limited(1, never, () => new Promise((_, reject) => (fail = reject)));
    fail(new Error('too late'));
    expect(ending).toStrictEqual({ kind: 'timedOut' });
  });
});
