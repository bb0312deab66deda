import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect, createServer } from 'stepwright/runtime';
import { Greet } from '../../../examples/greeting/greet.tool.js';
import { registry } from '../../../generated/greeting.registry.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

const request = { name: 'greet', arguments: { name: 'Ada' } };

/** What a `tools/call` costs through the server, against a handler on the bare SDK that looks at nothing. */
export async function server(sizes: Sizes): Promise<Row[]> {
  const [ours, bare] = [await connectedToOurs(), await connectedToBare()];
  const costs = await inTurns(
    {
      ours: timed(1, sizes.goMs, () => ours.callTool(request)),
      bare: timed(1, sizes.goMs, () => bare.callTool(request)),
    },
    sizes,
  );
  await Promise.all([ours.close(), bare.close()]);
  const peer = { name: 'the bare SDK', value: costs.bare };
  return [row({ name: 'tools/call, in memory', unit: 'µs', ours: costs.ours, peer })];
}

async function connectedToOurs(): Promise<Client> {
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await connect(createServer(registry), toClient);
  return connected(toServer);
}

async function connectedToBare(): Promise<Client> {
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  const bare = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  const tool = new Greet();
  bare.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const result = tool.execute(params.arguments as { name: string });
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  });
  await bare.connect(toClient);
  return connected(toServer);
}

async function connected(transport: InMemoryTransport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return client;
}
