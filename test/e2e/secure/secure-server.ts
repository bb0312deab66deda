import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { hashToken } from '../../../examples/secure/token-file.js';
import { programWithPackage } from '../../built-package.js';
import { type Answer, callOf, clientWith, type User } from '../composite/client.js';
import { ROOT } from '../examples/example-client.js';

const RESOURCE = 'https://pay.example.com/mcp';
const BOTH = ['payments:read', 'payments:write'];
const VALID = { scopes: BOTH, audience: RESOURCE, expiresAt: 4_102_444_800 };

/** The identity behind each token. */
const TOKENS = {
  ada: { ...VALID, subject: 'ada' },
  /** A lead, who submits invoices as well. */
  bob: { ...VALID, subject: 'bob', roles: ['lead'] },
  reader: { ...VALID, subject: 'eve', scopes: ['payments:read'] },
  expired: { ...VALID, subject: 'ada', expiresAt: 1_000_000_000 },
  foreign: { ...VALID, subject: 'ada', audience: 'https://other.example.com/mcp' },
};

/** A token of the test, or one that the server does not know. */
export type Token = keyof typeof TOKENS | 'unknown';

/** The server of the example, in a process of its own. */
export class SecureServer {
  private constructor(
    readonly url: URL,
    readonly child: ChildProcess,
    readonly folder: string,
  ) {}

  static async start(): Promise<SecureServer> {
    const folder = await mkdtemp(join(tmpdir(), 'stepwright-secure-'));
    const entries = Object.entries(TOKENS).map(([token, entry]) => [hashToken(token), entry]);
    const file = join(folder, 'tokens.json');
    await writeFile(file, JSON.stringify(Object.fromEntries(entries)));
    const child = spawn(process.execPath, [programWithPackage('examples/secure/main.ts')], {
      cwd: ROOT,
      env: { ...process.env, SECURE_TOKENS: file, SECURE_RESOURCE: RESOURCE, SECURE_PORT: '0' },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    return new SecureServer(await addressOf(child), child, folder);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
    await rm(this.folder, { recursive: true });
  }

  /** A client in a session of its own if it has a `user`. It ends with the test. */
  async client(token: Token, user?: User) {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(this.url, { requestInit });
    const client = clientWith(user);
    await client.connect(transport as Transport);
    onTestFinished(() => client.close());
    return { client, transport };
  }

  async call(token: Token, name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    const { client } = await this.client(token);
    const answer = await callOf(client, name, args);
    await client.close();
    return answer;
  }

  /** A request without a client: its status, challenge and body. */
  async send(headers: Record<string, string>, method: string, params: object = {}) {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const challenge = response.headers.get('www-authenticate');
    return { status: response.status, challenge, body: await response.text() };
  }
}

/** Resolves when the server prints its address; rejects when its process ends first. */
function addressOf(child: ChildProcess): Promise<URL> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, address] = /serving MCP at (http:\S+?\/mcp)\b/.exec(said) ?? [];
      if (address !== undefined) resolve(new URL(address));
    });
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
}
