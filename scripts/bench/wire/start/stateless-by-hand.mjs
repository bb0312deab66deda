import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { tellCosts, tools } from './tools.mjs';

// The server by hand, on the low-level server of version 2 of the SDK, which answers both eras.
tellCosts();
serveStdio(() => {
  const server = new Server({ name: 'by-hand', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', () => ({ content: [] }));
  return server;
});
