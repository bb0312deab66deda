import { canonicalJson } from '../../graph/canonical.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamPort,
  type UpstreamReference,
  type UpstreamResult,
} from './port.js';
import { upstreamTexts } from './texts.js';

/** The version of the format of cassettes. */
const CASSETTE_VERSION = 1;

/** A call of an upstream tool, and its result or its failure. */
export interface Interaction extends UpstreamReference {
  readonly input: JsonObject;
  readonly result?: UpstreamResult;
  readonly failure?: Pick<UpstreamError, 'code' | 'message' | 'outcomeUnknown'>;
}

/** Recorded calls, in the order in which they ended. */
export interface Cassette {
  readonly cassetteVersion: typeof CASSETTE_VERSION;
  readonly interactions: readonly Interaction[];
}

/** Calls a port, and keeps what it answers. A call that is cancelled is not kept. */
export class RecordingUpstream implements UpstreamPort {
  readonly #interactions: Interaction[] = [];
  readonly list?: NonNullable<UpstreamPort['list']>;

  constructor(readonly port: UpstreamPort) {
    const list = port.list?.bind(port);
    if (list !== undefined) this.list = list;
  }

  get cassette(): Cassette {
    return { cassetteVersion: CASSETTE_VERSION, interactions: this.#interactions };
  }

  async call(reference: UpstreamReference, input: JsonObject, call: UpstreamCall): Promise<UpstreamResult> {
    try {
      const result = await this.port.call(reference, input, call);
      this.#interactions.push({ ...reference, input, result });
      return result;
    } catch (error) {
      if (error instanceof UpstreamError) {
        const { code, message, outcomeUnknown } = error;
        const failure = { code, message, ...(outcomeUnknown === undefined ? {} : { outcomeUnknown }) };
        this.#interactions.push({ ...reference, input, failure });
      }
      throw error;
    }
  }

  close(): Promise<void> {
    return this.port.close();
  }
}

/**
 * Answers calls as they were answered when they were recorded: those of one tool with one input in their order, each
 * once. A call that was not recorded fails with `E_UPSTREAM_REFUSED`.
 */
export class CassetteUpstream implements UpstreamPort {
  readonly #left = new Map<string, Interaction[]>();

  constructor(cassette: Cassette) {
    for (const interaction of cassette.interactions) {
      const key = keyOf(interaction, interaction.input);
      this.#left.set(key, [...(this.#left.get(key) ?? []), interaction]);
    }
  }

  async call(reference: UpstreamReference, input: JsonObject): Promise<UpstreamResult> {
    const found = this.#left.get(keyOf(reference, input))?.shift();
    if (found?.result !== undefined) return found.result;
    if (found?.failure !== undefined) {
      const { code, message } = found.failure;
      throw new UpstreamError(code, message, found.failure);
    }
    const text = upstreamTexts.notRecorded(reference.server, reference.tool, canonicalJson(input));
    throw new UpstreamError('E_UPSTREAM_REFUSED', text);
  }

  async close(): Promise<void> {}
}

/** The text of a cassette: keys sorted, without times. */
export function cassetteText(cassette: Cassette): string {
  const sorted: unknown = JSON.parse(canonicalJson(cassette as unknown as Json));
  return `${JSON.stringify(sorted, undefined, 2)}\n`;
}

/**
 * Reads the text of a cassette.
 *
 * @throws TypeError for a text that is none.
 */
export function parseCassette(text: string): Cassette {
  const value = JSON.parse(text) as Json;
  if (isJsonObject(value) && value.cassetteVersion === CASSETTE_VERSION && Array.isArray(value.interactions))
    return value as unknown as Cassette;
  throw new TypeError(upstreamTexts.notCassette());
}

function keyOf({ server, tool }: UpstreamReference, input: JsonObject): string {
  return canonicalJson([server, tool, input]);
}
