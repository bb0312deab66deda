import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import { ok } from '../../src/runtime/runs/store.fixture.js';
import { withCompression } from '../../src/temporal/compression.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { describeNightly, TemporalHost } from './host.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const JSON_PLAIN = bytesOf('json/plain');

/** What the codecs of a converter make of a payload, the first one first, as the SDK does. */
async function encoded(codecs: readonly PayloadCodec[], data: Uint8Array, more = {}) {
  let payloads = [{ metadata: { encoding: JSON_PLAIN, ...more }, data }];
  for (const codec of codecs) payloads = (await codec.encode(payloads)) as typeof payloads;
  return payloads;
}

describe('the compression of payloads', () => {
  const { payloadCodecs: [codec] = [] } = withCompression();
  if (codec === undefined) throw new Error('there is no codec');

  test('gives back any payload as it was, with all that it says of itself', async () => {
    const part = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string().map(bytesOf));
    const payload = fc.record({ part, times: fc.integer({ min: 0, max: 60 }), note: fc.string() });
    await fc.assert(
      fc.asyncProperty(payload, async ({ part, times, note }) => {
        const data = new Uint8Array(Buffer.concat(Array.from({ length: times }, () => part)));
        const more = { note: bytesOf(note) };
        const [decoded] = await codec.decode(await encoded([codec], data, more));
        expect(Buffer.from(decoded?.data ?? []).equals(data)).toBe(true);
        expect(decoded?.metadata).toEqual({ encoding: JSON_PLAIN, ...more });
      }),
      { seed: 37, numRuns: 300 },
    );
  });

  test('leaves small ones, and those that would be longer, readable', async () => {
    for (const data of [bytesOf('x'.repeat(10_239)), new Uint8Array(randomBytes(20_000))]) {
      const [payload] = await encoded([codec], data);
      expect(payload).toEqual({ metadata: { encoding: JSON_PLAIN }, data });
    }
    const [large] = await encoded([codec], bytesOf('x'.repeat(10_240)));
    expect(large?.data.length).toBeLessThan(100);
  });

  test('comes before the codecs of the program: what is encrypted cannot be compressed', async () => {
    const seen: number[] = [];
    const own: PayloadCodec = {
      encode: async (payloads) => {
        seen.push(...payloads.map(({ data }) => data?.length ?? 0));
        return payloads;
      },
      decode: async (payloads) => payloads,
    };
    const { payloadCodecs = [] } = withCompression({ payloadCodecs: [own] });
    await encoded(payloadCodecs, bytesOf('x'.repeat(100_000)));
    expect(seen).toEqual([expect.any(Number)]);
    expect(seen[0]).toBeLessThan(1_000);
  });
});

describeNightly('a large graph', () => {
  const host = new TemporalHost({ 'tool-a': () => ok('x'.repeat(20_000)) }, { maxEvents: 60 });

  test('and large results are a small part of the histories of their run', async () => {
    const connection = await Connection.connect({ address: inject('temporalAddress') ?? '' });
    try {
      await host.open();
      const of = graph(
        chain(
          ...Array.from({ length: 40 }, (_, index) => call(`n${index}`, {}, { tool: 'tool-a' })),
          done('out', step('n39')),
        ),
        { description: 'What it is about. '.repeat(2_000) },
      );
      const { workflow_id: id } = await host.start(of);
      await expect.poll(async () => (await host.get(id)).status, { timeout: 60_000 }).toBe('completed');
      expect((await host.get(id)).result).toBe('x'.repeat(20_000));
      const { raw, historySize } = await new Client({ connection }).workflow
        .getHandle(workflowIdOf(id))
        .describe();
      // The last of its workflows began with the graph and the state.
      const { firstRunId, execution } = raw.workflowExecutionInfo ?? {};
      expect(firstRunId).not.toBe(execution?.runId);
      expect(historySize).toBeLessThan(JSON.stringify(of).length);
    } finally {
      await connection.close();
    }
  }, 120_000);
});
