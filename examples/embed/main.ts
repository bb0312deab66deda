import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { attach } from 'stepwright/runtime';
import { registry } from './generated/embed.registry.js';
import { stock } from './stock.js';

const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
mcp.registerTool('products', { description: 'List the products' }, () => ({
  content: [{ type: 'text', text: [...stock.keys()].join(', ') }],
}));

await attach(mcp, registry);
await mcp.connect(new StdioServerTransport());
