import { expect, test } from 'vitest';
import { boundedStream } from './bodies.js';

function source(chunks: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
      controller.close();
    },
  });
}

/** A bounded stream, and how it ended. */
function bounded(stream: ReadableStream<Uint8Array>, limit: number) {
  let end: (isUnread: boolean) => void = () => {};
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  return { copy: boundedStream(stream, limit, end), ended };
}

test('passes everything on to a client that reads', async () => {
  const { copy, ended } = bounded(source(['one ', 'two ', 'three']), 1_000);
  expect(await new Response(copy).text()).toBe('one two three');
  expect(await ended).toBe(false);
});

test('is aborted when more waits for a client than the limit', async () => {
  const { copy, ended } = bounded(source(['1234', '5678', '9']), 8);
  expect(await ended).toBe(true);
  await expect(new Response(copy).text()).rejects.toThrow('the client does not read');
});

test('what a client reads does not count', async () => {
  let push: (chunk: string) => void = () => {};
  let close: () => void = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      push = (chunk) => controller.enqueue(Buffer.from(chunk));
      close = () => controller.close();
    },
  });
  const { copy, ended } = bounded(stream, 8);
  const reader = copy.getReader();
  for (let i = 0; i < 20; i++) {
    push('123456');
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('123456');
  }
  close();
  expect((await reader.read()).done).toBe(true);
  expect(await ended).toBe(false);
});

test('a client that leaves cancels the source', async () => {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    cancel() {
      isCancelled = true;
    },
  });
  const { copy, ended } = bounded(stream, 8);
  await copy.cancel();
  expect(await ended).toBe(false);
  expect(isCancelled).toBe(true);
});
