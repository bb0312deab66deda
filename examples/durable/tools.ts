import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { analyzeCode, analyzeText } from './analysis.js';
import { Memory } from './memory.js';

// The tools of an agent, in a server of their own: the workflow server calls none of them. Argument: the folder of its files.

const memory = new Memory(process.argv[2] ?? '.');

const server = new McpServer({ name: 'agent-tools', version: '0.1.0' });

server.registerTool(
  'save_to_memory',
  { description: 'Remembers a value under a key', inputSchema: { key: z.string(), value: z.unknown() } },
  ({ key, value }) => {
    memory.save(key, value);
    return result({ saved: true, key });
  },
);

server.registerTool(
  'analyze_text',
  { description: 'Quotes what matters to a task', inputSchema: { text: z.string(), task: z.string() } },
  ({ text, task }) => result({ result: analyzeText(text, task) }),
);

server.registerTool(
  'code_analyzer',
  {
    description: 'Analyses code by rules',
    inputSchema: { code: z.string(), checks: z.array(z.string()) },
  },
  ({ code, checks }) => result({ ...analyzeCode(code, checks) }),
);

server.registerTool(
  'web_search',
  {
    description: 'Stub: makes results up, and reaches no web',
    inputSchema: { query: z.string(), max_results: z.number().int().positive() },
  },
  ({ query, max_results }) => {
    const urls = Array.from({ length: Math.min(max_results, 3) }, (_, index) => {
      return `https://example.org/${encodeURIComponent(query.toLowerCase())}/${index + 1}`;
    });
    return result({ stub: true, urls, snippets: [`What is written about: ${query}.`] });
  },
);

server.registerTool(
  'github.get_pr',
  { description: 'Stub: a pull request of as many files as its number', inputSchema: { pr: z.number() } },
  ({ pr }) => result({ stub: true, pr, files_changed: pr }),
);

const stubs: Readonly<Record<string, z.ZodRawShape>> = {
  'github.merge_pr': { pr: z.number(), method: z.string() },
  'github.comment_pr': { pr: z.number(), comment: z.string() },
  'slack.notify': { channel: z.string(), message: z.string() },
  'kubernetes.apply': { manifest: z.string() },
};

for (const [name, inputSchema] of Object.entries(stubs)) {
  const description = 'Stub: takes note of its input, and reaches nobody';
  server.registerTool(name, { description, inputSchema }, (input) => {
    memory.note(name, input);
    return result({ stub: true, ok: true });
  });
}

function result(value: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}

await server.connect(new StdioServerTransport());
