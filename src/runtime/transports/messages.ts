import { defined } from '../../graph/defined.js';
import { isJsonObject } from '../../graph/json.js';
import { clip, oneLine } from '../../graph/printable-text.js';
import type { RequestContext } from '../runs/request.js';
import type { InFlight } from '../server/requests/limits.js';
import type { ServerChange } from '../server/stepwright-server.js';
import type { TaskState } from '../server/tasks/task-router.js';
import { faultCodes, ProtocolFault } from '../server/wire.js';
import { thrownReport } from '../tools/exceptions.js';
import type { Log } from '../tools/log.js';
import type { Peer } from '../tools/port.js';

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
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    const depth = open.length;
    if (char === '{') open.push(depth === 0 || (depth === 1 && isInParams) ? new Set() : undefined);
    else if (char === '[') open.push(undefined);
    else if (char === '}' || char === ']') open.pop();
    else if (char === '"') {
      const start = at;
      const end = endOfText(text, start);
      at = end - 1;
      const keys = open[depth - 1];
      if (keys === undefined || !isKey(text, end)) continue;
      const written = text.slice(start + 1, end - 1);
      const key: string = written.includes('\\') ? JSON.parse(`"${written}"`) : written;
      if (keys.has(key)) return key;
      keys.add(key);
      if (depth === 1) isInParams = key === 'params';
    }
  }
  return undefined;
}

const COLON = /\s*:/y;

/** Whether a text of JSON that ends at `end` is a key. */
function isKey(text: string, end: number): boolean {
  if (text[end] === ':') return true;
  COLON.lastIndex = end;
  return COLON.test(text);
}

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

// Parts of a request, and of what is sent during it, that each version of the protocol has.

/** What a server can do for a client that it notifies of changes. */
export const LISTENING = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

/** What a client gets for what its request threw. A fault of the server is logged, and its text kept back. */
export function requestFault(error: unknown, method: string, log: Log): ProtocolFault {
  if (error instanceof ProtocolFault) return error;
  const name = oneLine(method, 80);
  log(`${name}: ${thrownReport(error)}`, { event: 'request.fault', method: name });
  const text = `Internal error in ${clip(method)}; the server's log has the details`;
  return new ProtocolFault(faultCodes.internal, text);
}

/** How long a client waits before it asks for a task again, in ms. */
export const TASK_POLL_MS = 1_000;

/** Headers that prove who a caller is: another program could call in its name by them. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** Gives a client the headers of its request, as tools see them. They are made when they are read, which few tools do. */
export function withHeaders<P extends Peer>(peer: P, headers: () => Iterable<readonly [string, unknown]>): P {
  let shown: Peer['headers'];
  const get = (): Peer['headers'] => {
    shown ??= shownHeaders(headers());
    return shown;
  };
  return Object.defineProperty(peer, 'headers', { enumerable: true, get });
}

/** Names are in lower case. */
function shownHeaders(headers: Iterable<readonly [string, unknown]>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (value !== undefined && !SECRET_HEADERS.has(name)) shown[name] = String(value);
  }
  return shown;
}

/**
 * Sends the progress of a request, and what ends that: it settles when all was sent. Undefined where none is wanted.
 *
 * @param notify sends the params of a notification.
 */
export function reportsOf(
  progressToken: string | number | undefined,
  notify: (params: ReturnType<typeof progressOf>) => Promise<void>,
  log: Log,
) {
  if (progressToken === undefined) return undefined;
  let open = true;
  const sending: Promise<void>[] = [];
  const failed = (error: unknown): void =>
    log(`progress was not sent: ${String(error)}`, { event: 'connection.progress', level: 'warning' });
  const progress: RequestContext['progress'] = (...report) => {
    if (open && Number.isFinite(report[0]))
      sending.push(notify(progressOf(progressToken, report)).catch(failed));
  };
  const end = async (): Promise<void> => {
    open = false;
    if (sending.length === 0) return;
    await Promise.all(sending);
    // Clients forget the token when the answer comes: progress that arrives in one chunk with it is lost to them.
    await turn();
  };
  return { progress, end };
}

export function progressOf(
  progressToken: string | number,
  [progress, total, message]: Readonly<Parameters<RequestContext['progress']>>,
) {
  return {
    progressToken,
    progress,
    ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
    ...(message === undefined ? {} : { message: oneLine(String(message)) }),
  };
}

/**
 * The task that a request continues, or what it shares with the same request that is sent again.
 *
 * @throws ProtocolFault -32602 for one that is not a text: a call would be made, and recorded nowhere.
 */
export function continuedTask(
  meta: Readonly<Record<string, unknown>> | undefined,
): Pick<RequestContext, 'continues' | 'idempotencyKey'> | undefined {
  if (meta === undefined) return undefined;
  const text = (key: string): string | undefined => {
    const value = meta[key];
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw new ProtocolFault(faultCodes.invalidParams, `Invalid params: _meta.${key}: must be a string`);
  };
  const [task, step, idempotencyKey] = [text('_task_id'), text('_step'), text('stepwright/idempotencyKey')];
  if (task === undefined) return defined({ idempotencyKey });
  return { continues: { task, ...defined({ step, idempotencyKey }) } };
}

export function changeNotification(change: ServerChange) {
  return change.kind === 'resource'
    ? { method: 'notifications/resources/updated' as const, params: { uri: change.uri } }
    : { method: `notifications/${change.list}/list_changed` as const };
}

/** Settles when the requests of a connection are answered, or after `graceMs`: then those that are left are logged. */
export async function drained(inFlight: InFlight, graceMs: number, log: Log): Promise<void> {
  if (graceMs <= 0) return;
  // A request just received reaches its handler, and an answer just given its transport, within one turn.
  await turn();
  await inFlight.none(graceMs);
  await turn();
  const { count } = inFlight;
  if (count === 0) return;
  const requests = count === 1 ? '1 request was' : `${count} requests were`;
  log(`the client hung up: ${requests} still in flight and aborted`, {
    event: 'connection.aborted',
    level: 'warning',
  });
}

/** Settles in the next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What both eras of the protocol say of a task in the same words. */
export function taskFields({ id, status, message, createdAt, updatedAt }: TaskState) {
  return {
    taskId: id,
    status,
    ...defined({ statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  };
}
