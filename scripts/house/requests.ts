import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { hashToken } from '../../examples/secure/token-file.js';
import { greetingRequest } from '../bench/wire/greetings.js';
import type { Figure } from './figures.js';

/** A file of the product, and how many of its functions ran. */
interface EnteredFile {
  readonly file: string;
  readonly functions: number;
}

/** Requests before the one that counts: what only a first request does is not counted. */
const WARM = 3;

/** So long nothing runs in a server that is idle. */
const IDLE_MS = 100;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The production files that two requests to a warm server enter. */
export async function measureRequests(): Promise<Figure[]> {
  const [prompt, answer] = [await promptFiles(), await answerFiles()];
  return [
    figure('prompts-get', 'files entered by prompts/get', 55, prompt),
    figure('submit-result', 'files entered by submit_result', 50, answer),
  ];
}

function figure(id: string, title: string, target: number, files: readonly EnteredFile[]): Figure {
  const sorted = [...files].sort((a, b) => a.file.localeCompare(b.file));
  const rows = sorted.map(({ file, functions }) => `${functions} ${file}`);
  return { id, title, value: files.length, target, rows };
}

/** A prompt of three steps, over stdio. */
async function promptFiles(): Promise<EnteredFile[]> {
  const server = start('greetings');
  // Both ends of stdio read and write lines.
  const { stdout, stdin } = server;
  const client = await connected(new StdioServerTransport(stdout as Readable, stdin as Writable));
  const request = greetingRequest(3);
  for (let i = 0; i < WARM; i++) await client.getPrompt(request);
  await entered(server);
  await client.getPrompt(request);
  const files = await entered(server);
  await stop(server);
  await client.close();
  return files;
}

/** The answer of a lead that ends a run of examples/approval, over HTTP. */
async function answerFiles(): Promise<EnteredFile[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-house-'));
  const tokens = ['ada', 'bob'].map((subject) => [
    hashToken(subject),
    { subject, roles: ['lead'], scopes: [], audience: 'http://127.0.0.1/mcp', expiresAt: 4_102_444_800 },
  ]);
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(Object.fromEntries(tokens)));
  const server = start('approval', folder);
  try {
    const url = await address(server);
    const [owner, lead] = [await signedIn(url, 'ada'), await signedIn(url, 'bob')];
    const ask = (): Promise<unknown> =>
      owner.callTool({ name: 'w_submit-expense', arguments: { purpose: 'a train ticket', amount: 120 } });
    for (let i = 0; i < WARM; i++) {
      await ask();
      await submit(lead, await openQuestion(lead));
      await entered(server);
    }
    await ask();
    const question = await openQuestion(lead);
    await entered(server);
    await submit(lead, question);
    return await entered(server);
  } finally {
    await stop(server);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openQuestion(client: Client): Promise<object> {
  const { structuredContent } = await client.callTool({ name: 'list_workflows', arguments: {} });
  const { to_answer: questions } = structuredContent as {
    to_answer?: readonly { workflow_id: string; action_id: string }[];
  };
  const question = questions?.[0];
  if (question === undefined) throw new Error('The run asks no question');
  return { workflow_id: question.workflow_id, action_id: question.action_id };
}

async function submit(client: Client, question: object): Promise<void> {
  const { isError } = await client.callTool({
    name: 'submit_result',
    arguments: { ...question, result: true },
  });
  if (isError === true) throw new Error('The answer is refused');
}

function start(...args: string[]): ChildProcess {
  const flags = ['--conditions=@stepwright/source', '--import', './scripts/register.mjs'];
  return spawn(process.execPath, [...flags, 'scripts/house/profiled-server.ts', ...args], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
}

async function address(server: ChildProcess): Promise<URL> {
  let text = '';
  for await (const chunk of server.stderr ?? []) {
    text += chunk;
    const [, url] = /serving MCP at (http:\S+?\/mcp)\b/.exec(text) ?? [];
    if (url !== undefined) return new URL(url);
  }
  throw new Error(`The server ended: ${text}`);
}

async function signedIn(url: URL, token: string): Promise<Client> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return await connected(new StreamableHTTPClientTransport(url, { requestInit }) as Transport);
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'house', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

/** The files entered since the last call, until the server is idle: a run may end after the response. */
async function entered(server: ChildProcess): Promise<EnteredFile[]> {
  const functions = new Map<string, number>();
  for (;;) {
    const reply = once(server, 'message');
    server.send('take');
    const [files] = (await reply) as [EnteredFile[]];
    for (const { file, functions: count } of files) {
      functions.set(file, Math.max(functions.get(file) ?? 0, count));
    }
    if (files.length === 0) return [...functions].map(([file, count]) => ({ file, functions: count }));
    await setTimeout(IDLE_MS);
  }
}

async function stop(server: ChildProcess): Promise<void> {
  const exit = once(server, 'exit');
  server.kill();
  await exit;
}
