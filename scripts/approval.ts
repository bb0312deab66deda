import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { hashToken } from '../examples/secure/token-file.js';
import { compileProgram } from './compile-program.js';
import { check, say, storeOption } from './story.js';

// Two people, a server over HTTP that is killed between each two steps, and books outside of it: `npm run approval [-- --store NAME]`.

interface Envelope {
  readonly workflow_id: string;
  readonly status: string;
  readonly result?: unknown;
  readonly text?: string;
  readonly to_answer?: readonly { readonly workflow_id: string; readonly action_id: string }[];
  readonly runs?: readonly Envelope[];
}

const USERS = { ada: ['lead'], bob: ['lead'] };
type User = keyof typeof USERS;

const folder = mkdtempSync(join(tmpdir(), 'stepwright-approval-'));
const store = (await storeOption(folder)) ?? `sqlite:${join(folder, 'runs.db')}`;

// Compiled once: it starts often.
const PROGRAM = compileProgram('scripts/approval-server.ts', 'stepwright-approval');

/** The server in a process of its own. `killedAfter` is the entry of the books that ends it. */
class Server {
  static count = 0;
  readonly ended: Promise<unknown>;

  private constructor(
    readonly url: URL,
    private readonly process: ChildProcess,
  ) {
    this.ended = once(process, 'exit');
    Server.count += 1;
  }

  static async start(killedAfter = ''): Promise<Server> {
    const child = spawn(process.execPath, [PROGRAM, folder, store, killedAfter], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let said = '';
    const url = await new Promise<URL>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const [, address] = /serving MCP at (http:\S+?\/mcp)\b/.exec(said) ?? [];
        if (address !== undefined) resolve(new URL(address));
      });
      child.once('exit', () => reject(new Error(`the server ended: ${said}`)));
    });
    return new Server(url, child);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  async call(user: User, name: string, args: Record<string, unknown> = {}): Promise<Envelope> {
    const client = new Client({ name: 'stepwright-approval', version: '0.1.0' });
    const requestInit = { headers: { authorization: `Bearer ${user}-token` } };
    await client.connect(new StreamableHTTPClientTransport(this.url, { requestInit }) as Transport);
    try {
      const { structuredContent, content } = (await client.callTool({
        name,
        arguments: args,
      })) as CallToolResult;
      const [said] = content;
      // A refusal is text for the model, and no run.
      const refusal = { workflow_id: '', status: 'refused', text: said?.type === 'text' ? said.text : '' };
      return (structuredContent ?? refusal) as unknown as Envelope;
    } finally {
      await client.close();
    }
  }

  /** The status of a run as soon as it is one of these. */
  async reaches(user: User, workflow_id: string, ...statuses: readonly string[]): Promise<Envelope> {
    for (;;) {
      const envelope = await this.call(user, 'get_workflow_status', { workflow_id });
      if (statuses.includes(envelope.status)) return envelope;
      await setTimeout(20);
    }
  }
}

/** What the books say, each entry as its kind and its amount. */
function books(): string[] {
  const lines = readFileSync(join(folder, 'books.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line)).map(({ kind, amount }) => `${kind} ${amount}`);
}

/** Submits an expense to a server that is killed once the budget is reserved. Returns the run's id, found afterwards. */
async function submit(purpose: string, amount: number): Promise<string> {
  say(`Ada submits '${purpose}'; the server is killed as soon as the budget is reserved.`);
  const mortal = await Server.start('reserved');
  await mortal.call('ada', 'w_submit-expense', { purpose, amount }).catch(() => undefined);
  await mortal.ended;
  const server = await Server.start();
  const { runs = [] } = await server.call('ada', 'list_workflows');
  const [run] = runs.filter(({ status }) => status !== 'completed');
  if (run === undefined) throw new Error('the run is lost');
  await server.reaches('ada', run.workflow_id, 'waiting');
  await server.kill();
  return run.workflow_id;
}

/** Bob answers what he is asked, on a server that is killed after an entry of the books. */
async function answer(result: boolean, killedAfter: string): Promise<void> {
  say(`Bob ${result ? 'approves' : 'declines'}; the server is killed as soon as it has ${killedAfter}.`);
  const mortal = await Server.start(killedAfter);
  const [question] = (await mortal.call('bob', 'list_workflows')).to_answer ?? [];
  if (question === undefined) throw new Error('nothing asks Bob');
  const { workflow_id, action_id } = question;
  await mortal.call('bob', 'submit_result', { workflow_id, action_id, result }).catch(() => undefined);
  await mortal.ended;
}

async function main(): Promise<void> {
  const users = Object.entries(USERS).map(([subject, roles]) => [
    hashToken(`${subject}-token`),
    { subject, roles, scopes: [], audience: 'http://127.0.0.1/mcp', expiresAt: 4_102_444_800 },
  ]);
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(Object.fromEntries(users)));

  const paid = await submit('a train ticket', 120);
  check('the books', books(), ['reserved 120']);
  const server = await Server.start();
  say('Ada, although a lead, tries to approve it.');
  const own = await server.call('ada', 'submit_result', { workflow_id: paid, result: true });
  check('her answer', own.status, 'refused');
  say(`  ${own.text}`);
  check('what asks her', (await server.call('ada', 'list_workflows')).to_answer ?? [], []);
  await server.kill();
  await answer(true, 'paid');
  const second = await Server.start();
  const done = await second.reaches('ada', paid, 'completed', 'failed');
  check('the run', [done.status, done.result], ['completed', { payment: 'E-2' }]);
  check('the books', books(), ['reserved 120', 'paid 120']);
  await second.kill();

  const refused = await submit('a rocket', 9000);
  await answer(false, 'released');
  const third = await Server.start();
  const failed = await third.reaches('ada', refused, 'completed', 'failed');
  check('the run', failed.status, 'failed');
  check('the books', books(), ['reserved 120', 'paid 120', 'reserved 9000', 'released 9000']);
  await third.kill();
  say(`${Server.count} servers were killed. Nothing was lost, and nothing was done twice.`);
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
