import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';

/** Smaller payloads are sent as they are: Temporal's web page shows what is in them. In bytes. */
const LEAST_BYTES = 10 * 1024;

/** What a compressed payload says of itself, and the member with what it said before. */
const ENCODING = 'binary/deflate';
const INNER_ENCODING = 'deflated-encoding';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * A data converter that also compresses large payloads, such as graphs and states of runs, before its own codecs encode them.
 *
 * @param converter default: that of the SDK.
 */
export function withCompression(converter: DataConverter = {}): DataConverter {
  return { ...converter, payloadCodecs: [compression, ...(converter.payloadCodecs ?? [])] };
}

const compression: PayloadCodec = {
  encode: (payloads) => Promise.all(payloads.map(compressed)),
  decode: (payloads) => Promise.all(payloads.map(decompressed)),
};

async function compressed(payload: Payload): Promise<Payload> {
  const { metadata, data } = payload;
  if (data == null || data.length < LEAST_BYTES) return payload;
  const shorter = await deflate(data);
  if (shorter.length >= data.length) return payload;
  const { encoding = new Uint8Array(), ...rest } = metadata ?? {};
  return {
    metadata: { ...rest, [INNER_ENCODING]: encoding, encoding: new TextEncoder().encode(ENCODING) },
    data: shorter,
  };
}

async function decompressed(payload: Payload): Promise<Payload> {
  const { encoding: own, [INNER_ENCODING]: encoding, ...rest } = payload.metadata ?? {};
  if (encoding === undefined || new TextDecoder().decode(own) !== ENCODING) return payload;
  return { metadata: { ...rest, encoding }, data: await inflate(payload.data ?? new Uint8Array()) };
}
