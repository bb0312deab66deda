/**
 * Reads the body of a request.
 *
 * @returns nothing for a body of more than `limit` bytes; the rest of it is not read.
 * @throws whatever went wrong with the connection.
 */
export async function readBody(request: Request, limit: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Passes a stream on, and aborts it when more than `limitBytes` wait for a reader: what a client does not read must not
 * fill the memory.
 *
 * @param onEnd called once, when the stream has ended in any way. `isUnread`: it was aborted.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  limitBytes: number,
  onEnd: (isUnread: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    let isUnread = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        controller.enqueue(value);
        isUnread = (controller.desiredSize ?? 0) < 0;
        if (!isUnread) continue;
        controller.error(new Error('the client does not read'));
        await reader.cancel();
        return;
      }
      controller.close();
    } catch (error) {
      // The controller of a cancelled stream is closed already.
      controller.error(error);
    } finally {
      onEnd(isUnread);
    }
  };
  return new ReadableStream(
    {
      start: (controller) => void pump(controller),
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: limitBytes, size: (chunk) => chunk.byteLength },
  );
}
