import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPackage } from '../../../test/built-package.js';
import { inTurns } from '../measure.js';
import { type Row, row } from '../row.js';
import type { CompiledSize, Sizes } from '../sizes.js';
import { writeProject } from '../wire/project.js';

const ours = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

const TSC = ours('../../node_modules/typescript/bin/tsc');
const ZOD = ours('../../node_modules/zod');

/** Reports the CPU time and the memory of its process when that ends. */
const METER = ours('wire/meter.cjs');

const REBUILDS = ours('wire/rebuilds.mjs');

/**
 * Codegen in a process of its own, in projects of linear workflows and of tools whose schemas derive from types or come
 * from zod; rebuilds in one process; and the compiler of such a project, with its registry and without. Processes that
 * they start count as well.
 */
export async function compiler({ compiled }: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of compiled) rows.push(...(await projectRows(size)));
  return rows;
}

async function projectRows({
  workflows,
  tools,
  schemas,
  rounds,
  edits,
  targets,
}: CompiledSize): Promise<Row[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-compiler-'));
  const built = builtPackage();
  const program = path.join(built, 'dist/cli/main.js');
  writeProject(root, { workflows, tools, schemas });
  symlinkSync(built, path.join(root, 'node_modules/stepwright'), 'dir');
  symlinkSync(ZOD, path.join(root, 'node_modules/zod'), 'dir');
  const codegen =
    (...args: string[]) =>
    () =>
      costOf(root, [program, 'codegen', ...args]).cpu;
  const tsc = (project: string) => () => costOf(root, [TSC, '-p', project]).cpu;
  const edited = codegen();
  codegen()();
  const memory: number[] = [];
  const costs = await inTurns(
    {
      cold: () => {
        const { cpu, kB } = costOf(root, [program, 'codegen', '--no-cache']);
        memory.push(kB);
        return cpu;
      },
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
  const of = `of ${workflows} workflows${schemas === 'zod' ? ' with zod' : ''}`;
  const held = (name: string, value: number, atMost: number | undefined, unit: Row['unit'] = 'µs'): Row =>
    row({ name, unit, ours: value, ...(atMost === undefined ? {} : { target: { of: 'ours', atMost } }) });
  const rebuilds = (what: string, file: string, atMost: number | undefined): Row[] =>
    edits === 0
      ? []
      : [held(`a rebuild ${of}, one ${what} edited, p95`, rebuildOf(root, built, file, edits), atMost)];
  const rebuilt = [
    ...rebuilds('workflow', 'src/flow1.ts', targets.workflow),
    ...rebuilds('tool', 'src/tool1.ts', targets.tool),
  ];
  rmSync(root, { recursive: true });
  return [
    row({
      name: `codegen ${of}, cold`,
      ...{ unit: 'µs', ours: costs.cold, peer: { name: 'tsc 6.0', value: costs.without } },
      target: { of: 'ratio', atMost: targets.cold },
    }),
    held(`codegen ${of}, cold: memory`, Math.max(...memory), targets.memoryKb, 'kB'),
    held(`codegen ${of}, one edited`, costs.edited, targets.edited),
    held(`codegen ${of}, unchanged`, costs.unchanged, targets.unchanged),
    held(`codegen --check ${of}, unchanged`, costs.check, targets.check),
    ...rebuilt,
    row({
      name: `tsc 6.0 ${of}, with the registry`,
      ...{ unit: 'µs', ours: costs.with, peer: { name: 'without', value: costs.without } },
      target: { of: 'ratio', atMost: 1.05 },
    }),
  ];
}

interface Cost {
  /** CPU time of a program and of all that it starts, in µs. */
  readonly cpu: number;
  /** Memory of the largest of these processes. */
  readonly kB: number;
}

/** @throws Error where the program fails. */
function costOf(root: string, args: readonly string[]): Cost {
  const report = path.join(root, 'cpu.log');
  rmSync(report, { force: true });
  output(root, args, { NODE_OPTIONS: `--require ${METER}`, BENCH_CPU_REPORT: report });
  const processes = readFileSync(report, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  return {
    cpu: processes.reduce((sum, [cpu = Number.NaN]) => sum + cpu, 0),
    kB: Math.max(...processes.map(([, kB = Number.NaN]) => kB)),
  };
}

/** The CPU time of a rebuild after an edit of a file, in µs, that 95 of 100 do not exceed. */
function rebuildOf(root: string, built: string, file: string, edits: number): number {
  const args = [REBUILDS, path.join(built, 'dist/codegen/index.js'), file, String(edits)];
  const costs = (JSON.parse(output(root, args)) as number[]).sort((one, other) => one - other);
  return costs[Math.ceil(costs.length * 0.95) - 1] ?? Number.NaN;
}

function output(root: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: root, encoding: 'utf8', env: { ...process.env, ...env } },
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with status ${status}:\n${stdout}${stderr}`);
  return stdout;
}
