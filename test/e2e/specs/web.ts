import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A web server of this test. */
export interface Web {
  readonly origin: string;
  readonly port: number;
  /** The requests that it got. */
  readonly requests: readonly IncomingMessage[];
}

/** Serves over HTTP at an address of this machine until the test ends. */
export async function web(answer: RequestListener, host = '127.0.0.1'): Promise<Web> {
  const requests: IncomingMessage[] = [];
  const http = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, host, resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { origin: `http://${host}:${port}`, port, requests };
}

/** Answers with a text of YAML. */
export function yaml(text: string): RequestListener {
  return (_request, response) => send(response, text);
}

export function send(response: ServerResponse, text: string, type = 'application/yaml'): void {
  response.writeHead(200, { 'content-type': type });
  response.end(text);
}
