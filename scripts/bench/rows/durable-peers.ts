import { line } from '../graphs.js';
import { cpuTime, inTurns, timed } from '../measure.js';
import { type DurableFramework, durableFrameworks } from '../peers/frameworks.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { Folder, OpenStore } from '../store.js';

/** The cost of a step that is kept before the next one starts, here and in other engines that can be measured. */
export async function durablePeers(sizes: Sizes): Promise<Row[]> {
  const folder = new Folder();
  const { found } = await durableFrameworks();
  const rows: Row[] = [];
  try {
    for (const framework of found) rows.push(...(await against(framework, folder, sizes)));
    return rows;
  } finally {
    folder.remove();
  }
}

/** Both keep all their runs in one store each. */
async function against(framework: DurableFramework, folder: Folder, sizes: Sizes): Promise<Row[]> {
  const { peerSteps: steps } = sizes.durable;
  const graph = line(steps);
  const ours = await OpenStore.at(folder.newFile(), { synchronous: 'full' });
  const theirs = await framework.open(folder.newFile(), steps);
  const costs = (meter: () => number, warmUpMs: number) =>
    inTurns(
      {
        ours: timed(steps, sizes.goMs, () => ours.run(graph), meter),
        theirs: timed(steps, sizes.goMs, () => theirs.run(), meter),
      },
      { ...sizes, warmUpMs },
    );
  try {
    const result = await theirs.run();
    if (result !== steps) throw new Error(`the result of ${framework.name} is ${result}, not ${steps}`);
    // As long as the other runs in a file.
    const wall = await costs(() => performance.now() * 1_000, 3 * sizes.warmUpMs);
    const cpu = await costs(cpuTime, 0);
    const { name, server } = framework;
    const counted = server === undefined ? name : `${name}, without ${server}`;
    const step = `store: step in a line of ${steps}, FULL`;
    const clock = { name: `${step}, by the clock`, ours: wall.ours, peer: { name, value: wall.theirs } };
    return [
      row({ ...clock, unit: 'µs' }),
      row({ name: step, unit: 'µs', ours: cpu.ours, peer: { name: counted, value: cpu.theirs } }),
    ];
  } finally {
    await theirs.close();
    await ours.close();
  }
}
