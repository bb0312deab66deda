import type { Graph } from '../../../src/graph/model.js';
import type { CallPort } from '../../../src/runtime/tools/port.js';
import { line, loop, question } from '../graphs.js';
import { increment, portOf } from '../host.js';
import { cpuTime, inTurns, promote, type Sample } from '../measure.js';
import { type Row, row, THE_SAME } from '../row.js';
import type { Sizes } from '../sizes.js';
import { Folder, OpenStore, rawFile, replay, type Synchronous, writesOf } from '../store.js';

type Work = (store: OpenStore) => Promise<unknown>;

/** The cost of runs that are kept in a file, against SQLite writing the same rows in the same transactions. */
export async function durable(given: Sizes): Promise<Row[]> {
  // Its code is compiled late: a second of it has far fewer steps than one without a file.
  const sizes = { ...given, warmUpMs: 3 * given.warmUpMs };
  const folder = new Folder();
  try {
    return [
      ...(await single(folder, sizes)),
      ...(await together(folder, sizes)),
      ...(await ofItems(folder, sizes)),
      ...(await resumed(folder, sizes)),
      ...(await besideWaiting(folder, sizes)),
      ...(await ofLongRun(folder, sizes)),
      await onDisk(folder, sizes),
    ];
  } finally {
    folder.remove();
  }
}

/** Steps of one run, where each commit is awaited before the next call. */
async function single(folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { steps } = sizes.durable;
  const graph = line(steps);
  const work: Work = (store) => store.run(graph);
  const rows: Row[] = [];
  for (const [synchronous, mode] of [
    ['full', 'FULL'],
    ['normal', 'NORMAL'],
  ] as const) {
    const { wall, cpu } = await againstSqlite(folder, sizes, { synchronous, units: steps, work });
    const name = `store: step of a run, ${mode}`;
    rows.push(
      row({ name: `${name}, by the clock`, unit: 'µs', ...wall, target: { of: 'ratio', atMost: 1.5 } }),
      row({
        name,
        unit: 'µs',
        ...cpu,
        ...(synchronous === 'full' ? { target: { of: 'ours', atMost: 60 } } : {}),
      }),
    );
  }
  return rows;
}

/** Steps of many runs at once, which share their commits. */
async function together(folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { steps, runs } = sizes.durable.together;
  const graph = line(steps);
  const units = steps * runs;
  const atOnce: Work = (store) => Promise.all(Array.from({ length: runs }, () => store.run(graph)));
  const inTurn: Work = async (store) => {
    for (let run = 0; run < runs; run += 1) await store.run(graph);
  };
  const { wall } = await againstSqlite(folder, sizes, { synchronous: 'full', units, work: atOnce });
  const clocks = await inTurns(
    {
      atOnce: onNewStore(folder, 'full', units, atOnce, 'clock'),
      inTurn: onNewStore(folder, 'full', units, inTurn, 'clock'),
    },
    sizes,
  );
  const name = `store: step of ${runs} runs at once, FULL, by the clock`;
  return [
    row({ name, unit: 'µs', ...wall, target: { of: 'ratio', atMost: 1.8 } }),
    row({
      name,
      unit: 'µs',
      ours: clocks.atOnce,
      peer: { name: 'one run after another', value: clocks.inTurn },
      target: { of: 'ratio', atMost: 0.2 },
    }),
  ];
}

async function ofItems(folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { count, loops } = sizes.durable.items;
  const items = Array.from({ length: count }, (_, place) => place);
  const graph = loop(count);
  const work: Work = async (store) => {
    for (let done = 0; done < loops; done += 1) await store.run(graph, { items });
  };
  const { cpu } = await againstSqlite(folder, sizes, { synchronous: 'full', units: count * loops, work });
  const name = `store: item, ${count} of them at once, FULL`;
  return [row({ name, unit: 'µs', ...cpu, target: { of: 'ours', atMost: 40 } })];
}

/** From the open file to the next call of a run that a process left. */
async function resumed(folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { steps: events } = sizes.durable;
  const file = folder.newFile();
  const graph = line(events + 2);
  await leaveAfter(file, graph, events);
  const { resume } = await inTurns(
    {
      resume: async () => {
        const { calls, unanswered } = answering(0);
        const store = await OpenStore.at(file, { calls });
        const begin = cpuTime();
        await store.runs.resumeAll();
        await unanswered;
        const spent = cpuTime() - begin;
        await store.close();
        return spent;
      },
    },
    sizes,
  );
  const name = `store: resume of a run after ${events} events`;
  return [row({ name, unit: 'µs', ours: resume, target: { of: 'ours', atMost: 20_000 } })];
}

/** Runs a line until a number of calls has been answered, and leaves it during the next call. */
async function leaveAfter(file: string, graph: Graph, answered: number): Promise<void> {
  const { calls, unanswered } = answering(answered);
  const store = await OpenStore.at(file, { calls });
  store.run(graph).catch(() => {});
  await unanswered;
  await store.close();
}

/** Answers so many calls, and none after them; with the moment of the first call without an answer. */
function answering(count: number): { readonly calls: CallPort; readonly unanswered: Promise<void> } {
  let made = 0;
  let resolve = (): void => {};
  const unanswered = new Promise<void>((found) => {
    resolve = found;
  });
  const calls = portOf((_name, input) => {
    made += 1;
    if (made <= count)
      return Promise.resolve({ ok: true, value: increment(input as { readonly n: number }) });
    resolve();
    return new Promise(() => {});
  });
  return { calls, unanswered };
}

