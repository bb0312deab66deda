// Starts each server, calls its workflow, kills it, starts it again and answers: `npm install && node run.mjs`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

// One of the libraries serves revision 2026-07-28 alone, the other 2025-11-25.
const NEGOTIATION = { versionNegotiation: { mode: 'auto' } };

/** Calls a tool of a server that is killed afterwards. */
async function callOnce(program, cwd, name, args) {
  const transport = new StdioClientTransport({ command: process.execPath, args: [program], cwd });
  const client = new Client({ name: 'compare', version: '0.1.0' }, NEGOTIATION);
  await client.connect(transport);
  const { content } = await client.callTool({ name, arguments: args });
  process.kill(transport.pid, 'SIGKILL');
  await client.close();
  return JSON.parse(content[0].text);
}

for (const program of ['mastra.js', 'fastmcp.js']) {
  const folder = mkdtempSync(join(tmpdir(), 'compare-'));
  const file = join(import.meta.dirname, program);
  const { run, question } = await callOnce(file, folder, 'tidy-notes', { word: 'old' });
  const { status, result } = await callOnce(file, folder, 'answer', { run, sure: true });
  console.log(program, question, status, result);
  rmSync(folder, { recursive: true });
  if (question !== 'Delete 1 notes?' || result?.deleted !== 1) process.exitCode = 1;
}
