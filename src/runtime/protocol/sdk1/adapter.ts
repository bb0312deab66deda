import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import {
  isInexact,
  type Message,
  type ReadMessage,
  refusal,
  refusalCodes,
  requestId,
} from '../../transports/messages.js';
import type { ProtocolAdapter } from '../../transports/protocol-adapter.js';
import { statelessEra } from '../sdk2/era.js';

/** The protocol as version 1 of `@modelcontextprotocol/sdk` speaks it. The SDK is loaded by the first request. */
export const sdk1: ProtocolAdapter = {
  check: checkMessage,
  stateless: statelessEra,
  connect: async (...connection) => (await loaded()).openConnection(...connection),
  connectHttp: async (...connection) => (await loaded()).openHttpConnection(...connection),
};

let connections:
  | Promise<Pick<typeof import('./connection.js'), 'openConnection' | 'openHttpConnection'>>
  | undefined;

/** Loaded once: each request over HTTP without a session opens a connection. */
function loaded(): NonNullable<typeof connections> {
  connections ??= import('./connection.js').then(({ openConnection, openHttpConnection }) => ({
    openConnection,
    openHttpConnection,
  }));
  return connections;
}

/** Checks a message before it reaches the SDK, which drops unknown messages without an answer. */
export function checkMessage(value: unknown): ReadMessage {
  if (Array.isArray(value)) return refused('batches are not supported, send one message at a time');
  if (!isJsonObject(value)) return refused('a message is a JSON object');
  return isMessage(value) ? { ok: true, message: value } : refused(faultOf(value), value.id);
}

/** Whether it is a message of JSON-RPC 2.0 as the SDK has them: it is not loaded for that. */
function isMessage(value: JsonObject): value is JsonObject & Message {
  const { jsonrpc, id, method, params, result, error, ...others } = value;
  if (jsonrpc !== '2.0' || Object.keys(others).length > 0) return false;
  const hasId = typeof id === 'string' || Number.isSafeInteger(id);
  if (id !== undefined && !hasId) return false;
  if (method !== undefined)
    return (
      typeof method === 'string' && result === undefined && error === undefined && hasReadableMeta(params)
    );
  if (params !== undefined) return false;
  if (error === undefined) return hasId && result !== undefined && hasReadableMeta(result);
  return (
    result === undefined &&
    isJsonObject(error) &&
    Number.isSafeInteger(error.code) &&
    typeof error.message === 'string'
  );
}

/** Whether params or a result are an object or missing, and so is their `_meta`, with the keys that the SDK reads. */
function hasReadableMeta(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isJsonObject(value)) return false;
  const { _meta: meta } = value;
  if (meta === undefined) return true;
  if (!isJsonObject(meta)) return false;
  const { progressToken: token, 'io.modelcontextprotocol/related-task': task } = meta;
  return (
    (token === undefined || typeof token === 'string' || Number.isSafeInteger(token)) &&
    (task === undefined || (isJsonObject(task) && typeof task.taskId === 'string'))
  );
}

function refused(problem: string, id?: unknown): ReadMessage {
  return {
    ok: false,
    refusal: refusal(refusalCodes.invalidRequest, `Invalid Request: ${problem}`, requestId(id)),
  };
}

function faultOf({ jsonrpc, params, id }: Readonly<Record<string, unknown>>): string {
  if (jsonrpc !== '2.0') return '`jsonrpc` must be "2.0"';
  if (params !== undefined && !isJsonObject(params)) return '`params` must be an object';
  if (isInexact(id))
    return 'numbers beyond 2^53 - 1 are not exact, so this answer has no id: use a smaller number or text as `id`';
  return 'the message is not a JSON-RPC 2.0 request, notification or response';
}
