import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bench, GROUPS } from './bench.js';
import { compare, comparisonText } from './compare.js';
import { durableFrameworks, missingFrameworks } from './peers/frameworks.js';
import { markdown, type Row, table } from './row.js';
import { missingTemplates } from './rows/templates.js';
import { FULL, QUICK } from './sizes.js';

/** Results of a full run, written by `npm run --silent bench -- --json`. */
const COMMITTED = new URL('../../docs/benchmarks.json', import.meta.url);

/** `npm run bench`: measures, and prints the results; see docs/benchmarks.md. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      markdown: { type: 'boolean' },
      strict: { type: 'boolean' },
      compare: { type: 'boolean' },
      quick: { type: 'boolean' },
      only: { type: 'string', multiple: true },
    },
  });
  const names = values.only?.flatMap((list) => list.split(',')) ?? Object.keys(GROUPS);
  const unknown = names.filter((name) => !Object.hasOwn(GROUPS, name));
  if (unknown.length > 0) {
    console.error(`--only takes ${Object.keys(GROUPS).join(', ')}, not ${unknown.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const loadBefore = load();
  const rows =
    names.length > 1
      ? names.flatMap((name) => ofProcess(name, values.quick === true))
      : await bench(values.quick ? QUICK : FULL, names);
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadBefore,
    loadAfter: load(),
  };
  if (values.json) {
    console.log(JSON.stringify({ machine, rows }, null, 2));
  } else {
    console.log(`${values.markdown ? markdown(rows) : table(rows)}\n`);
    console.log(
      `Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${loadBefore} before, ${machine.loadAfter} after`,
    );
  }
  const missing = [
    ...(names.includes('frameworks') ? missingFrameworks() : []),
    ...(names.includes('agents') ? missingTemplates() : []),
    ...(names.includes('durable') ? (await durableFrameworks()).missing : []),
  ];
  if (missing.length > 0) console.error(`\nNOT MEASURED\n  ${missing.join('\n  ')}`);
  if (values.compare) {
    const committed = JSON.parse(readFileSync(COMMITTED, 'utf8')) as { rows: Row[] };
    const comparison = compare(committed.rows, rows);
    console.log(`\nAgainst docs/benchmarks.json:\n${comparisonText(comparison)}`);
    if (values.strict && comparison.changes.some(({ isWorse }) => isWorse)) process.exitCode = 1;
  }
  const missed = rows.filter(({ ok }) => ok === false);
  if (missed.length > 0) {
    console.error(`\n${missed.length} TARGETS MISSED\n${missed.map(lineOf).join('\n')}`);
    if (values.strict) process.exitCode = 1;
  }
}

/** Measures a group in a process of its own: what ran before makes code slower, and it differs from group to group. */
function ofProcess(name: string, isQuick: boolean): readonly Row[] {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), '--json', '--only', name];
  const { status, stdout, stderr } = spawnSync(process.execPath, isQuick ? [...args, '--quick'] : args, {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the group '${name}' ended with status ${status}:\n${stderr}`);
  return (JSON.parse(stdout) as { readonly rows: readonly Row[] }).rows;
}

function lineOf({ name, peer }: Row): string {
  return `  ${name}${peer === undefined ? '' : ` (against ${peer.name})`}`;
}

/** The load average of the last minute. */
function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

await main();
