import { expect, test } from 'vitest';
import { RequestSignal } from './request.js';

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
