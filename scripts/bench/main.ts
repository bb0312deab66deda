import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { bench } from './bench.js';
import { type Row, table } from './row.js';
import { FULL } from './sizes.js';

/** `npm run bench`: prints what everything costs; see docs/benchmarks.md. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, strict: { type: 'boolean' } } });
  const loadBefore = load();
  const rows = await bench(FULL);
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadBefore,
    loadAfter: load(),
  };
  const missed = rows.filter(({ ok }) => ok === false);
  if (values.json) {
    console.log(JSON.stringify({ machine, rows }, null, 2));
  } else {
    console.log(`${table(rows)}\n`);
    console.log(
      `Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${loadBefore} before, ${machine.loadAfter} after`,
    );
  }
  if (missed.length > 0) {
    console.error(`\n${missed.length} TARGETS MISSED\n${missed.map(lineOf).join('\n')}`);
    if (values.strict) process.exitCode = 1;
  }
}

function lineOf({ name, peer }: Row): string {
  return `  ${name} (against ${peer.name})`;
}

/** How many want a core, over the last minute. */
function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

await main();
