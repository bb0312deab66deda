import type { PayloadCodec } from '@temporalio/common';
import type { Json } from '../graph/json.js';
import type { Failure } from '../runtime/engine/contract.js';
import { isWithin, jsonSize } from '../runtime/tools/to-json.js';
import type { ResolvedOptions } from './options.js';

/** What a server takes that does not name its limit, in bytes: Temporal's own default. */
const DEFAULT_BYTES = 2 * 1024 * 1024;

/** For what is sent beside a value: a message has two of them at most, and is limited to twice as much. */
const FRAME_BYTES = 16 * 1024;

/** Of the codes of gRPC. */
const NOT_FOUND = 5;

/** What a value is to the run. */
export type PayloadPart = 'input' | 'result' | 'state';

const CODES = { input: 'E_INPUT_TOO_LARGE', result: 'E_RESULT_TOO_LARGE', state: 'E_STATE_SIZE' } as const;

/** What reports the limits of a namespace: a connection of a client or of a worker. */
interface Frontend {
  readonly workflowService: {
    describeNamespace(request: { readonly namespace: string }): Promise<{
      readonly namespaceInfo?: {
        readonly limits?: {
          readonly blobSizeLimitError?: { toNumber(): number } | null;
        } | null;
      } | null;
    }>;
  };
}

/** How large a value may be that is sent to Temporal, which refuses larger ones without a response to their sender. */
export class PayloadLimit {
  /** Infinite where the data converter stores large values outside of Temporal. */
  readonly bytes: number;
  readonly #codecs: readonly PayloadCodec[];

  constructor(bytes: number, codecs: readonly PayloadCodec[] = []) {
    this.bytes = bytes;
    this.#codecs = codecs;
  }

  /**
   * The limit of a namespace. That of Temporal itself, where the caller may not read it.
   *
   * @throws the SDK's error for a namespace that does not exist.
   */
  static async of(
    { workflowService }: Frontend,
    { namespace, dataConverter = {} }: Pick<ResolvedOptions, 'namespace' | 'dataConverter'>,
  ): Promise<PayloadLimit> {
    const described = await workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === NOT_FOUND) throw error;
      return undefined;
    });
    if (dataConverter.externalStorage !== undefined) return new PayloadLimit(Number.POSITIVE_INFINITY);
    const bytes = described?.namespaceInfo?.limits?.blobSizeLimitError?.toNumber() ?? 0;
    return new PayloadLimit((bytes > 0 ? bytes : DEFAULT_BYTES) - FRAME_BYTES, dataConverter.payloadCodecs);
  }

  /** For the sandbox of workflows, which values leave before they are encoded: encryption makes them somewhat longer. */
  get unencodedBytes(): number {
    return this.#codecs.length === 0 ? this.bytes : Math.floor(this.bytes * 0.95);
  }

  /** Why an encoded value cannot be sent. @param what begins the message. */
  async excess(what: string, part: PayloadPart, value: object): Promise<Failure | undefined> {
    const json = value as Json;
    // No codec doubles a value.
    if (this.#codecs.length === 0 || isWithin(json, this.bytes / 2))
      return excessOf(what, part, value, this.bytes);
    const data = new TextEncoder().encode(JSON.stringify(value));
    let payloads: Awaited<ReturnType<PayloadCodec['encode']>> = [
      { metadata: { encoding: JSON_PLAIN }, data },
    ];
    for (const codec of this.#codecs) payloads = await codec.encode(payloads);
    const size = payloads.reduce((sum, payload) => sum + (payload.data?.length ?? 0), 0);
    return size <= this.bytes ? undefined : tooLarge(what, part, size, this.bytes);
  }
}

const JSON_PLAIN = new TextEncoder().encode('json/plain');

/** Why a value cannot be sent that is not encoded. */
export function excessOf(what: string, part: PayloadPart, value: object, limit: number): Failure | undefined {
  if (isWithin(value as Json, limit)) return undefined;
  return tooLarge(what, part, jsonSize(value as Json, limit), limit);
}

function tooLarge(what: string, part: PayloadPart, size: number, limit: number): Failure {
  const message = `${what} has at least ${size} bytes, and Temporal takes ${limit} at once: keep and send a part of it, or a link to it.`;
  return { code: CODES[part], message, details: { size, limit } };
}
