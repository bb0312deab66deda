import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../src/runtime/engine/graph.fixture.js';
import { ada, envelopeIn, ok } from '../../src/runtime/runs/store.fixture.js';
import { temporal } from '../../src/temporal/index.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { nightlyTest } from '../nightly.js';
import { describeTemporal, TemporalHost } from './host.js';
import { opened } from './lanes.js';

const key = randomBytes(32);
const ENCODING = new TextEncoder().encode('binary/encrypted');

/** Encrypts whole payloads, with what they say of themselves. */
const codec: PayloadCodec = {
  encode: async (payloads) => payloads.map(encrypted),
  decode: async (payloads) => payloads.map(decrypted),
};

function encrypted({ metadata, data }: Payload): Payload {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const plain = JSON.stringify({
    encoding: Buffer.from(metadata?.encoding ?? []).toString(),
    data: Buffer.from(data ?? []).toString('base64'),
  });
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return { metadata: { encoding: ENCODING }, data: Buffer.concat([iv, cipher.getAuthTag(), text]) };
}

function decrypted(payload: Payload): Payload {
  if (Buffer.from(payload.metadata?.encoding ?? []).toString() !== 'binary/encrypted') return payload;
  const bytes = Buffer.from(payload.data ?? []);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  const plain = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
  const { encoding, data } = JSON.parse(plain) as { encoding: string; data: string };
  return {
    metadata: { encoding: new TextEncoder().encode(encoding) },
    data: Buffer.from(data, 'base64'),
  };
}

/** All that Temporal keeps of a workflow, with the data of payloads as text. */
async function storedTextOf(client: Client, workflowId: string): Promise<string> {
  const { workflowService } = client.connection as Connection;
  const request = { namespace: 'default', execution: { workflowId } };
  const [{ history }, described] = await Promise.all([
    workflowService.getWorkflowExecutionHistory(request),
    workflowService.describeWorkflowExecution(request),
  ]);
  return JSON.stringify([history, described], (name, value: unknown) =>
    name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('latin1') : value,
  );
}

describeTemporal('a data converter that encrypts', () => {
  const host = new TemporalHost(
    { 'tool-a': ({ note }) => ok(`result of ${String(note)}`) },
    { dataConverter: { payloadCodecs: [codec] }, maxEvents: 40 },
  );
  const plainHost = new TemporalHost({ 'tool-a': ({ note }) => ok(`result of ${String(note)}`) });
  let client: Client;
  beforeAll(async () => {
    client = new Client({
      connection: await Connection.connect({ address: inject('temporalAddress') ?? '' }),
    });
    await Promise.all([host.open(), plainHost.open()]);
    return () => client.connection.close();
  });

  const steps = chain(
    call('a', { note: lit('swordfish-input') }),
    ask('sure', 'text', { message: lit('swordfish-question') }),
    done('out', step('sure')),
  );
  const of = graph(steps, { name: 'encrypted' });
  const run = async (on: TemporalHost) => {
    const { workflow_id: id, action } = await on.start(of, { token: 'swordfish-start' });
    const { status, result } = await on.submit(id, 'swordfish-answer', action?.action_id);
    expect([status, result]).toEqual(['completed', { input: 'swordfish-answer' }]);
    return storedTextOf(client, workflowIdOf(id));
  };

  test('leaves no value, question or answer of a run in what Temporal keeps', async () => {
    expect(await run(host)).not.toContain('swordfish');
  });

  test('is what keeps them from being read', async () => {
    const text = await run(plainHost);
    for (const part of ['input', 'question', 'start', 'answer']) expect(text).toContain(`swordfish-${part}`);
  });

  nightlyTest(
    'may convert values by modules, which the interpreter is bundled with',
    async () => {
      const root = fileURLToPath(new URL('../.tmp/', import.meta.url));
      mkdirSync(root, { recursive: true });
      const folder = mkdtempSync(join(root, 'converter-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const payloadConverterPath = join(folder, 'converter.cjs');
      writeFileSync(payloadConverterPath, CONVERTER);
      const taskQueue = randomUUID();
      const at = { address: inject('temporalAddress') ?? '', taskQueue };
      const store = temporal({ ...at, dataConverter: { payloadConverterPath } }).open(host.options);
      onTestFinished(() => store.close?.());
      await opened(store);
      const started = envelopeIn(
        await store.start({ owner: ada, graph: of, input: { token: 'swordfish-start' } }, host.waiter()),
      );
      const { workflow_id: id } = started;
      const answer = { result: 'swordfish-answer' };
      expect(envelopeIn(await store.submit(ada, id, answer, host.waiter()))).toMatchObject({
        result: { input: 'swordfish-answer' },
      });
      expect(await storedTextOf(client, workflowIdOf(id))).not.toContain('swordfish');
    },
    180_000,
  );
});

/** Inverts a bit of each byte. */
const CONVERTER = `
const { defaultPayloadConverter: plain } = require('@temporalio/common');
const inverted = (payload) => payload && { ...payload, data: payload.data && payload.data.map((byte) => byte ^ 1) };
exports.payloadConverter = {
  toPayload: (value) => inverted(plain.toPayload(value)),
  fromPayload: (payload) => plain.fromPayload(inverted(payload)),
};
`;
