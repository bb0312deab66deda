import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionLost, type TravelAgency } from './agency.js';
import { Failures, TOOL_NAMES } from './failures.js';
import { Refusal } from './refusal.js';

/** The agency as a service on the network. */
export interface RunningService {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Lets the process end while the service runs. */
  unref(): void;
  close(): Promise<void>;
}

/** What an answer has: a status and JSON. */
type Answer = readonly [status: number, body: unknown];

/** The longest body, in characters. */
const MOST = 65_536;

/**
 * Serves an agency on the loopback interface.
 *
 * - `POST /NAME` does the work of an endpoint: input and result are JSON, `Idempotency-Key` is a header. Refusals are 409
 *   with `{ code, message }`, 503 for `E_UNAVAILABLE`.
 * - `GET /ledger` shows what was booked, charged and undone.
 * - `PUT /failures` takes switches as text, in place of those before.
 *
 * @param port Default: a free one.
 */
export async function startService(agency: TravelAgency, port = 0): Promise<RunningService> {
  const server = createServer((request, response) => {
    answer(agency, request, response).catch((error: unknown) => {
      if (error instanceof ConnectionLost || response.destroyed) request.socket.destroy();
      else send(response, [500, { code: 'E_SERVICE', message: String(error) }]);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    unref: () => void server.unref(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  agency: TravelAgency,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    send(response, await answerTo(agency, request, gone.signal));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    send(response, [code === 'E_UNAVAILABLE' ? 503 : 409, { code, message }]);
  }
}

async function answerTo(
  agency: TravelAgency,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Answer> {
  const { method, url, headers } = request;
  if (method === 'GET' && url === '/ledger') return [200, agency.ledger];
  const text = await bodyOf(request);
  if (text === undefined)
    return [413, { code: 'E_BODY', message: `The body has more than ${MOST} characters` }];
  if (method === 'PUT' && url === '/failures') {
    try {
      agency.failures = Failures.parse(text);
    } catch (error) {
      return [400, { code: 'E_FAILURES', message: (error as RangeError).message }];
    }
    return [200, {}];
  }
  const name = TOOL_NAMES.find((each) => `/${each}` === url);
  if (method !== 'POST' || name === undefined)
    return [404, { code: 'E_ENDPOINT', message: `There is no ${method} ${url}` }];
  const input = objectIn(text);
  if (input === undefined) return [400, { code: 'E_BODY', message: 'The body is not a JSON object' }];
  const key = headers['idempotency-key'];
  return [
    200,
    await agency.call(name, input as never, {
      signal,
      ...(typeof key === 'string' ? { idempotencyKey: key } : {}),
    }),
  ];
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  let text = '';
  request.setEncoding('utf8');
  for await (const part of request) {
    text += part;
    if (text.length > MOST) return undefined;
  }
  return text;
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, [status, body]: Answer): void {
  // A connection for each request: none is left open when the process is to end.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(body));
}
