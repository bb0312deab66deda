import { createActor } from 'xstate';
import { question } from '../graphs.js';
import { HostedRun } from '../host.js';
import { heapInUse } from '../measure.js';
import { questionMachine } from '../peers/machines.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** What a run holds that waits for an answer: its state, with the plan shared by all of them. */
export async function memory({ waiting }: Sizes): Promise<Row[]> {
  const graph = question();
  const machine = questionMachine();
  const ours = bytesOfEach(waiting, () => {
    const { state } = new HostedRun(graph).answer();
    if (Object.keys(state.commands).length !== 1) throw new Error('the run does not wait');
    return state;
  });
  const xstate = bytesOfEach(waiting, () => createActor(machine).start());
  return [
    row({
      name: `memory of a run that waits, ${waiting} of them`,
      unit: 'kB',
      ours: ours / 1_000,
      peer: { name: 'XState', value: xstate / 1_000 },
      target: { of: 'ours', atMost: 10 },
    }),
  ];
}

function bytesOfEach(count: number, make: () => unknown): number {
  // Whatever is made once is made before.
  const kept: unknown[] = [make()];
  const before = heapInUse();
  for (let each = 0; each < count; each += 1) kept.push(make());
  const bytes = (heapInUse() - before) / count;
  if (kept.length !== count + 1) throw new Error('a run was lost');
  return bytes;
}
