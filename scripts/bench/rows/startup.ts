import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtPackage } from '../../../test/built-package.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { type BenchClient, connectedOver, type Era } from '../wire/channels.js';
import { writeTools } from '../wire/start/registry.js';

const PROGRAMS = fileURLToPath(new URL('../wire/start/', import.meta.url));

/**
 * The start of a server of the built package, from its process to its first list of tools, and further lists; against a
 * server by hand with the same tools.
 */
export async function startup(sizes: Sizes): Promise<Row[]> {
  const [fewer, more] = sizes.tools;
  const { cpu, memory } = await startsInTurns(fewer, sizes, 'sessions');
  const stateless = await startsInTurns(fewer, sizes, 'stateless');
  const lists = await listsInTurns(more, sizes);
  const withStore = await memoryWithStore(fewer, sizes);
  return [
    row({
      name: `start of a server with ${fewer} tools, to its first list`,
      unit: 'µs',
      ...cpu,
      target: { of: 'ratio', atMost: 1.3 },
    }),
    row({
      name: `start of a server with ${fewer} tools, to its first list, 2026-07-28`,
      unit: 'µs',
      ...stateless.cpu,
      target: { of: 'ratio', atMost: 1.3 },
    }),
    row({
      name: `memory of a server with ${fewer} tools that has started`,
      unit: 'kB',
      ...memory,
      target: { of: 'ratio', atMost: 1.15 },
    }),
    row({
      name: `memory of a server with ${fewer} tools and a store in a file`,
      unit: 'kB',
      ours: withStore,
      target: { of: 'ours', atMost: 80_000 },
    }),
    row({ name: `tools/list of ${more} tools, over stdio`, unit: 'µs', ...lists }),
  ];
}

type Figures = Pick<Row, 'ours' | 'peer'>;

/** Resident, in kB: the least of several. */
async function memoryWithStore(count: number, { rounds }: Sizes): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-start-'));
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const store = `sqlite:${path.join(folder, `${round}.sqlite`)}`;
    const started = await StartedServer.of('stepwright', count, { store });
    found.push((await started.costs()).memory / 1_000);
    await started.close();
  }
  rmSync(folder, { recursive: true });
  return Math.min(...found);
}

/** @param era that of the client. A server of stepwright answers both, and the one by hand on version 1 of the SDK the first. */
async function startsInTurns(
  count: number,
  sizes: Sizes,
  era: Era,
): Promise<{ cpu: Figures; memory: Figures }> {
  // Processes are never warm.
  const once = { rounds: sizes.rounds, warmUpMs: 0 };
  const memory = { stepwright: [] as number[], 'by-hand': [] as number[] };
  const sample = (program: Program) => async () => {
    const started = await StartedServer.of(program, count, { era });
    const { cpu, memory: bytes } = await started.costs();
    memory[program].push(bytes);
    await started.close();
    return cpu;
  };
  const cpu = await inTurns({ stepwright: sample('stepwright'), 'by-hand': sample('by-hand') }, once);
  const least = (program: Program) => Math.min(...memory[program]) / 1_000;
  return {
    cpu: figures(cpu),
    memory: figures({ stepwright: least('stepwright'), 'by-hand': least('by-hand') }),
  };
}

async function listsInTurns(count: number, sizes: Sizes): Promise<Figures> {
  const [ours, byHand] = [
    await StartedServer.of('stepwright', count),
    await StartedServer.of('by-hand', count),
  ];
  const sample = (server: StartedServer) =>
    timed(
      1,
      sizes.goMs,
      () => server.client.listTools(),
      async () => (await server.costs()).cpu,
    );
  const costs = await inTurns({ stepwright: sample(ours), 'by-hand': sample(byHand) }, sizes);
  await Promise.all([ours.close(), byHand.close()]);
  return figures(costs);
}

function figures({ stepwright, 'by-hand': value }: Record<Program, number>): Figures {
  return { ours: stepwright, peer: { name: 'by hand', value } };
}

type Program = 'stepwright' | 'by-hand';

/** What a server has cost so far. */
interface Costs {
  /** In µs. */
  readonly cpu: number;
  /** Resident, in bytes. */
  readonly memory: number;
}

/** A server in a process of its own that has listed its tools once. */
class StartedServer {
  /** @param options a store in a file, and the era of the client. */
  static async of(
    program: Program,
    count: number,
    { store, era = 'sessions' }: { readonly store?: string; readonly era?: Era } = {},
  ): Promise<StartedServer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-start-'));
    const file = path.join(folder, 'tools.json');
    writeTools(file, count);
    const url = pathToFileURL(builtPackage()).href;
    const main = program === 'by-hand' && era === 'stateless' ? 'stateless-by-hand.mjs' : `${program}.mjs`;
    const args = [path.join(PROGRAMS, main), file, url, ...(store === undefined ? [] : [store])];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
    const client = await connectedOver(child, era);
    const { tools } = await client.listTools();
    rmSync(folder, { recursive: true });
    if (tools.length !== count) throw new Error(`${program} lists ${tools.length} tools`);
    return new StartedServer(child, client);
  }

  constructor(
    readonly child: ChildProcess,
    readonly client: BenchClient,
  ) {}

  costs(): Promise<Costs> {
    return new Promise((resolve) => {
      this.child.once('message', (costs) => resolve(costs as Costs));
      this.child.send('costs');
    });
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.child.kill('SIGKILL');
    await ended;
    await this.client.close();
  }
}
