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
  return check(value);
}

/** The id that an answer has; null for what is none, and for a number that JSON.parse may have rounded to another's id. */
export function requestId(id: unknown): Refusal['id'] {
  return (typeof id === 'string' || typeof id === 'number') && !isInexact(id) ? id : null;
}

/** Whether an id is a number that JSON.parse may have rounded. */
export function isInexact(id: unknown): boolean {
  return typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER;
}
