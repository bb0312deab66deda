import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { GetPromptRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createServer, fetchHandler, type Middleware, nodeHandler } from 'stepwright/runtime';
import { registry } from '../../examples/greeting/generated/greeting.registry.js';
import { greetings } from '../bench/wire/greetings.js';

// Started as `server.ts stepwright|raw`, with an IPC channel: sends `{ port }`, then answers each message with its use of
// CPU and memory.

/** Guests whose greeting is slow. */
const slow: Middleware = {
  name: 'slow',
  onRequest: async ({ input }) => {
    if (String(input.name).startsWith('slow ')) await new Promise((resolve) => setTimeout(resolve, 100));
  },
};

function stepwright() {
  const workflows = [1, 3, 200].map((count) => greetings(count).build());
  const server = createServer(registry, { workflows, middleware: [slow], log: () => {} });
  return nodeHandler(fetchHandler(server, { log: () => {} }));
}

/** The same conversation by hand, as the documentation of the SDK serves without sessions: a server for each request. */
function raw() {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const server = new Server({ name: 'raw', version: '1.0.0' }, { capabilities: { prompts: {} } });
    server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
      const guest = params.arguments?.name ?? '';
      const text = (words: string) => ({ type: 'text' as const, text: words });
      const steps = [1, 2, 3].flatMap((step) => [
        {
          role: 'assistant' as const,
          content: text(`Step ${step}: greet ${JSON.stringify({ name: guest })}`),
        },
        { role: 'user' as const, content: text(JSON.stringify({ greeting: `Hi ${guest}!` })) },
      ]);
      return { messages: [{ role: 'user' as const, content: text(`Greet ${guest}`) }, ...steps] };
    });
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.once('close', () => void server.close());
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
  };
}

const http = createHttpServer(process.argv[2] === 'raw' ? raw() : stepwright());
http.listen(0, '127.0.0.1', () => process.send?.({ port: (http.address() as AddressInfo).port }));
process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  http.getConnections((_error, connections) => {
    process.send?.({ cpuMs: (user + system) / 1_000, heap: process.memoryUsage().heapUsed, connections });
  });
});
process.on('disconnect', () => process.exit());