async function besideWaiting(folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { waiting, durable } = sizes;
  const [full, empty] = [folder.newFile(), folder.newFile()];
  await fill(full, waiting);
  await fill(empty, 0);
  const graph = line(durable.steps);
  let opened = 0;
  const [steps, start] = [
    (file: string): Sample =>
      async () => {
        const store = await OpenStore.at(file, { prefix: `again-${++opened}` });
        await store.runs.resumeAll();
        const begin = cpuTime();
        await store.run(graph);
        const spent = cpuTime() - begin;
        await store.close();
        return spent / durable.steps;
      },
    (file: string): Sample =>
      async () => {
        const begin = cpuTime();
        const store = await OpenStore.at(file);
        await store.runs.resumeAll();
        const spent = cpuTime() - begin;
        await store.close();
        return spent;
      },
  ];
  const target = { of: 'ratio', atMost: 1.2 } as const;
  const rows: Row[] = [];
  for (const [name, sample] of [
    ['step of a run', steps],
    ['start', start],
  ] as const) {
    const { many, none } = await inTurns({ many: sample(full), none: sample(empty) }, sizes);
    const peer = { name: 'beside none', value: none };
    rows.push(
      row({ name: `store: ${name} beside ${waiting} that wait`, unit: 'µs', ours: many, peer, target }),
    );
  }
  return rows;
}

/** So many runs are started at once. */
const FILLED_AT_ONCE = 100;

async function fill(file: string, runs: number): Promise<void> {
  const graph = question();
  const store = await OpenStore.at(file, { synchronous: 'normal', prefix: 'waiting' });
  for (let left = runs; left > 0; left -= FILLED_AT_ONCE) {
    const length = Math.min(left, FILLED_AT_ONCE);
    await Promise.all(Array.from({ length }, () => store.ask(graph)));
  }
  await store.close();
}

/** A late step of a long run, and an early step of the same run. */
async function ofLongRun(folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { early, late, width } = sizes.window;
  const graph = line(late + width);
  const earlier: number[] = [];
  const { later } = await inTurns(
    {
      later: async () => {
        const windows = new Windows(width, [early, late]);
        const store = await OpenStore.at(folder.newFile(), {
          calls: portOf(async (_name, input) => {
            windows.onCall();
            return { ok: true, value: increment(input as { readonly n: number }) };
          }),
        });
        await store.run(graph);
        await store.close();
        const [first = Number.NaN, second = Number.NaN] = windows.costs;
        earlier.push(first);
        return second;
      },
    },
    { warmUpMs: 0, rounds: sizes.durable.longRuns },
  );
  const peer = { name: `step ${early}`, value: Math.min(...earlier) };
  const target = { of: 'ratio', atMost: THE_SAME } as const;
  return [row({ name: `store: step ${late} of a run`, unit: 'µs', ours: later, peer, target })];
}

/** The costs of a step in parts of a run. */
class Windows {
  readonly costs: number[] = [];
  #calls = 0;
  #begin = 0;

  constructor(
    readonly width: number,
    readonly starts: readonly number[],
  ) {}

  onCall(): void {
    this.#calls += 1;
    if (this.starts.includes(this.#calls - this.width))
      this.costs.push((cpuTime() - this.#begin) / this.width);
    if (!this.starts.includes(this.#calls)) return;
    promote();
    this.#begin = cpuTime();
  }
}

async function onDisk(folder: Folder, sizes: Sizes): Promise<Row> {
  const { steps } = sizes.durable;
  const [longer, shorter] = await Promise.all(
    [2 * steps, steps].map(async (length) => {
      const store = await OpenStore.at(folder.newFile());
      await store.run(line(length));
      return store.bytes();
    }),
  );
  const ours = ((longer ?? Number.NaN) - (shorter ?? Number.NaN)) / steps;
  return row({ name: 'store: what a step takes on disk', unit: 'B', ours });
}

type Figures = Pick<Row, 'ours' | 'peer'>;

/** What a piece of work costs in a new store, and what its writes cost without one. */
async function againstSqlite(
  folder: Folder,
  sizes: Sizes,
  { synchronous, units, work }: { synchronous: Synchronous; units: number; work: Work },
): Promise<{ readonly wall: Figures; readonly cpu: Figures }> {
  const transactions = await writesOf(folder.newFile(), synchronous, work);
  const raw = async (meter: Meter): Promise<number> => {
    const database = await rawFile(folder.newFile(), synchronous);
    const spent = await metered(meter, () => replay(database, transactions));
    database.close();
    return spent / units;
  };
  const [wall, cpu] = [
    await inTurns(
      {
        ours: onNewStore(folder, synchronous, units, work, 'clock'),
        sqlite: () => raw('clock'),
      },
      sizes,
    ),
    await inTurns(
      {
        ours: onNewStore(folder, synchronous, units, work, 'cpu'),
        sqlite: () => raw('cpu'),
      },
      { ...sizes, warmUpMs: 0 },
    ),
  ];
  return { wall: figures(wall), cpu: figures(cpu) };
}

function figures({ ours, sqlite }: Readonly<Record<'ours' | 'sqlite', number>>): Figures {
  return { ours, peer: { name: 'SQLite', value: sqlite } };
}

/** The cost of each unit of a piece of work in a new store. */
function onNewStore(
  folder: Folder,
  synchronous: Synchronous,
  units: number,
  work: Work,
  meter: Meter,
): Sample {
  return async () => {
    const store = await OpenStore.at(folder.newFile(), { synchronous });
    const spent = await metered(meter, () => work(store));
    await store.close();
    return spent / units;
  };
}

/** The disk takes time without taking CPU time. */
type Meter = 'clock' | 'cpu';

/** In µs. */
async function metered(meter: Meter, work: () => unknown): Promise<number> {
  const read = meter === 'cpu' ? cpuTime : () => performance.now() * 1_000;
  const begin = read();
  await work();
  return read() - begin;
}
