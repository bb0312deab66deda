import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';

/** Why an import failed. */
export interface ImportFailure {
  /** One line: the error's name and first line, and the first frame inside the project. */
  readonly reason: string;
  /** The file of the project that is to blame, where it is known: relative to the root, with `/`. */
  readonly culprit?: string;
  /** The `package.json` that keeps Node from loading the file, as the culprit is named, and what is wrong with it. */
  readonly manifest?: { readonly file: string; readonly problem: string };
}

/** A file of the project, relative to its root and with `/`, and `line:column` in it, or the line alone. */
interface SourcePosition {
  readonly file: string;
  readonly position: string;
}

/**
 * Explains an error that an import ended with.
 *
 * @param error - whatever was thrown.
 * @param root - absolute path of the project; absolute paths under it are shortened.
 */
export function importFailure(error: unknown, root: string): ImportFailure {
  const summary = firstLine(summarise(error)).replaceAll(`${root}${sep}`, '');
  const [, manifest, problem] = BROKEN_MANIFEST.exec(summary) ?? [];
  if (manifest !== undefined && problem !== undefined)
    return { reason: summary, manifest: { file: manifest.replaceAll(sep, '/'), problem } };
  const [, file, position] = /^SyntaxError: (\S.*?):(\d+:\d+): /.exec(summary) ?? [];
  if (file !== undefined && position !== undefined) return { reason: summary, culprit: file };
  const frame = error instanceof Error ? projectFrame(error.stack ?? '', root) : undefined;
  if (frame === undefined) return { reason: summary };
  return { reason: `${summary} (${frame.file}:${frame.position})`, culprit: frame.file };
}

/** What Node says of a `package.json`, when it is required and when it is imported. */
const BROKEN_MANIFEST =
  /: (?:Error parsing|Invalid package config) (\S.*?package\.json)(?: while importing .+?)?[:.] (\S.*)$/;

function summarise(error: unknown): string {
  if (typeof error !== 'object' || error === null) return `it threw ${String(error)}`;
  const { name, message } = error as Record<'name' | 'message', unknown>;
  if (typeof message !== 'string') return inspect(error);
  return typeof name === 'string' && name !== '' ? `${name}: ${message}` : message;
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? 'no message'
  );
}

/** A frame of the stack; for an import of a missing export, the heading above the message. */
const FRAME = /((?:file:\/\/)?\/?[^\s()]+):(\d+:\d+)\)?$/;
const HEADING = /^((?:file:\/\/)?\/.+?):(\d+)$/;

function projectFrame(stack: string, root: string): SourcePosition | undefined {
  for (const line of stack.split('\n')) {
    const [, location, position] = FRAME.exec(line) ?? HEADING.exec(line) ?? [];
    if (location === undefined || position === undefined || location.startsWith('node:')) continue;
    const file = projectFile(absolutePath(location), root);
    if (file !== undefined) return { file, position };
  }
  return undefined;
}

/** An absolute path as one of the project; undefined for paths outside it and for packages. */
function projectFile(path: string, root: string): string | undefined {
  const parts = relative(root, path).split(sep);
  const isOutside = parts[0] === '' || parts[0] === '..' || parts.includes('node_modules');
  return isOutside || isAbsolute(parts.join(sep)) ? undefined : parts.join('/');
}

function absolutePath(location: string): string {
  return location.startsWith('file://') ? fileURLToPath(location) : resolve(location);
}

/** What the import of one module may use. */
export interface ModuleLimits {
  /** CPU time of its own, in milliseconds: a busy machine takes none of it. */
  readonly cpuMs: number;
  /** How long it may wait, in milliseconds: time of which the process uses under a hundredth as CPU time. */
  readonly waitMs: number;
  /** Memory of the process it is read in, in MiB. */
  readonly memoryMb: number;
}

export const DEFAULT_MODULE_LIMITS: ModuleLimits = { cpuMs: 10_000, waitMs: 10_000, memoryMb: 2048 };

/** Which limit a module met. `unsettled`: it awaits a promise, and nothing is left that could settle it. */
export type StopReason = 'cpu' | 'wait' | 'memory' | 'unsettled';

/** The state of the process at one moment. */
export interface UsageSample {
  /** Which module is being read, counted from 0; negative while none is. */
  readonly module: number;
  /** A monotonic clock, in milliseconds. */
  readonly clockMs: number;
  /** CPU time that the process has used since it started, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory of the process. */
  readonly memoryMb: number;
}

/** Judges the next sample: the limit that the module has met by now, if any. */
export type UsageJudge = (sample: UsageSample) => Exclude<StopReason, 'unsettled'> | undefined;

/**
 * Judges how one process reads its modules, from samples that come at intervals.
 *
 * A wait is a stretch of `waitMs` in which the process used under a hundredth of it as CPU time. A sample that comes late counts as if
 * it came two intervals after the one before: a process that is not scheduled, or a machine that sleeps, does not wait.
 *
 * The function must be self-contained: its text runs in another thread.
 *
 * @param intervalMs - how far apart the samples are meant to be.
 */
export function usageJudge(limits: ModuleLimits, intervalMs: number): UsageJudge {
  const idleCpuMs = limits.waitMs / 100;
  let current = -1;
  let previous: UsageSample | undefined;
  let cpuAtStart = 0;
  let awakeMs = 0;
  let stretch: { readonly awakeMs: number; readonly cpuMs: number }[] = [];
  return (sample) => {
    const elapsed = previous === undefined ? 0 : sample.clockMs - previous.clockMs;
    previous = sample;
    if (sample.module !== current) {
      current = sample.module;
      cpuAtStart = sample.cpuMs;
      awakeMs = 0;
      stretch = [{ awakeMs, cpuMs: sample.cpuMs }];
      return undefined;
    }
    if (current < 0) return undefined;
    if (sample.memoryMb > limits.memoryMb) return 'memory';
    if (sample.cpuMs - cpuAtStart >= limits.cpuMs) return 'cpu';
    awakeMs += Math.min(elapsed, 2 * intervalMs);
    // The last sample that is old enough is the start of the stretch.
    while ((stretch[1]?.awakeMs ?? awakeMs) <= awakeMs - limits.waitMs) stretch.shift();
    stretch.push({ awakeMs, cpuMs: sample.cpuMs });
    const start = stretch[0];
    if (start === undefined || awakeMs - start.awakeMs < limits.waitMs) return undefined;
    return sample.cpuMs - start.cpuMs < idleCpuMs ? 'wait' : undefined;
  };
}

/** The file descriptor of the child on which its watchdog reports, as one word, why it ends the process. */
export const VERDICT_FD = 4;

const SAMPLE_INTERVAL_MS = 100;

/** Informs the watchdog which module is being imported. */
export interface Watchdog {
  /** @param module - counted from 0. */
  enter(module: number): void;
  leave(): void;
}

/**
 * Starts a thread that ends this process when the import of a module meets a limit. It works while the module blocks
 * the main thread.
 *
 * The thread runs the text of the functions below: a file of its own would load the TypeScript compiler again
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

/** The body of the thread. It must be self-contained. */
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
