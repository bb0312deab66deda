import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { builtPackage } from '../../../test/built-package.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { writeProject } from '../wire/project.js';

/** By the clock: from the moment that a workflow is saved to the report of `stepwright dev` that it is served. */
export async function dev({ dev: { workflows, tools, edits, pauseMs } }: Sizes): Promise<Row[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-dev-'));
  writeProject(root, { workflows, tools, schemas: 'types' });
  symlinkSync(builtPackage(), path.join(root, 'node_modules/stepwright'), 'dir');
  const args = [path.join(builtPackage(), 'dist/cli/main.js'), 'dev', '--port', '0'];
  const program = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  let onServed = (): void => {};
  let onExit = (_: Error): void => {};
  program.once('exit', () => onExit(new Error('`stepwright dev` ended')));
  createInterface({ input: program.stdout }).on('line', (line) => {
    if (line.startsWith('served ')) onServed();
  });
  const served = (): Promise<void> =>
    new Promise((resolve, reject) => {
      onServed = resolve;
      onExit = reject;
    });
  await served();
  const file = path.join(root, 'src/flow1.ts');
  const text = readFileSync(file, 'utf8');
  const durations: number[] = [];
  for (let edit = 0; edit < edits; edit += 1) {
    // An author pauses, and the process of the next server is there.
    await setTimeout(pauseMs);
    const report = served();
    const start = performance.now();
    writeFileSync(file, text.replace("description: 'Counts ", `description: 'Counts again (${edit}) `));
    await report;
    durations.push((performance.now() - start) * 1_000);
  }
  program.kill('SIGTERM');
  await once(program, 'exit');
  rmSync(root, { recursive: true });
  durations.sort((one, other) => one - other);
  const percentile = (share: number): number =>
    durations[Math.ceil(durations.length * share) - 1] ?? Number.NaN;
  const name = `dev of ${workflows} workflows, from save to served`;
  return [
    row({ name: `${name}, p50`, unit: 'µs', ours: percentile(0.5) }),
    row({
      ...{ name: `${name}, p95`, unit: 'µs', ours: percentile(0.95) },
      target: { of: 'ours', atMost: 300_000 },
    }),
  ];
}
