import { Worker } from 'node:worker_threads';
import { type ModuleLimits, type StopReason, type UsageSample, usageJudge } from './module-limits.js';

/** The file descriptor of the child on which its watchdog reports, as one word, why it ends the process. */
export const VERDICT_FD = 4;

const SAMPLE_INTERVAL_MS = 100;

/** Tells the watchdog which module is being read. */
export interface Watchdog {
  /** @param module - counted from 0. */
  enter(module: number): void;
  leave(): void;
}

/**
 * Starts a thread that ends this process when the import of a module meets a limit. It works while the module blocks
 * the main thread.
 *
 * The thread runs the text of the functions below: a file of its own would load the TypeScript compiler once more
 * before it could watch anything.
 */
export function startWatchdog(limits: ModuleLimits): Watchdog {
  const current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(-1);
  const source = `(${watch})((${usageJudge})(${JSON.stringify(limits)}, ${SAMPLE_INTERVAL_MS}), ${SAMPLE_INTERVAL_MS}, ${VERDICT_FD});`;
  const options = { eval: true, execArgv: [], env: {}, workerData: current, stdout: false, stderr: false };
  new Worker(source, options).unref();
  return {
    enter: (module) => void Atomics.store(current, 0, module),
    leave: () => void Atomics.store(current, 0, -1),
  };
}

/** The thread. It must not refer to anything outside of itself. */
function watch(
  judge: (sample: UsageSample) => StopReason | undefined,
  intervalMs: number,
  verdictFd: number,
): void {
  const { writeSync } = process.getBuiltinModule('node:fs');
  const { workerData } = process.getBuiltinModule('node:worker_threads');
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    const verdict = judge({
      module: Atomics.load(workerData as Int32Array, 0),
      clockMs: performance.now(),
      cpuMs: (user + system) / 1000,
      memoryMb: process.memoryUsage.rss() / 2 ** 20,
    });
    if (verdict === undefined) return;
    try {
      writeSync(verdictFd, verdict);
    } finally {
      process.kill(process.pid, 'SIGKILL');
    }
  }, intervalMs);
}
