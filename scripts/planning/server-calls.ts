import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type CallToolResult, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

/** Where an agent reaches the workflow server: at an address, or as a program that it starts itself. */
export type ServerPlace = { readonly url: string } | { readonly program: string; readonly folder: string };

/** A server on Temporal starts in seconds, on a busy machine in many. */
const RESTART_MS = 120_000;
const PAUSE_MS = 50;

/** Calls of a server that may be killed at any time: a call without an answer is repeated on the next server. */
export class ServerCalls {
  readonly #place: ServerPlace;
  #client: Promise<Client> | undefined;
  /** The process of a server that this agent has started. */
  pid: number | undefined;

  constructor(place: ServerPlace) {
    this.#place = place;
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
    const until = Date.now() + RESTART_MS;
    for (;;) {
      try {
        this.#client ??= this.#connect();
        const client = await this.#client;
        return (await client.callTool({ name, arguments: args })) as CallToolResult;
      } catch (fault) {
        if (Date.now() > until || isAnswer(fault)) throw fault;
        await this.close();
        await setTimeout(PAUSE_MS);
      }
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.close().catch(() => undefined);
  }

  async #connect(): Promise<Client> {
    const client = new Client({ name: 'planning-agent', version: '0.1.0' });
    const place = this.#place;
    if ('url' in place) {
      await client.connect(new StreamableHTTPClientTransport(new URL(place.url)) as Transport);
      return client;
    }
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [place.program, place.folder],
      env: process.env as Record<string, string>,
      stderr: 'ignore',
    });
    await client.connect(transport);
    this.pid = transport.pid ?? undefined;
    return client;
  }
}

/** Whether a server has answered, with an error of the protocol. */
function isAnswer(fault: unknown): boolean {
  if (!(fault instanceof McpError)) return false;
  return fault.code !== ErrorCode.ConnectionClosed && fault.code !== ErrorCode.RequestTimeout;
}
