import { type ChildProcess, spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { cpuTime } from '../measure.js';

/** A client of a server. */
export interface Channel {
  readonly client: Client;
  /** CPU time in µs of all processes involved. */
  cpu(): number | Promise<number>;
  close(): Promise<void>;
}

/** Connects a server to the end of a transport. */
export type Serve = (transport: Transport) => Promise<unknown>;

/** Client and server in this process, without a wire. */
export async function inMemory(serve: Serve): Promise<Channel> {
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await serve(toClient);
  const client = await connected(toServer);
  return { client, cpu: cpuTime, close: () => client.close() };
}

/** Client and server in this process, with a session over HTTP between them. */
export async function overHttp(serve: Serve): Promise<Channel> {
  const session = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
  await serve(session as Transport);
  const http = createHttpServer((request, response) => void session.handleRequest(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const client = await connected(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)) as Transport,
  );
  const close = async (): Promise<void> => {
    await client.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  return { client, cpu: cpuTime, close };
}

/**
 * A server in a separate process, over stdio.
 *
 * @param program see `stdio-server.ts`.
 */
export async function overStdio(program: string, args: readonly string[]): Promise<Channel> {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const flags = ['--conditions=@stepwright/source', '--import', './scripts/register.mjs'];
  const child = spawn(process.execPath, [...flags, `scripts/bench/wire/${program}`, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // Both ends of stdio read and write lines.
  const client = await connected(new StdioServerTransport(child.stdout as Readable, child.stdin as Writable));
  const cpu = async (): Promise<number> => cpuTime() + (await cpuOf(child));
  const close = async (): Promise<void> => {
    child.stdin?.end();
    child.disconnect();
    await ended;
    await client.close();
  };
  return { client, cpu, close };
}

function cpuOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (cpu) => resolve(Number(cpu)));
    child.send('cpu');
  });
}

/** Sends the CPU time of this process to its parent process on request. */
export function tellCpuTime(): void {
  process.on('message', () => process.send?.(cpuTime()));
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return client;
}
