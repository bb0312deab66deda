import {
  InitializeRequestParamsSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { adapterTexts } from '../../server/server-texts.js';

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
  | { readonly ok: true; readonly message: JSONRPCMessage }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Reads the one message of a text, or says why it is none that may go on to the SDK, which drops what it does not know
 * without an answer. `initialize` has its params checked here because the SDK would answer with its raw list of issues.
 */
export function readMessage(text: string): ReadMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(refusal(refusalCodes.notJson, adapterTexts.notJson()));
  }
  return checkMessage(value);
}

/** As {@link readMessage}, for JSON that was parsed already. */
export function checkMessage(value: unknown): ReadMessage {
  if (Array.isArray(value)) return refused(refusal(refusalCodes.invalidRequest, adapterTexts.batch()));
  if (!isObject(value)) return refused(refusal(refusalCodes.invalidRequest, adapterTexts.notObject()));
  const parsed = JSONRPCMessageSchema.safeParse(value);
  if (!parsed.success) return refused(refusal(refusalCodes.invalidRequest, fault(value), idOf(value)));
  const message = parsed.data;
  if (value.method !== 'initialize' || !('id' in value)) return { ok: true, message };
  const params = InitializeRequestParamsSchema.safeParse(value.params ?? {});
  if (params.success) return { ok: true, message };
  const problems = params.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return refused(
    refusal(refusalCodes.invalidParams, adapterTexts.badInitialize(problems.join('; ')), idOf(value)),
  );
}

function refused(refusal: Refusal): ReadMessage {
  return { ok: false, refusal };
}

function fault(message: Readonly<Record<string, unknown>>): string {
  if (message.jsonrpc !== '2.0') return adapterTexts.badVersion();
  if (message.params !== undefined && !isObject(message.params)) return adapterTexts.badParams();
  if (isInexact(message.id)) return adapterTexts.inexactId();
  return adapterTexts.badMessage();
}

function idOf({ id }: Readonly<Record<string, unknown>>): Refusal['id'] {
  return requestId(id);
}

/** The id that an answer has; null for what is none, and for a number that JSON.parse may have rounded to another's id. */
export function requestId(id: unknown): Refusal['id'] {
  return (typeof id === 'string' || typeof id === 'number') && !isInexact(id) ? id : null;
}

function isInexact(id: unknown): boolean {
  return typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
