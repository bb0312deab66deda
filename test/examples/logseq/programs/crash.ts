import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

// Preloaded with CRASH_BEFORE=n: kills the process by SIGKILL in place of its n-th file operation.
const probe = await fs.open(process.execPath, 'r');
const handles = Object.getPrototypeOf(probe) as object;
await probe.close();

let left = Number(process.env.CRASH_BEFORE);
const crashing = (operation: (...given: unknown[]) => unknown) =>
  // A function of its own `this`: file handles are called on themselves.
  function crashingOperation(this: unknown, ...given: unknown[]): unknown {
    left -= 1;
    if (left > 0) return operation.apply(this, given);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };

function patch(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const operation: unknown = Reflect.get(owner, name);
    if (typeof operation !== 'function') throw new Error(`node:fs/promises has no operation '${name}'`);
    Reflect.set(owner, name, crashing(operation as (...given: unknown[]) => unknown));
  }
}

patch(fs, ['lstat', 'mkdir', 'open', 'readFile', 'readdir', 'realpath', 'rename', 'rm', 'stat']);
patch(handles, ['stat', 'sync', 'writeFile']);
syncBuiltinESMExports();
