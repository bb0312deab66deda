import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPackage } from '../../../test/built-package.js';
import { inTurns } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { writeProject } from '../wire/project.js';

const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/** Reports the CPU time of its process when that ends. */
const METER = fileURLToPath(new URL('../wire/meter.cjs', import.meta.url));

/**
 * Codegen in a process of its own, in a project of linear workflows and of tools whose schemas derive from types; and
 * the compiler of such a project, with its registry and without. Processes that they start count as well.
 */
export async function compiler({ compiled: { workflows, tools, rounds } }: Sizes): Promise<Row[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-compiler-'));
  const built = builtPackage();
  const program = path.join(built, 'dist/cli/main.js');
  writeProject(root, { workflows, tools });
  symlinkSync(built, path.join(root, 'node_modules/stepwright'), 'dir');
  const codegen =
    (...args: string[]) =>
    () =>
      cpuOf(root, [program, 'codegen', ...args]);
  const tsc = (project: string) => () => cpuOf(root, [TSC, '-p', project]);
  const edited = codegen();
  codegen()();
  const costs = await inTurns(
    {
      cold: codegen('--no-cache'),
      without: tsc('tsconfig.sources.json'),
      unchanged: codegen(),
      check: codegen('--check'),
      edited: () => {
        appendFileSync(path.join(root, 'src/flow0.ts'), '\n// Edited.\n');
        return edited();
      },
      with: tsc('tsconfig.json'),
    },
    // Processes are never warm.
    { rounds, warmUpMs: 0 },
  );
  rmSync(root, { recursive: true });
  const of = `of ${workflows} workflows`;
  return [
    row({
      name: `codegen ${of}, cold`,
      ...{ unit: 'µs', ours: costs.cold, peer: { name: 'tsc 6.0', value: costs.without } },
      target: { of: 'ratio', atMost: 0.67 },
    }),
    row({
      name: `codegen ${of}, one edited`,
      ...{ unit: 'µs', ours: costs.edited, target: { of: 'ours', atMost: 800_000 } },
    }),
    row({
      name: `codegen ${of}, unchanged`,
      ...{ unit: 'µs', ours: costs.unchanged, target: { of: 'ours', atMost: 200_000 } },
    }),
    row({
      name: `codegen --check ${of}, unchanged`,
      ...{ unit: 'µs', ours: costs.check, target: { of: 'ours', atMost: 250_000 } },
    }),
    row({
      name: `tsc 6.0 ${of}, with the registry`,
      ...{ unit: 'µs', ours: costs.with, peer: { name: 'without', value: costs.without } },
      target: { of: 'ratio', atMost: 1.05 },
    }),
  ];
}

/** CPU time of a program and of all that it starts, in µs. @throws Error where it fails. */
function cpuOf(root: string, args: readonly string[]): number {
  const report = path.join(root, 'cpu.log');
  rmSync(report, { force: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: root, encoding: 'utf8' },
    env: { ...process.env, NODE_OPTIONS: `--require ${METER}`, BENCH_CPU_REPORT: report },
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with status ${status}:\n${stdout}${stderr}`);
  return readFileSync(report, 'utf8')
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0);
}
