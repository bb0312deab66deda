import { _SHA256 } from '@noble/hashes/sha2.js';

const BLOCK = 64;

/** Texts are hashed in chunks of so many bytes, which are whole blocks. */
const CHUNK = 64 * BLOCK;

/** What stands behind a text: one bit, zeroes, and its length in 8 bytes. */
const MAX_END = BLOCK + 9;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** sha256 of a text's UTF-8 bytes, 64 hexadecimal digits. Half a surrogate pair becomes U+FFFD. */
export function sha256Hex(text: string): string {
  return hash.hex(text);
}

/** One hash after the other in the same buffers: the library's own way makes three of them for each. */
class TextHash extends _SHA256 {
  readonly #initial = this.get();
  readonly #bytes = new Uint8Array(CHUNK + MAX_END);
  readonly #chunk = new DataView(this.#bytes.buffer);

  hex(text: string): string {
    this.#begin();
    let count = 0;
    let before = 0;
    for (let place = 0; place < text.length; place += 1) {
      const unit = text.charCodeAt(place);
      if (unit < 0x80) {
        this.#bytes[count] = unit;
        count += 1;
      } else {
        const code = text.codePointAt(place) ?? 0;
        if (code >= 0x10000) place += 1;
        count = this.#encode(code, count);
      }
      if (count >= CHUNK) {
        this.#take(CHUNK);
        this.#bytes.copyWithin(0, CHUNK, count);
        before += CHUNK;
        count -= CHUNK;
      }
    }
    this.#end(count, before + count);
    const [a, b, c, d, e, f, g, h] = this.get();
    return word(a) + word(b) + word(c) + word(d) + word(e) + word(f) + word(g) + word(h);
  }

  #begin(): void {
    const [a, b, c, d, e, f, g, h] = this.#initial;
    this.set(a, b, c, d, e, f, g, h);
  }

  /** Takes in the bytes up to `end`, the end of a block. */
  #take(end: number): void {
    for (let offset = 0; offset < end; offset += BLOCK) this.process(this.#chunk, offset);
  }

  #end(count: number, length: number): void {
    const end = Math.ceil((count + 9) / BLOCK) * BLOCK;
    this.#bytes[count] = 0x80;
    this.#bytes.fill(0, count + 1, end);
    this.#chunk.setUint32(end - 8, Math.floor(length / 2 ** 29));
    this.#chunk.setUint32(end - 4, length << 3);
    this.#take(end);
  }

  /** Writes a character that is not ASCII. Gives the place behind it. */
  #encode(character: number, at: number): number {
    const code = character >= 0xd800 && character <= 0xdfff ? 0xfffd : character;
    const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    this.#bytes[at] = ((0xff00 >> (more + 1)) & 0xff) | (code >> (6 * more));
    for (let left = more - 1; left >= 0; left -= 1) {
      this.#bytes[at + more - left] = 0x80 | ((code >> (6 * left)) & 0x3f);
    }
    return at + more + 1;
  }
}

function word(value: number): string {
  return hexOf(value >>> 24) + hexOf(value >> 16) + hexOf(value >> 8) + hexOf(value);
}

function hexOf(value: number): string {
  return HEX[value & 0xff] ?? '';
}

const hash = new TextHash();
