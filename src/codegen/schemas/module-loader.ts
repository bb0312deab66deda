import { existsSync, readFileSync } from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Script } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { TSCommon } from 'ts-node';
import { type Disk, filesOf, openDisk, specifiersOf } from './cache/dependencies.js';
import { texts } from './texts.js';

/** True where Node takes a TypeScript file's output for CommonJS: by its extension, else by its package's `type`. */
export function isCommonJs(file: string): boolean {
  const extension = extname(file);
  if (extension === '.cts') return true;
  if (extension === '.mts') return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return packageType(manifest) !== 'module';
    if (folder === dirname(folder)) return true;
  }
}

function packageType(manifest: string): unknown {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

let require: NodeJS.Require | undefined;

/** Loads a module for which {@link isCommonJs} holds. The first call readies `require` for TypeScript. */
export function requireModule(file: string): unknown {
  require ??= compilingRequire();
  return require(file);
}

function compilingRequire(): NodeJS.Require {
  const plain = createRequire(import.meta.url);
  const tsNode = plain('ts-node') as typeof import('ts-node');
  // It finds `./x.ts` where `./x.js` is written, as `import` does. All else comes from the environment.
  tsNode.register({ experimentalResolver: true });
  return plain;
}

/** Why an import failed. */
export interface ImportFailure {
  /** One line: the error's name and first line, and the first frame inside the project. */
  readonly reason: string;
  /** The file of the project that is to blame, where it is known: relative to the root, with `/`. */
  readonly culprit?: string;
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
 * @param findSyntaxFault - asked for the place of a syntax error that brings none: Node's own name no file.
 */
export function importFailure(
  error: unknown,
  root: string,
  findSyntaxFault: () => SourcePosition | undefined = () => undefined,
): ImportFailure {
  const summary = firstLine(summarise(error)).replaceAll(`${root}${sep}`, '');
  const syntax = /^(\S.*)\(\d+,\d+\): error TS\d+: /.exec(summary)?.[1];
  if (syntax !== undefined) return { reason: summary, culprit: syntax };
  const named = error instanceof Error ? projectFrame(error.stack ?? '', root) : undefined;
  const frame = named ?? (error instanceof SyntaxError ? findSyntaxFault() : undefined);
  if (frame === undefined) return { reason: summary };
  return { reason: `${summary} (${frame.file}:${frame.position})`, culprit: frame.file };
}

function summarise(error: unknown): string {
  if (typeof error !== 'object' || error === null) return texts.threw(String(error));
  const { name, message } = error as Record<'name' | 'message', unknown>;
  // ts-node's syntax errors lose all but their printed form on the way between threads.
  if (typeof message !== 'string') return inspect(error);
  return typeof name === 'string' && name !== '' ? `${name}: ${message}` : message;
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? texts.noMessage
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

const SOURCE = /\.[cm]?[jt]sx?$/;

/**
 * The first place that JavaScript does not admit, in a module and what it imports of the project. TypeScript compiles
 * some of it (an `await` in a plain function), and the error that Node then throws names no file.
 *
 * @param entry - absolute path of the module.
 * @param root - absolute path of the project.
 */
export function findSyntaxFault(entry: string, root: string): SourcePosition | undefined {
  const compiler = createRequire(import.meta.url)(bundledCompiler()) as TSCommon;
  const disk = openDisk();
  for (const path of importedFiles(disk, entry, root)) {
    const position = faultIn(compiler, path, disk.text(path) ?? '');
    const file = projectFile(path, root);
    if (position !== undefined && file !== undefined) return { file, position };
  }
  return undefined;
}

function importedFiles(disk: Disk, entry: string, root: string): ReadonlySet<string> {
  const files = new Set([entry]);
  // Iteration includes files added to the set meanwhile.
  for (const file of files) {
    for (const specifier of specifiersOf(disk.text(file) ?? '').named) {
      const loaded = filesOf(disk, specifier, file).filter((path) => SOURCE.test(path));
      for (const path of loaded) if (projectFile(path, root) !== undefined) files.add(path);
    }
  }
  return files;
}

/** Path of the compiler inside ts-morph: always there and always of a version with a JavaScript API. */
export function bundledCompiler(): string {
  const fromHere = createRequire(import.meta.url);
  return createRequire(fromHere.resolve('ts-morph')).resolve('@ts-morph/common/dist/typescript.js');
}

function faultIn(compiler: TSCommon, path: string, text: string): string | undefined {
  const { outputText, sourceMapText = '' } = compiler.transpileModule(text, {
    fileName: path,
    compilerOptions: {
      module: compiler.ModuleKind.CommonJS,
      target: compiler.ScriptTarget.ES2022,
      sourceMap: true,
    },
  });
  // Of the same length, so that columns stay; and a module may wait at its top level.
  const code = `(async function () {\n${outputText.replaceAll('import.meta', 'import_meta')}\n})`;
  try {
    new Script(code, { filename: path, lineOffset: -1 });
    return undefined;
  } catch (error) {
    const place = error instanceof SyntaxError ? placeOf(error, path) : undefined;
    return place && originalOf(place, sourceMapText);
  }
}

interface Position {
  /** From 0. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
}

/** Node puts the place above the message: `/src/a.ts:4`, the line, and carets below the fault. */
function placeOf({ stack = '' }: SyntaxError, path: string): Position | undefined {
  const [heading = '', , carets = ''] = stack.split('\n');
  if (!heading.startsWith(`${path}:`)) return undefined;
  return { line: Number(heading.slice(path.length + 1)) - 1, column: Math.max(0, carets.indexOf('^')) };
}

function originalOf({ line, column }: Position, sourceMap: string): string | undefined {
  const entry = new SourceMap(JSON.parse(sourceMap)).findEntry(line, column);
  return 'originalLine' in entry ? `${entry.originalLine + 1}:${entry.originalColumn + 1}` : undefined;
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
