import { sha256 } from '@noble/hashes/sha2.js';

/** Longer texts are hashed in chunks of so many bytes. */
const CHUNK = 4_096;

/** One character takes up to so many bytes. */
const MAX_CHARACTER = 4;

/** What every hash starts from, and the one that works. Texts are hashed one at a time: nothing is made anew for each. */
const fresh = sha256.create();
const worker = sha256.create();
const bytes = new Uint8Array(CHUNK + MAX_CHARACTER);
const digest = new Uint8Array(32);

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** sha256 of a text's UTF-8 bytes, 64 hexadecimal digits. Half a surrogate pair becomes U+FFFD. */
export function sha256Hex(text: string): string {
  fresh._cloneInto(worker);
  let count = 0;
  for (let place = 0; place < text.length; place += 1) {
    let code = text.charCodeAt(place);
    if (code < 0x80) {
      bytes[count] = code;
      count += 1;
    } else {
      code = text.codePointAt(place) ?? 0;
      if (code >= 0x10000) place += 1;
      count = encode(code, count);
    }
    if (count >= CHUNK) {
      worker.update(bytes.subarray(0, count));
      count = 0;
    }
  }
  worker.update(bytes.subarray(0, count)).digestInto(digest);
  let hex = '';
  for (let place = 0; place < digest.length; place += 4) hex += fourBytes(place);
  return hex;
}

/** Put together in short pieces: a text of up to twelve characters is a flat one. */
function fourBytes(place: number): string {
  return `${hexOf(place)}${hexOf(place + 1)}${hexOf(place + 2)}${hexOf(place + 3)}`;
}

function hexOf(place: number): string | undefined {
  return HEX[digest[place] ?? 0];
}

/** Writes a character that is not ASCII. Gives the place behind it. */
function encode(character: number, at: number): number {
  const code = character >= 0xd800 && character <= 0xdfff ? 0xfffd : character;
  let place = at;
  const put = (byte: number) => {
    bytes[place] = byte;
    place += 1;
  };
  if (code < 0x800) put(0xc0 | (code >> 6));
  else {
    if (code < 0x10000) put(0xe0 | (code >> 12));
    else {
      put(0xf0 | (code >> 18));
      put(continuation(code, 12));
    }
    put(continuation(code, 6));
  }
  put(continuation(code, 0));
  return place;
}

function continuation(code: number, shift: number): number {
  return 0x80 | ((code >> shift) & 0x3f);
}
