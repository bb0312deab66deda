import { describe, expect, test } from 'vitest';
import { CassetteUpstream, cassetteText, parseCassette, RecordingUpstream } from './cassette.js';
import { type UpstreamCall, UpstreamError, type UpstreamPort } from './port.js';

const call: UpstreamCall = { signal: new AbortController().signal, progress: () => {} };
const read = { server: 'files', tool: 'read' };

/** Counts its calls; every third one is lost. */
function counting(): UpstreamPort & { closed: boolean } {
  let calls = 0;
  return {
    closed: false,
    call: async (_, input) => {
      calls += 1;
      if (calls === 3) throw new UpstreamError('E_UPSTREAM_LOST', 'gone', { outcomeUnknown: true });
      if (calls === 4) throw new Error('cancelled');
      return { content: [], structuredContent: { calls, ...input }, isError: false };
    },
    async close() {
      this.closed = true;
    },
  };
}

describe('a cassette', () => {
  test('answers as the server did, each call once and in order', async () => {
    const port = counting();
    const recording = new RecordingUpstream(port, (value) => value);
    const ask = (upstream: UpstreamPort, path: string) =>
      upstream.call(read, { path }, call).catch((error: unknown) => error);
    const paths = ['a', 'a', 'b', 'c'];
    const answers: unknown[] = [];
    for (const path of paths) answers.push(await ask(recording, path));
    expect(recording.list).toBeUndefined();
    await recording.close();
    expect(port.closed).toBe(true);

    const replay = new CassetteUpstream(parseCassette(cassetteText(recording.cassette)));
    const [first, second, lost] = answers;
    expect([await ask(replay, 'b'), await ask(replay, 'a'), await ask(replay, 'a')]).toEqual([
      lost,
      first,
      second,
    ]);
    // What failed for another reason is not kept.
    for (const path of ['a', 'c'])
      expect(await ask(replay, path)).toMatchObject({
        code: 'E_UPSTREAM_REFUSED',
        message: expect.stringContaining(
          `of 'read' of the upstream server 'files' with the input {"path":"${path}"}`,
        ),
      });
  });

  test('finds a call by its input, whatever the order of keys is', async () => {
    const recording = new RecordingUpstream(counting(), (value) => value);
    await recording.call(read, { a: 1, b: 2 }, call);
    const replay = new CassetteUpstream(recording.cassette);
    expect(await replay.call(read, { b: 2, a: 1 })).toMatchObject({ structuredContent: { calls: 1 } });
  });

  test('lists the tools of the recorded server while it is recorded', async () => {
    const listing = { server: { name: 'f', version: '1' }, tools: [] };
    const recording = new RecordingUpstream({ ...counting(), list: async () => listing }, (value) => value);
    expect(await recording.list?.('files', call.signal)).toEqual(listing);
  });

  test.each(['{}', '[]', '{"cassetteVersion":2,"interactions":[]}'])('is not %s', (text) => {
    expect(() => parseCassette(text)).toThrow(TypeError);
  });
});
