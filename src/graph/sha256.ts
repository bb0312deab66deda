import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Returns the sha256 of the UTF-8 bytes of a text as 64 hexadecimal digits. A lone surrogate becomes U+FFFD. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8Bytes(text)));
}

/** Encodes a text as UTF-8. `utf8ToBytes` of the library needs `TextEncoder`, which an engine's sandbox may lack. */
function utf8Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(3 * text.length);
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      bytes[count++] = unit;
      continue;
    }
    const point = text.codePointAt(index) ?? 0;
    if (point >= 0x10000) index += 1;
    const code = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
    const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[count++] = ((0xff00 >> (more + 1)) & 0xff) | (code >> (6 * more));
    for (let remaining = more - 1; remaining >= 0; remaining -= 1)
      bytes[count++] = 0x80 | ((code >> (6 * remaining)) & 0x3f);
  }
  return bytes.subarray(0, count);
}
