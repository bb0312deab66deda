import { type ChildProcess, spawn } from 'node:child_process';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessHttp,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { StdioServerTransport as StatelessStdio } from '@modelcontextprotocol/server/stdio';
import { cpuTime } from '../measure.js';

/** The era of the protocol that a client speaks: up to 2025-11-25, or from 2026-07-28 on. */
export type Era = 'sessions' | 'stateless';

interface Asked {
  readonly name: string;
  readonly arguments: Record<string, string>;
}

/** What the measurements do with the clients of both versions of the SDK. */
export interface BenchClient {
  getPrompt(asked: Asked): Promise<object>;
  callTool(asked: Asked): Promise<object>;
  listTools(): Promise<{ readonly tools: readonly object[] }>;
  close(): Promise<void>;
}

/** A client of a server. */
export interface Channel {
  readonly client: BenchClient;
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
  return overSocket(
    (request, response) => void session.handleRequest(request, response),
    (url) => connected(new StreamableHTTPClientTransport(url) as Transport),
  );
}

/** Client and server in this process, and requests over HTTP that are complete in themselves. */
export function overStatelessHttp(answer: (request: Request) => Promise<Response>): Promise<Channel> {
  return overSocket(getRequestListener(answer, { overrideGlobalObjects: false }), (url) =>
    connectedStateless(new StatelessHttp(url)),
  );
}

async function overSocket(
  listener: RequestListener,
  connect: (url: URL) => Promise<BenchClient>,
): Promise<Channel> {
  const http = createHttpServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const client = await connect(new URL(`http://127.0.0.1:${port}/mcp`));
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
export async function overStdio(
  program: string,
  args: readonly string[],
  era: Era = 'sessions',
): Promise<Channel> {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const flags = ['--conditions=@stepwright/source', '--import', './scripts/register.mjs'];
  const child = spawn(process.execPath, [...flags, `scripts/bench/wire/${program}`, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const client = await connectedOver(child, era);
  const cpu = async (): Promise<number> => cpuTime() + (await cpuOf(child));
  const close = async (): Promise<void> => {
    child.stdin?.end();
    child.disconnect();
    await ended;
    await client.close();
  };
  return { client, cpu, close };
}

/** A client of a server over the stdio of its process. */
export function connectedOver({ stdout, stdin }: ChildProcess, era: Era): Promise<BenchClient> {
  // Both ends of stdio read and write lines.
  const ends = [stdout as Readable, stdin as Writable] as const;
  return era === 'sessions'
    ? connected(new StdioServerTransport(...ends))
    : connectedStateless(new StatelessStdio(...ends));
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

async function connectedStateless(transport: StatelessTransport): Promise<BenchClient> {
  const client = new StatelessClient(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(transport);
  return client;
}

type StatelessTransport = Parameters<StatelessClient['connect']>[0];

async function connected(transport: Transport): Promise<BenchClient> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return client;
}
