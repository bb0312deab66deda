import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { clientWith, type User } from '../composite/client.js';

export const TRANSPORTS = ['stdio', 'http'] as const;

/** A server of the fixture in a process of its own. It ends with the test. */
export interface ServerProcess {
  /** A further client; over stdio there is one. With `user`, one that can put questions to somebody. */
  client(user?: User): Promise<Client>;
  kill(signal: NodeJS.Signals): void;
  stderr(): string;
  /** Resolves when stderr holds a text. Rejects when the process ends without it. */
  says(text: string): Promise<void>;
  /** The exit code; null for a process that a signal ended. */
  readonly exit: Promise<number | null>;
}

export interface HttpProcess extends ServerProcess {
  readonly port: number;
}

/** Compiles the fixture. The caller removes the result. */
export function compileServer(): Promise<CompiledPrograms> {
  return compilePrograms({ program: fileURLToPath(new URL('fixture/program.ts', import.meta.url)) });
}

export async function startHttp(programs: CompiledPrograms, drainMs: number, port = 0): Promise<HttpProcess> {
  const args = [programs.file('program'), 'http', String(drainMs), String(port)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = watch(child.stderr);
  await output.says('serving MCP at ');
  const found = Number(/serving MCP at http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(output.stderr())?.[1]);
  return {
    ...output,
    ...processOf(child),
    port: found,
    async client(user) {
      const url = new URL(`http://127.0.0.1:${found}/mcp`);
      const requestInit = { headers: { authorization: 'Bearer ada' } };
      return connected(new StreamableHTTPClientTransport(url, { requestInit }) as Transport, user);
    },
  };
}

/** The process starts with its client: the transport of the SDK owns it. */
export async function startStdio(
  programs: CompiledPrograms,
  drainMs: number,
  user?: User,
): Promise<ServerProcess> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programs.file('program'), 'stdio', String(drainMs)],
    stderr: 'pipe',
  });
  const output = watch(transport.stderr as Readable);
  const client = await connected(transport, user);
  // The SDK does not report how the process ended.
  const child = Reflect.get(transport, '_process') as ChildProcess;
  return { ...output, ...processOf(child), client: async () => client };
}

export function start(
  transport: (typeof TRANSPORTS)[number],
  programs: CompiledPrograms,
  drainMs: number,
  user?: User,
): Promise<ServerProcess> {
  return transport === 'stdio' ? startStdio(programs, drainMs, user) : startHttp(programs, drainMs);
}

async function connected(transport: Transport, user: User | undefined): Promise<Client> {
  const client = clientWith(user);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

function processOf(child: ChildProcess): Pick<ServerProcess, 'kill' | 'exit'> {
  return {
    kill: (signal) => void child.kill(signal),
    exit: once(child, 'exit').then(([code]: (number | null)[]) => code ?? null),
  };
}

function watch(stream: Readable): Pick<ServerProcess, 'stderr' | 'says'> {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    stderr: () => text,
    async says(wanted) {
      while (!text.includes(wanted)) {
        if (stream.readableEnded) throw new Error(`the process ended without saying '${wanted}': ${text}`);
        await Promise.race([once(stream, 'data'), once(stream, 'end')]);
      }
    },
  };
}
