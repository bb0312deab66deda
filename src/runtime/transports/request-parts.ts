import { defined } from '../../graph/defined.js';
import { oneLine } from '../../graph/printable-text.js';
import type { RequestContext } from '../runs/request.js';
import type { InFlight } from '../server/requests/limits.js';
import type { ServerChange } from '../server/stepwright-server.js';
import type { Log } from '../tools/log.js';

// Parts of a request, and of what is sent during it, that each version of the protocol has.

/** How long a client waits before it asks for a task again, in ms. */
export const TASK_POLL_MS = 1_000;

/** Headers that prove who a caller is: another program could call in its name by them. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** The headers of a request, as tools see them. Names are in lower case. */
export function shownHeaders(headers: Iterable<readonly [string, unknown]>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (value !== undefined && !SECRET_HEADERS.has(name)) shown[name] = String(value);
  }
  return shown;
}

/** The params of a notification of progress. */
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

/** The task that a request continues, by its `_meta`. */
export function continuedTask(
  meta: Readonly<Record<string, unknown>> = {},
): Pick<RequestContext, 'continues'> {
  const text = (key: string): string | undefined => {
    const value = meta[key];
    return typeof value === 'string' ? value : undefined;
  };
  const [task, step, idempotencyKey] = ['_task_id', '_step', 'stepwright/idempotencyKey'].map(text);
  return task === undefined ? {} : { continues: { task, ...defined({ step, idempotencyKey }) } };
}

/** The notification of a change. */
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
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
