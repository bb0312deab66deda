import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

// `npm run test:faults`: many more faults than a run of all tests has, always the same ones. `--random` looks for new
// ones. `--seed N` replays one seed of the simulation.
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    seed: { type: 'string' },
    random: { type: 'boolean', default: false },
    kills: { type: 'string', default: '50' },
    starts: { type: 'string', default: '3000' },
    copies: { type: 'string', default: '200' },
    stride: { type: 'string', default: '1' },
  },
});

/** A run of some tests. Their titles show the seeds. */
async function run(environment, ...args) {
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--mode', 'nightly', ...args],
    {
      env: { ...process.env, ...environment },
      stdio: 'inherit',
    },
  );
  const [status] = await once(child, 'close');
  if (status !== 0) process.exitCode = 1;
}

const simulate = (environment) => run(environment, 'test/simulation', '-t', 'nothing is lost');

if (values.seed !== undefined) await simulate({ SEED: values.seed });
else {
  const seeds = Number(values.seeds);
  const half = Math.ceil(seeds / 2);
  const first = values.random ? Date.now() % 1_000_000_000 : 1;
  const seed = String(first);
  const { kills, starts, copies, stride } = values;
  // Two at a time: most of them wait for disks and processes.
  await Promise.all([
    simulate({ FIRST_SEED: seed, SEEDS: String(half) }).then(() =>
      run({ CRASH_STRIDE: stride }, 'test/durable/crash-matrix.test.ts'),
    ),
    simulate({ FIRST_SEED: String(first + half), SEEDS: String(seeds - half) }).then(() =>
      run(
        { KILLS: kills, KILL_SEED: seed, STARTS: starts, COPIES: copies, COPY_SEED: seed },
        ...['random-kills', 'acknowledged-starts', 'power-loss'].map(
          (name) => `test/durable/${name}.test.ts`,
        ),
      ),
    ),
  ]);
}
