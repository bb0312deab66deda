import { InitializeRequestParamsSchema, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { texts } from './texts.js';

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

/**
 * Why a line is no message that may go on to the SDK, which drops what it does not know without an answer; nothing
 * where it is one. `initialize` has its params checked here because the SDK would answer with its raw list of issues.
 */
export function checkLine(line: string): Refusal | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return refusal(refusalCodes.notJson, texts.notJson());
  }
  if (Array.isArray(message)) return refusal(refusalCodes.invalidRequest, texts.batch());
  if (!isObject(message)) return refusal(refusalCodes.invalidRequest, texts.notObject());
  if (!JSONRPCMessageSchema.safeParse(message).success)
    return refusal(refusalCodes.invalidRequest, fault(message), idOf(message));
  if (message.method !== 'initialize' || !('id' in message)) return undefined;
  const params = InitializeRequestParamsSchema.safeParse(message.params ?? {});
  if (params.success) return undefined;
  const problems = params.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return refusal(refusalCodes.invalidParams, texts.badInitialize(problems.join('; ')), idOf(message));
}

function fault(message: Readonly<Record<string, unknown>>): string {
  if (message.jsonrpc !== '2.0') return texts.badVersion();
  if (message.params !== undefined && !isObject(message.params)) return texts.badParams();
  return texts.badMessage();
}

function idOf({ id }: Readonly<Record<string, unknown>>): Refusal['id'] {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
