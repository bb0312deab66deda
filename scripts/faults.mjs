import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

// `npm run test:faults`: many more seeds of the simulation than a run of all tests has. `--seed N` replays one.
const { values } = parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } });
const { seeds = '10000', seed } = values;
const env = { ...process.env, ...(seed === undefined ? { SEEDS: seeds } : { SEED: seed }) };
const args = ['node_modules/vitest/vitest.mjs', 'run', 'test/simulation', 'test/durable'];
process.exitCode = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1;
