import { readFileSync } from 'node:fs';
import type { Span } from '../../graph/place.js';

/** What a file holds, or why it cannot be read. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable' }
  /** `span` marks where the first bytes stand that are not UTF-8. */
  | { readonly kind: 'notUtf8'; readonly span: Span };

/** Reads a file as UTF-8. A byte order mark is left out. */
export function readFileText(file: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return { kind: 'unreadable' };
  }
  const text = decode(bytes);
  return text === undefined
    ? { kind: 'notUtf8', span: spanAfter(longestText(bytes)) }
    : { kind: 'text', text };
}

function decode(bytes: Uint8Array, stream = false): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream });
  } catch {
    return undefined;
  }
}

/** What can be read before the fault: every shorter beginning can be read as well. */
function longestText(bytes: Uint8Array): string {
  let sound = 0;
  let faulty = bytes.length + 1;
  while (faulty - sound > 1) {
    const middle = Math.floor((sound + faulty) / 2);
    if (decode(bytes.subarray(0, middle), true) === undefined) faulty = middle;
    else sound = middle;
  }
  return decode(bytes.subarray(0, sound), true) ?? '';
}

function spanAfter(text: string): Span {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
  const column = (lines.at(-1)?.length ?? 0) + 1;
  return [lines.length, column, lines.length, column + 1];
}
