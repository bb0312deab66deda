import { isJsonObject } from '../../graph/json.js';
import { clip } from '../../graph/printable-text.js';

/** One message of JSON-RPC, as a transport sees it. */
export interface Message {
  readonly id?: string | number | undefined;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** An error response to a message that goes no further. */
export interface Refusal {
  readonly jsonrpc: '2.0';
  /** Of the message it answers; null where that has none. */
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

export const refusalCodes = { notJson: -32700, invalidRequest: -32600, invalidParams: -32602 } as const;

export function refusal(code: number, message: string, id: Refusal['id'] = null): Refusal {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** What a text from a client holds. */
export type ReadMessage =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly refusal: Refusal };

/** Reads the one message of a text. @param check see `ProtocolAdapter`. */
export function readMessage(text: string, check: (value: unknown) => ReadMessage): ReadMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      ok: false,
      refusal: refusal(refusalCodes.notJson, 'Parse error: the message is not JSON'),
    };
  }
  const key = repeatedKey(text);
  if (key === undefined) return check(value);
  const why = `the key '${clip(key)}' is written twice, and programs do not agree which value counts: write it once`;
  const id = isJsonObject(value) && key !== 'id' ? requestId(value.id) : null;
  return { ok: false, refusal: refusal(refusalCodes.invalidRequest, `Invalid Request: ${why}`, id) };
}

/**
 * A key that the message, or its params, have twice: `JSON.parse` takes the last one, a program before this server may
 * have taken the first.
 *
 * @param text JSON.
 */
function repeatedKey(text: string): string | undefined {
  /** For each open object or list its keys, where they count. */
  const open: (Set<string> | undefined)[] = [];
  let isInParams = false;
  const structure = /["{}[\]]/g;
  for (let next = structure.exec(text); next !== null; next = structure.exec(text)) {
    const depth = open.length;
    if (next[0] === '{') open.push(depth === 0 || (depth === 1 && isInParams) ? new Set() : undefined);
    else if (next[0] === '[') open.push(undefined);
    else if (next[0] !== '"') open.pop();
    else {
      const end = endOfText(text, next.index);
      structure.lastIndex = end;
      const keys = open.at(-1);
      COLON.lastIndex = end;
      if (keys === undefined || !COLON.test(text)) continue;
      const key: string = JSON.parse(text.slice(next.index, end));
      if (keys.has(key)) return key;
      keys.add(key);
      if (depth === 1) isInParams = key === 'params';
    }
  }
  return undefined;
}

/** Behind a text that is a key. */
const COLON = /\s*:/y;

/** Where a text of JSON ends that begins at a quotation mark. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
}

/** The id that an answer has; null for what is none, and for a number that JSON.parse may have rounded to another's id. */
export function requestId(id: unknown): Refusal['id'] {
  return (typeof id === 'string' || typeof id === 'number') && !isInexact(id) ? id : null;
}

/** Whether an id is a number that JSON.parse may have rounded. */
export function isInexact(id: unknown): boolean {
  return typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER;
}
