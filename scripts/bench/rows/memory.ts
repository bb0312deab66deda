import { createActor } from 'xstate';
import { line, question } from '../graphs.js';
import { HostedRun, rowsOf, runStoreOf, startStored } from '../host.js';
import { heapInUse } from '../measure.js';
import { questionMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The memory of a waiting run without the shared plan: its state, and the whole run in a store. */
export async function memory({ waiting }: Sizes): Promise<Row[]> {
  const graph = question();
  const machine = questionMachine();
  const engine = await bytesOfEach(waiting, () => {
    const { state } = new HostedRun(graph).answer();
    if (state.owed.size !== 1) throw new Error('the run does not wait');
    return state;
  });
  const store = runStoreOf();
  const host = await bytesOfEach(waiting, async () => {
    const started = await startStored(store, graph);
    if (!started.ok || started.envelope.status !== 'waiting') throw new Error('the run does not wait');
  });
  const xstate = await bytesOfEach(waiting, () => createActor(machine).start());
  const name = `memory of a run that waits, ${waiting} of them`;
  const peer = { name: 'XState', value: xstate / 1_000 };
  return [
    row({ name: `engine: ${name}`, unit: 'kB', ours: engine / 1_000, peer }),
    row({
      name: `host: ${name}`,
      unit: 'kB',
      ours: host / 1_000,
      peer,
      target: { of: 'ours', atMost: 3 },
    }),
  ];
}

const EVENTS = 100;

/** The bytes that a step of a line writes: the rows, as JSON, of transitions in the middle of the run. */
export async function rowBytes(): Promise<Row[]> {
  const transitions = (await rowsOf(line(EVENTS))).slice(EVENTS / 4, (EVENTS * 3) / 4);
  const rows = transitions.reduce((sum, changes) => sum + changes.length, 0) / transitions.length;
  const bytes = transitions.reduce((sum, changes) => sum + JSON.stringify(changes).length, 0);
  const name = 'journal: what a step writes down';
  return [
    row({ name, unit: 'rows', ours: rows, target: { of: 'ours', atMost: 3 } }),
    row({ name, unit: 'B', ours: bytes / transitions.length, target: { of: 'ours', atMost: 400 } }),
  ];
}

/** The bytes on the heap of each of `count` things. */
export async function bytesOfEach(count: number, make: () => unknown): Promise<number> {
  // Makes everything first that is made only once.
  const kept: unknown[] = [await make()];
  const before = heapInUse();
  for (let each = 0; each < count; each += 1) {
    const made = make();
    kept.push(made instanceof Promise ? await made : made);
  }
  const bytes = (heapInUse() - before) / count;
  if (kept.length !== count + 1) throw new Error('a run was lost');
  return bytes;
}
