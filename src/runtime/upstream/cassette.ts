import { existsSync, readFileSync } from 'node:fs';
import { canonicalJson } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, jsonOf } from '../../graph/json.js';
import { append } from '../../graph/maps.js';
import { MASKED } from '../../graph/printable-text.js';
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamPort,
  type UpstreamReference,
  type UpstreamResult,
} from './port.js';

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

/** Calls a port, and keeps what it answers. A call that is cancelled is not kept. Secrets are masked in what is kept. */
export class RecordingUpstream implements UpstreamPort {
  readonly #interactions: Interaction[] = [];
  readonly list?: NonNullable<UpstreamPort['list']>;

  /** @param mask masks secrets in a value. */
  constructor(
    readonly port: UpstreamPort,
    readonly mask: (value: Json) => Json,
  ) {
    const list = port.list?.bind(port);
    if (list !== undefined) this.list = list;
  }

  get cassette(): Cassette {
    return { cassetteVersion: CASSETTE_VERSION, interactions: this.#interactions };
  }

  async call(reference: UpstreamReference, input: JsonObject, call: UpstreamCall): Promise<UpstreamResult> {
    try {
      const result = await this.port.call(reference, input, call);
      this.#keep({ ...reference, input, result });
      return result;
    } catch (error) {
      if (error instanceof UpstreamError) {
        const { code, message, outcomeUnknown } = error;
        const failure = { code, message, ...defined({ outcomeUnknown }) };
        this.#keep({ ...reference, input, failure });
      }
      throw error;
    }
  }

  #keep({ server, tool, ...call }: Interaction): void {
    const masked = this.mask(call as unknown as JsonObject) as unknown as Omit<
      Interaction,
      'server' | 'tool'
    >;
    this.#interactions.push({ server, tool, ...masked });
  }

  close(): Promise<void> {
    return this.port.close();
  }
}

/**
 * Answers calls as they were answered when they were recorded: those of one tool with one input in their order, each
 * once. A masked part of an input matches any text. A call that was not recorded fails with `E_UPSTREAM_REFUSED`.
 */
export class CassetteUpstream implements UpstreamPort {
  /** By server and tool; the inputs as canonical texts. */
  readonly #left = new Map<string, { readonly text: string; readonly interaction: Interaction }[]>();

  constructor(cassette: Cassette) {
    for (const interaction of cassette.interactions) {
      const key = keyOf(interaction);
      const recorded = { text: canonicalJson(interaction.input), interaction };
      append(this.#left, key, recorded);
    }
  }

  async call(reference: UpstreamReference, input: JsonObject): Promise<UpstreamResult> {
    const ofTool = this.#left.get(keyOf(reference)) ?? [];
    const wanted = canonicalJson(input);
    const exact = ofTool.findIndex(({ text }) => text === wanted);
    const at =
      exact < 0 ? ofTool.findIndex(({ interaction }) => isRecorded(interaction.input, input)) : exact;
    const match = at < 0 ? undefined : ofTool.splice(at, 1)[0]?.interaction;
    if (match?.result !== undefined) return match.result;
    if (match?.failure !== undefined) {
      const { code, message } = match.failure;
      throw new UpstreamError(code, message, match.failure);
    }
    const text = `The cassette has no call, or no further call, of '${reference.tool}' of the upstream server '${reference.server}' with the input ${canonicalJson(input)}: record it again with \`npx stepwright pull --record\` or \`npx stepwright run --record FILE\``;
    throw new UpstreamError('E_UPSTREAM_REFUSED', text);
  }

  async close(): Promise<void> {}
}

/** The text of a cassette: keys sorted, without times. */
export function cassetteText(cassette: Cassette): string {
  const sorted: unknown = JSON.parse(canonicalJson(cassette as unknown as Json));
  return `${JSON.stringify(sorted, undefined, 2)}\n`;
}

const HOW = '`npx stepwright pull --record` and `npx stepwright run --record FILE` write one';

/** @throws TypeError for a file that does not exist, or that is not a cassette. */
export function readCassette(file: string): Cassette {
  if (!existsSync(file)) throw new TypeError(`There is no cassette '${file}': ${HOW}`);
  return parseCassette(readFileSync(file, 'utf8'), file);
}

/**
 * Reads the text of a cassette.
 *
 * @param file its name, for the message.
 * @throws TypeError for a text that is none.
 */
export function parseCassette(text: string, file?: string): Cassette {
  const value = jsonOf(text);
  if (
    isJsonObject(value) &&
    value.cassetteVersion === CASSETTE_VERSION &&
    Array.isArray(value.interactions)
  ) {
    if (value.interactions.every(isInteraction)) return value as unknown as Cassette;
  }
  throw new TypeError(
    `${file === undefined ? 'The file' : `'${file}'`} is not a cassette of this version: ${HOW}`,
  );
}

export function isCassette(text: string): boolean {
  const value = jsonOf(text);
  return isJsonObject(value) && value.cassetteVersion !== undefined && Array.isArray(value.interactions);
}

function isInteraction(value: Json): boolean {
  if (!isJsonObject(value) || typeof value.server !== 'string' || typeof value.tool !== 'string')
    return false;
  const { input, result, failure } = value;
  if (!isJsonObject(input)) return false;
  if (failure !== undefined)
    return isJsonObject(failure) && typeof failure.code === 'string' && typeof failure.message === 'string';
  return isJsonObject(result) && Array.isArray(result.content) && typeof result.isError === 'boolean';
}

function keyOf({ server, tool }: UpstreamReference): string {
  return canonicalJson([server, tool]);
}

/** Whether a recorded input is this one. A masked part of it matches any text. */
export function isRecorded(recorded: Json, input: Json): boolean {
  if (recorded === input || recorded === MASKED) return true;
  if (typeof recorded === 'string') return typeof input === 'string' && isMaskOf(recorded, input);
  if (Array.isArray(recorded)) {
    if (!Array.isArray(input) || input.length !== recorded.length) return false;
    return recorded.every((item: Json, index) => isRecorded(item, input[index] ?? null));
  }
  if (!isJsonObject(recorded) || !isJsonObject(input)) return false;
  const keys = Object.keys(recorded);
  return (
    keys.length === Object.keys(input).length &&
    keys.every((key) => Object.hasOwn(input, key) && isRecorded(recorded[key] ?? null, input[key] ?? null))
  );
}

/** Whether a text has what a masked one shows, in its order. */
function isMaskOf(masked: string, text: string): boolean {
  const [first = '', ...others] = masked.split(MASKED);
  const last = others.pop();
  if (last === undefined || !text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const index = text.indexOf(part, at);
    if (index < 0) return false;
    at = index + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
