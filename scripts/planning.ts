import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { Memory } from '../examples/durable/memory.js';
import type { AgentLine, AgentTask } from './planning/agent.js';
import { storeOption } from './story.js';

// A plan, made by a main agent and sub-agents in processes of their own, over HTTP and stdio. Every second result of a step
// kills the server that it is sent to: `npm run planning [-- --store NAME]`.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'stepwright-planning-'));
const PROGRAMS = join(ROOT, 'node_modules/.cache/stepwright-planning');

const store = await storeOption(folder);
if (store !== undefined) process.env.STEPWRIGHT_STORE = store;

// Compiled once: they start often.
buildSync({
  entryPoints: {
    server: join(ROOT, 'examples/durable/main.ts'),
    tools: join(ROOT, 'examples/durable/tools.ts'),
    agent: join(ROOT, 'scripts/planning/agent.ts'),
  },
  outdir: PROGRAMS,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  packages: 'external',
  alias: { 'stepwright/runtime': join(ROOT, 'src/runtime/index.ts'), stepwright: join(ROOT, 'src/index.ts') },
  platform: 'node',
  format: 'esm',
  target: 'es2022',
  keepNames: true,
  logLevel: 'error',
});

const program = (name: string): string => join(PROGRAMS, `${name}.mjs`);

/** A server over HTTP that is started again, at the same address, whenever it ends. */
class HttpServer {
  readonly url: string;
  #child: ChildProcess | undefined;
  #isOpen = true;

  private constructor(private readonly port: number) {
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.#start();
  }

  static async open(): Promise<HttpServer> {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    probe.close();
    if (typeof address !== 'object' || address === null) throw new Error('no port is free');
    return new HttpServer(address.port);
  }

  #start(): void {
    this.#child = spawn(process.execPath, [program('server'), folder, String(this.port)], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    this.#child.once('exit', () => {
      if (this.#isOpen) this.#start();
    });
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

let results = 0;
let killed = 0;

/** Kills the server of every second result. */
function killFor(line: Extract<AgentLine, { step: string }>, server: HttpServer): boolean {
  results += 1;
  if (results % 2 === 1) return false;
  killed += 1;
  if (line.pid === undefined) server.kill();
  else process.kill(line.pid, 'SIGKILL');
  return true;
}

type Outcome = Extract<AgentLine, { answer: unknown }>;

/** Has a main agent go through the workflow, and tells what happens. Returns the answer that ends it. */
async function plan(task: AgentTask, server: HttpServer): Promise<Outcome> {
  const child = spawn(process.execPath, [program('agent'), JSON.stringify(task)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let outcome: Outcome | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as AgentLine;
    if ('step' in line) {
      const isKilled = killFor(line, server);
      console.log(`  ${line.agent}: ${line.step}${isKilled ? ' (the server is killed)' : ''}`);
    } else if (line.agent === 'main agent') outcome = line;
    else console.log(`  ${line.agent} is done: ${line.answer.status}`);
  }
  if (outcome === undefined) throw new Error('the main agent ended without an answer');
  return outcome;
}

async function main(): Promise<void> {
  const server = await HttpServer.open();
  const http = { url: server.url };
  const stdio = { program: program('server'), folder };
  const tools = [program('tools'), folder] as const;
  try {
    console.log(
      'A plan with five research tasks: the main agent over HTTP, sub-agents over stdio. The user approves.',
    );
    const approved = await plan(
      {
        ...{ server: http, subAgentServer: stdio, tools, tasks: 5, isApproved: true },
        wish: 'sign users in to a Next.js site',
      },
      server,
    );
    tell(approved);
    console.log('A plan with two: the main agent over stdio, sub-agents over HTTP. The user rejects it.');
    const rejected = await plan(
      {
        ...{ server: stdio, subAgentServer: http, tools, tasks: 2, isApproved: false },
        wish: 'fly to the moon',
      },
      server,
    );
    tell(rejected);
    const keys = new Memory(folder).entries().map(({ key }) => key.replace(/_.*/, ''));
    const count = (kind: string): number => keys.filter((key) => key === kind).length;
    console.log(`The agents remember ${count('research')} topics and ${count('plan')} plan.`);
    console.log(`${killed} servers were killed for ${results} results. Each step was done once.`);
  } finally {
    await server.close();
  }
}

/** Prints how a run ended, and its state. */
function tell({ answer, state }: Outcome): void {
  console.log(`  the run: ${answer.status}`);
  for (const [field, value] of Object.entries(state ?? {})) {
    const text = JSON.stringify(value);
    console.log(`  state.${field}: ${text.length > 100 ? `${text.slice(0, 99)}…` : text}`);
  }
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
