import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

// `npm run test:faults`: many more faults than a run of all tests has. `--seed N` replays one seed of the simulation.
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    seed: { type: 'string' },
    kills: { type: 'string', default: '50' },
    copies: { type: 'string', default: '200' },
  },
});
const { seeds, seed, kills, copies } = values;
const [paths, faults] =
  seed === undefined
    ? [
        ['test/simulation', 'test/durable'],
        { SEEDS: seeds, CRASH_STRIDE: '1', KILLS: kills, KILL_SEED: now(), COPIES: copies, COPY_SEED: now() },
      ]
    : [['test/simulation'], { SEED: seed }];
const args = ['node_modules/vitest/vitest.mjs', 'run', ...paths];
process.exitCode =
  spawnSync(process.execPath, args, { env: { ...process.env, ...faults }, stdio: 'inherit' }).status ?? 1;

/** A seed that the titles of the tests show: the environment replays it. */
function now() {
  return String(Date.now() % 1_000_000);
}
