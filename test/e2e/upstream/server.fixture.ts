// An MCP server with tools for tests of upstream calls: over stdio, or for an HTTP server of the test. Lists have pages
// of two tools. The file that `FIXTURE_TOOLS` names replaces the list.
// The argument `2026-07-28` makes it a server of that revision alone, and `both` one that also has those before it.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  EmptyResultSchema,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { inputRequired, Server as ModernServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false } as const;

export const FIXTURE_TOOLS: readonly Tool[] = [
  {
    name: 'echo',
    description: 'Repeats a text.\nTwice if asked.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1 }, twice: { type: 'boolean', default: false } },
      required: ['text'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, key: { type: 'string' } },
      required: ['text'],
    },
    annotations: { readOnlyHint: true },
  },
  { name: 'fail', description: 'Fails', inputSchema: NO_INPUT },
  { name: 'slow', description: 'Reports progress, and waits until it is cancelled', inputSchema: NO_INPUT },
  { name: 'state', description: 'Says how the process is', inputSchema: NO_INPUT },
  { name: 'crash', description: 'Ends the process', inputSchema: NO_INPUT },
];

const PAGE = 2;
let cancelled = 0;

function listed(): readonly Tool[] {
  const file = process.env.FIXTURE_TOOLS;
  return file === undefined ? FIXTURE_TOOLS : (JSON.parse(readFileSync(file, 'utf8')) as Tool[]);
}

/** A page of the tools. */
export function listFixture(cursor: string | undefined): { tools: Tool[]; nextCursor?: string } {
  const from = Number(cursor ?? 0);
  const tools = listed();
  const next = from + PAGE < tools.length ? { nextCursor: String(from + PAGE) } : {};
  return { tools: tools.slice(from, from + PAGE), ...next };
}

interface Exchange {
  readonly signal: AbortSignal;
  readonly meta: Readonly<Record<string, unknown>>;
  notify(notification: ServerNotification): Promise<void>;
}

/** Calls a tool of either era. */
export async function callFixture(
  name: string,
  input: Readonly<Record<string, unknown>>,
  { signal, meta, notify }: Exchange,
): Promise<CallToolResult> {
  switch (name) {
    case 'echo': {
      const { text = '', twice } = input as { text?: string; twice?: boolean };
      const { 'stepwright/idempotencyKey': key, traceparent } = meta;
      const structuredContent = {
        text: twice ? `${text} ${text}` : text,
        ...(key === undefined ? {} : { key }),
        ...(traceparent === undefined ? {} : { traceparent }),
      };
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    }
    case 'fail':
      return { content: [{ type: 'text', text: 'nothing to fail' }], isError: true };
    case 'slow': {
      const progressToken = meta.progressToken as string | number | undefined;
      if (progressToken !== undefined) {
        const report = { progressToken, progress: 1, total: 2, message: 'half way' };
        await notify({ method: 'notifications/progress', params: report });
      }
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      cancelled += 1;
      return { content: [] };
    }
    case 'state': {
      const state = { pid: process.pid, cancelled, secret: process.env.FIXTURE_SECRET ?? '' };
      return { content: [{ type: 'text', text: JSON.stringify(state) }] };
    }
    // The tools below are not in the list.
    case 'announce':
      await notify({ method: 'notifications/tools/list_changed' });
      return { content: [] };
    case 'picture': {
      const { scale } = input as { scale?: number };
      if (scale === 0) return { content: [{ type: 'text', text: 'nothing\nto see' }], isError: true };
      return { content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] };
    }
    case 'crash':
      process.stderr.write(`going down with ${process.env.FIXTURE_SECRET}\n`);
      return process.exit(3);
    default:
      throw new Error(`no tool ${name}`);
  }
}

export function fixtureServer(): Server {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => listFixture(params?.cursor));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { signal, sendNotification, sendRequest }) => {
      if (params.name !== 'ask-client')
        return callFixture(params.name, params.arguments ?? {}, {
          signal,
          meta: params._meta ?? {},
          notify: sendNotification,
        });
      const requests: readonly ServerRequest[] = [
        {
          method: 'elicitation/create',
          params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
        },
        { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        { method: 'roots/list' },
      ];
      const codes = requests.map((request) =>
        sendRequest(request, EmptyResultSchema).then(
          () => 0,
          ({ code }: { readonly code: number }) => code,
        ),
      );
      return { content: [{ type: 'text', text: JSON.stringify(await Promise.all(codes)) }] };
    },
  );
  return server;
}

/** The same for revision 2026-07-28 alone. */
export function modernServer(): ModernServer {
  const server = new ModernServer(
    { name: 'fixture', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler('tools/list', ({ params }) => listFixture(params?.cursor) as never);
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'ask-client') return inputRequired({ requestState: 'state', inputRequests: {} });
    return callFixture(params.name, params.arguments ?? {}, {
      signal: mcpReq.signal,
      meta: mcpReq._meta ?? {},
      notify: (notification) => mcpReq.notify(notification as never),
    }) as never;
  });
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , revisions] = process.argv;
  if (revisions === '2026-07-28') serveStdio(modernServer, { legacy: 'reject' });
  else if (revisions === 'both') serveStdio(modernServer);
  else await fixtureServer().connect(new StdioServerTransport());
}
