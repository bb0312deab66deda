import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../graph/canonical.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { RunStore } from '../runs/run-store.js';

/** The key of a process with a store that has no key. */
const processKey = randomBytes(32);

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A value that was sealed. */
export interface Unsealed {
  readonly value: JsonObject;
  readonly isExpired: boolean;
}

/**
 * Texts that a server gives to others and reads again. They are encrypted and authenticated (AES-256-GCM) with the key of the store or
 * of `questions.key`: every process with the same one can open them, and no other one can read or make them.
 */
export class Seal {
  readonly #sealing: Pick<RunStore, 'key'>;
  readonly #purpose: string;

  /**
   * @param sealing has the key. Without one, that of this process is used.
   * @param purpose texts for one purpose cannot be used for another one.
   */
  constructor(sealing: Pick<RunStore, 'key'>, purpose: string) {
    this.#sealing = sealing;
    this.#purpose = purpose;
  }

  /** @param expiresAt in ms since the epoch. */
  async seal(value: JsonObject, expiresAt: number): Promise<string> {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', await this.#key(), nonce);
    const text = Buffer.concat([cipher.update(JSON.stringify([expiresAt, value])), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** @returns undefined for a text that was not sealed for this purpose with this key. */
  async open(text: string): Promise<Unsealed | undefined> {
    const bytes = Buffer.from(text, 'base64url');
    // One text has one writing: what was used once is found again.
    if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', await this.#key(), bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    let json: string;
    try {
      const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      json = Buffer.concat([body, decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
    const [expiresAt, value] = JSON.parse(json) as [number, JsonObject];
    return { value, isExpired: expiresAt <= Date.now() };
  }

  /** 32 hexadecimal digits that are the same for equal values, and that others cannot compute. */
  async digest(value: Json): Promise<string> {
    const mac = createHmac('sha256', await this.#key()).update(canonicalJson(value));
    return mac.digest('hex').slice(0, 32);
  }

  async #key(): Promise<Buffer> {
    const key = (await this.#sealing.key?.()) ?? processKey;
    return createHmac('sha256', key).update(this.#purpose).digest();
  }
}
