import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

// Load and faults on loopback: `npm run load`. It ends with exit code 1 when an answer is wrong, the server is gone, or
// memory is not given back. The figures are ratios against the raw SDK, in the same run.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONCURRENT = 200;
const ROUNDS = 10;
/** Garbage of the runtime itself: caches of code, pools of buffers. */
const HEAP_SLACK = 8 * 1024 * 1024;

interface Use {
  readonly cpuMs: number;
  readonly heap: number;
  readonly connections: number;
}

interface Peer {
  readonly port: number;
  readonly agent: Agent;
  use(): Promise<Use>;
  close(): void;
}

async function start(kind: 'stepwright' | 'raw'): Promise<Peer> {
  const flags = ['--expose-gc', '--conditions=@stepwright/source', '--import', './scripts/register.mjs'];
  const child: ChildProcess = spawn(process.execPath, [...flags, 'scripts/load/server.ts', kind], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });
  return {
    port,
    agent,
    use: async () => {
      if (child.exitCode !== null) throw new Error(`the server has ended with exit code ${child.exitCode}`);
      child.send('use');
      const [use] = (await once(child, 'message')) as [Use];
      return use;
    },
    close: () => {
      agent.destroy();
      child.disconnect();
    },
  };
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

let sent = 0;

function promptFor(guest: string, steps: number): { readonly id: number; readonly body: string } {
  sent += 1;
  const params = { name: `greetings-${steps}`, arguments: { name: guest } };
  return { id: sent, body: JSON.stringify({ jsonrpc: '2.0', id: sent, method: 'prompts/get', params }) };
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

function post({ port, agent }: Peer, body: string, signal?: AbortSignal): Promise<Reply> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const options = {
      port,
      agent,
      path: '/mcp',
      method: 'POST',
      headers: HEADERS,
      ...(signal && { signal }),
    };
    const sending = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - began }),
      );
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

/** Asks for the conversation with one guest, and checks that the answer is about nobody else. */
async function greet(peer: Peer, guest: string, steps = 3): Promise<number> {
  const { id, body } = promptFor(guest, steps);
  const { status, text, ms } = await post(peer, body);
  const answer = JSON.parse(text) as { id?: number; result?: { messages?: unknown[] } };
  const guests = new Set(text.match(/guest-\d+/g));
  if (status !== 200 || answer.id !== id || answer.result?.messages === undefined)
    throw new Error(`a wrong answer for ${guest}: ${status} ${text.slice(0, 300)}`);
  if (guests.size !== 1 || !guests.has(guest.replace('slow ', '')))
    throw new Error(`the answer for ${guest} is about ${[...guests].join(', ')}`);
  return ms;
}

/** The latencies of many prompts at once, in ms. */
function burst(peer: Peer): Promise<number[]> {
  return Promise.all(Array.from({ length: CONCURRENT }, (_, index) => greet(peer, `guest-${sent + index}`)));
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Prompts of both servers in turn: the machine is as busy for one as for the other. */
async function compare(stepwright: Peer, raw: Peer): Promise<void> {
  const peers = { stepwright, raw };
  const found = { stepwright: [] as number[], raw: [] as number[] };
  for (const peer of [stepwright, raw]) await burst(peer);
  const before = { stepwright: await stepwright.use(), raw: await raw.use() };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['stepwright', 'raw'] as const) found[name].push(...(await burst(peers[name])));
  }
  const after = { stepwright: await stepwright.use(), raw: await raw.use() };
  const cpu = (name: 'stepwright' | 'raw') => (after[name].cpuMs - before[name].cpuMs) / found[name].length;
  for (const name of ['stepwright', 'raw'] as const) {
    const [half, most] = [percentile(found[name], 0.5), percentile(found[name], 0.99)];
    console.log(
      `${name}: p50 ${half.toFixed(1)} ms, p99 ${most.toFixed(1)} ms, CPU ${cpu(name).toFixed(3)} ms a prompt`,
    );
  }
  const ratio = percentile(found.stepwright, 0.99) / percentile(found.raw, 0.99);
  console.log(`ratio: p99 ${ratio.toFixed(2)}, CPU ${(cpu('stepwright') / cpu('raw')).toFixed(2)}`);
}

/** A client that misbehaves. Each ends by itself. */
const faults: readonly ((peer: Peer) => Promise<unknown>)[] = [
  (peer) => post(peer, '{"jsonrpc":'),
  (peer) => post(peer, '[]'),
  (peer) => post(peer, JSON.stringify({ jsonrpc: '1.0', id: 1, method: 'ping' })),
  (peer) => post(peer, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 7 } })),
  (peer) =>
    post(
      peer,
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } }),
    ),
  async (peer) => {
    const controller = new AbortController();
    const gone = post(peer, promptFor('slow guest-0', 200).body, controller.signal).catch(() => {});
    setTimeout(() => controller.abort(), 20);
    await gone;
  },
  ({ port }) => halfSent(port),
  ({ port }) => neverReads(port),
];

/** Sends half of a request, and hangs up. */
async function halfSent(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{',
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
}

/** Asks for long conversations, reads nothing of them for a while, and hangs up. */
async function neverReads(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  for (let index = 0; index < 5; index++) {
    const { body } = promptFor(`guest-${index}`, 200);
    const head = [
      'POST /mcp HTTP/1.1',
      'host: 127.0.0.1',
      ...Object.entries(HEADERS).map((each) => each.join(': ')),
    ];
    socket.write(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  socket.destroy();
}

/** Good requests and bad ones at once: the good ones are answered as usual. */
async function mixed(peer: Peer): Promise<void> {
  const good = Array.from({ length: CONCURRENT }, (_, index) =>
    greet(peer, `${index % 10 === 0 ? 'slow ' : ''}guest-${sent + index}`),
  );
  const bad = Array.from({ length: CONCURRENT / 2 }, (_, index) => faults[index % faults.length]?.(peer));
  await Promise.all([...good, ...bad]);
}

async function main(): Promise<void> {
  const [stepwright, raw] = await Promise.all([start('stepwright'), start('raw')]);
  try {
    await compare(stepwright, raw);
    await mixed(stepwright);
    const before = await stepwright.use();
    for (let round = 0; round < ROUNDS; round++) await mixed(stepwright);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const after = await stepwright.use();
    const grown = after.heap - before.heap;
    console.log(
      `faults: ${sent} requests, heap ${(grown / 1024).toFixed(0)} KiB more, ${after.connections} connections`,
    );
    if (grown > HEAP_SLACK) throw new Error(`the heap has grown by ${grown} bytes`);
    await greet(stepwright, 'guest-1');
  } finally {
    stepwright.close();
    raw.close();
  }
}

await main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
