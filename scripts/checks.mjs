// `npm run checks`: what `npm test` looks at before the tests, all at once. What a part prints is shown when it ends. The
// first part that fails ends the others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PARTS = [['codegen', '--', '--check'], ['types'], ['lint']];

const running = new Set();

/** Runs a script of package.json. */
async function run(args) {
  // A process group of its own, so that what it started ends with it.
  const child = spawn('npm', ['run', ...args], { detached: true, shell: process.platform === 'win32' });
  running.add(child);
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  const [code, signal] = await once(child, 'close');
  running.delete(child);
  if (process.exitCode === 1) return;
  process.stdout.write(Buffer.concat(printed));
  if (code === 0) return;
  process.exitCode = 1;
  console.error(`\nnpm run ${args.join(' ')} failed: ${signal ?? `exit code ${code}`}`);
  end();
}

function end() {
  for (const child of running) {
    if (process.platform === 'win32') child.kill();
    else process.kill(-child.pid, 'SIGTERM');
  }
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    process.exitCode = 1;
    end();
  });

await Promise.all(PARTS.map(run));
