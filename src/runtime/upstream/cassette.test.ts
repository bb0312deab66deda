import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../graph/json.js';
import { MASKED } from '../../graph/printable-text.js';
import { CassetteUpstream, cassetteText, isRecorded, parseCassette, RecordingUpstream } from './cassette.js';
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

  test('has secrets masked; a masked part of an input matches any text', async () => {
    const mask = (value: Json): Json =>
      JSON.parse(JSON.stringify(value).replaceAll('/home/ada', MASKED)) as Json;
    const recording = new RecordingUpstream(
      {
        call: async (_, { path }) => {
          if (path === '/home/ada') throw new UpstreamError('E_UPSTREAM_REFUSED', `no file ${path}`);
          return { content: [], structuredContent: { read: path ?? null }, isError: false };
        },
        close: async () => {},
      },
      mask,
    );
    const paths = ['/home/ada', '/home/ada/a.txt', 'b.txt'];
    for (const path of paths) await recording.call(read, { path }, call).catch(() => {});
    const text = cassetteText(recording.cassette);
    expect(text).not.toContain('ada');

    const replay = new CassetteUpstream(parseCassette(text));
    const ask = (input: JsonObject) => replay.call(read, input).catch((error: unknown) => error);
    // What is recorded as it is comes before what is masked.
    expect(await ask({ path: 'b.txt' })).toMatchObject({ structuredContent: { read: 'b.txt' } });
    expect(await ask({ path: '/srv/b' })).toMatchObject({ message: `no file ${MASKED}` });
    expect(await ask({ path: '/srv/b/c.txt' })).toMatchObject({
      message: expect.stringContaining('has no call'),
    });
    expect(await ask({ path: '/srv/b/a.txt' })).toMatchObject({
      structuredContent: { read: `${MASKED}/a.txt` },
    });
  });

  test.each([
    ['a•b', 'a•b', true],
    [MASKED, 5, true],
    [`a${MASKED}b`, 'ab', true],
    [`a${MASKED}b`, 'axb', true],
    [`a${MASKED}b`, 'axbc', false],
    [`ab${MASKED}ba`, 'aba', false],
    [`${MASKED}/x/${MASKED}/y`, '/a/x/b/y', true],
    [`${MASKED}/x/${MASKED}/y`, '/a/z/b/y', false],
    [`a${MASKED}`, 5, false],
    [[`a${MASKED}`, 1], ['ab', 1], true],
    [[`a${MASKED}`], ['ab', 1], false],
    [{ a: [MASKED], b: null }, { b: null, a: ['x'] }, true],
    [{ a: MASKED }, { b: 'x' }, false],
    [{ a: MASKED }, { a: 'x', b: 1 }, false],
    [{ a: { b: 1 } }, { a: [1] }, false],
    [{ a: 1 }, null, false],
  ])('whose input is %j answers %j: %j', (recorded: unknown, given: unknown, answers: unknown) => {
    expect(isRecorded(recorded as Json, given as Json)).toBe(answers);
  });

  test('answers every input that it has recorded, whatever is masked of it', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'ab', MASKED, ''), { maxLength: 6 });
    fc.assert(
      fc.property(texts, fc.string({ unit: fc.constantFrom('a', 'b') }), (parts, secret) => {
        const given = parts.map((part) => (part === MASKED ? secret : part)).join('');
        return isRecorded({ in: [parts.join('')] }, { in: [given] });
      }),
    );
  });

  test.each([
    '{}',
    '[]',
    'no JSON',
    '{"cassetteVersion":2,"interactions":[]}',
    '{"cassetteVersion":1,"interactions":[{"server":"a","tool":"b","input":[]}]}',
    '{"cassetteVersion":1,"interactions":[{"server":"a","tool":"b","input":{}}]}',
    '{"cassetteVersion":1,"interactions":[{"server":"a","tool":"b","input":{},"result":{"content":[]}}]}',
    '{"cassetteVersion":1,"interactions":[{"server":"a","tool":"b","input":{},"failure":{"code":"E"}}]}',
  ])('is not %s', (text) => {
    expect(() => parseCassette(text)).toThrow(TypeError);
  });
});
