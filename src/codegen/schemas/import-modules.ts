import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { programFile, programFlags } from '../../formats/own-files.js';
import { foldersAbove } from '../../formats/source-record.js';
import {
  CONDITIONS_READ,
  childConditions,
  type Inputs,
  manifestsIn,
  marksIn,
  type States,
  statsOf,
  variableRead,
} from '../incremental/inputs.js';
import type { Memo } from '../incremental/memo.js';
import type { SchemaReading } from './json-schema.js';
import type { LoaderSettings } from './loader/compile.js';
import { mergeReads, NO_READS, type Reads } from './loader/reads.js';
import { type ImportFailure, type ModuleLimits, type StopReason, VERDICT_FD } from './module-loader.js';

/** The request of the parent, sent once per child. */
export interface ReadRequest {
  /** Absolute path of the project. */
  readonly root: string;
  readonly loader: LoaderSettings;
  readonly modules: readonly ModuleRequest[];
  readonly limits: ModuleLimits;
}

/** One source file and the classes wanted from it. */
export interface ModuleRequest {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly classes: readonly ClassRequest[];
}

export interface ClassRequest {
  readonly kind: 'tool' | 'resource';
  readonly exportName: string;
}

/**
 * A message of the child. `importing` comes before each module, so that a child that is
 * stopped has named the culprit; `reads` are those since the previous message.
 */
export type ChildMessage =
  | { readonly kind: 'importing'; readonly file: string }
  | {
      readonly kind: 'imported';
      readonly file: string;
      readonly classes: readonly ClassReading[];
      readonly reads: Reads;
      /** See `Loads.of`. */
      readonly loads: readonly string[];
    }
  | ({ readonly kind: 'failed'; readonly file: string; readonly reads?: Reads } & ImportFailure)
  /** The module awaits a promise, and nothing is left in the process that could settle it. */
  | { readonly kind: 'unsettled'; readonly file: string };

/** What one class declares, in the order of the request. */
export type ClassReading =
  | {
      readonly kind: 'tool';
      readonly exportName: string;
      readonly fingerprint: string;
      /** Missing where the tool declares none. */
      readonly input?: SchemaReading;
      readonly output?: SchemaReading;
    }
  | { readonly kind: 'resource'; readonly exportName: string; readonly fingerprint: string }
  /** The module has no such export, or the class carries other metadata than its source says. */
  | { readonly kind: 'missing'; readonly exportName: string; readonly reason: string };

export type ImportOptions = LaunchOptions & {
  readonly limits: ModuleLimits;
};

/** How the import of one module ended. */
export type ModuleOutcome =
  | Extract<ChildMessage, { kind: 'imported' | 'failed' }>
  | { readonly kind: 'stopped'; readonly why: StopReason }
  /** It was not tried. */
  | { readonly kind: 'unread'; readonly why: UnreadReason };

export type UnreadReason =
  /** No process could be started. */
  | { readonly kind: 'noProcess'; readonly reason: string }
  /** Too many modules before it were stopped. */
  | { readonly kind: 'afterStops'; readonly stops: number };

/** After so many modules that took all of their time, the others are left unread: they may share what hangs. */
const MAX_SLOW_STOPS = 5;

const START_MS = 600_000;

/** How long a process that has reported every module may take to end. */
const EXIT_MS = 5_000;

/**
 * Imports the modules, in this order, in one process. A process that ends in a module is replaced by one that goes on
 * with the next.
 *
 * A module that ends a process which has read others before is tried again in a new one: what the others left behind,
 * timers or memory, may have ended it. A module that took its time is not tried again.
 */
async function importModules(
  modules: readonly ModuleRequest[],
  options: ImportOptions,
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  const outcomes = new Map<string, ModuleOutcome>();
  let slowStops = 0;
  for (;;) {
    const open = modules.filter(({ file }) => !outcomes.has(file));
    const [first] = open;
    if (first === undefined) return outcomes;
    const end = await runChild(open, options, outcomes);
    if (open.every(({ file }) => outcomes.has(file))) return outcomes;
    const { importing, verdict, reason } = end;
    const leaveUnread = (why: UnreadReason): void => {
      for (const { file } of open) if (!outcomes.has(file)) outcomes.set(file, { kind: 'unread', why });
    };
    // A process that ends before its first module would end again.
    if (importing === undefined && !outcomes.has(first.file)) leaveUnread({ kind: 'noProcess', reason });
    if (importing === undefined) continue;
    const isSlow = verdict === 'cpu' || verdict === 'wait';
    if (!isSlow && importing !== first.file) continue;
    outcomes.set(
      importing,
      verdict === undefined ? { kind: 'failed', file: importing, reason } : { kind: 'stopped', why: verdict },
    );
    if (isSlow) slowStops += 1;
    if (slowStops === MAX_SLOW_STOPS) leaveUnread({ kind: 'afterStops', stops: slowStops });
  }
}

interface ChildEnd {
  /** The module it was in, if it was in one. */
  readonly importing: string | undefined;
  /** The limit that the module met, if the watchdog ended the process. */
  readonly verdict: StopReason | undefined;
  readonly reason: string;
}

/** Runs one process to its end and collects what it reports into `outcomes`. */
function runChild(
  modules: readonly ModuleRequest[],
  { limits, ...options }: ImportOptions,
  outcomes: Map<string, ModuleOutcome>,
): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const child = launchChild(options, limits.memoryMb);
    let importing: string | undefined;
    let verdict = '';
    let failure: string | undefined;
    let open = modules.length;
    let timer = setTimeout(() => {
      failure = `it did not start within ${START_MS / 1000} s`;
      child.kill('SIGKILL');
    }, START_MS);
    const finish = (reason: string, stopped?: StopReason): void => {
      clearTimeout(timer);
      resolve({ importing, verdict: stopped, reason });
    };
    child.on('message', (message: ChildMessage) => {
      clearTimeout(timer);
      importing = message.kind === 'importing' ? message.file : undefined;
      if (message.kind === 'importing') return;
      outcomes.set(
        message.file,
        message.kind === 'unsettled' ? { kind: 'stopped', why: 'unsettled' } : message,
      );
      open -= 1;
      // Whatever its modules do when a process ends, they have been read.
      if (open === 0) timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
    });
    verdictStream(child)?.on('data', (text: Buffer) => {
      verdict += text.toString();
    });
    child.once('error', (error) => finish(error.message));
    child.once('close', (code, signal) => {
      const reason = failure ?? endReason(code, signal, heapLimitMb(limits.memoryMb));
      finish(
        reason,
        VERDICTS.find((each) => each === verdict),
      );
    });
    const request: ReadRequest = {
      root: options.root,
      loader: options.loader,
      modules: modules.map(({ file, classes }) => ({ file, classes })),
      limits,
    };
    // A child that dies at once closes the channel; its end is reported by `close`.
    child.send(request, () => {});
  });
}

function verdictStream(child: ChildProcess): Readable | undefined {
  return (child.stdio[VERDICT_FD] as Readable | null | undefined) ?? undefined;
}

const VERDICTS: readonly StopReason[] = ['cpu', 'wait', 'memory'];

/** How a process ends whose heap is full; Windows knows codes alone. */
const ABORTS: ReadonlySet<unknown> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 134]);

function endReason(code: number | null, signal: NodeJS.Signals | null, heapMb: number): string {
  if (ABORTS.has(signal ?? code))
    return `its process was aborted, as Node aborts one whose heap is full (${heapMb} MiB)`;
  return signal === null
    ? `it ended the process with exit code ${code ?? 0}`
    : `its process was ended by ${signal}`;
}

/** What decides how the child compiles the author's modules. */
export interface LaunchOptions {
  /** Absolute path of the project; the child's working directory. */
  readonly root: string;
  readonly loader: LoaderSettings;
}

/**
 * Starts the process that imports tool and resource modules: a separate one, so that a module may throw, exit, hang
 * or print without affecting codegen. Its output goes to stderr, since stdout may carry a protocol.
 *
 * @param memoryMb - what it may use, in MiB.
 */
function launchChild({ root }: LaunchOptions, memoryMb: number): ChildProcess {
  const { flags, env } = childConditions(root);
  return spawn(
    process.execPath,
    [
      ...flags,
      ...programFlags(),
      '--disable-warning=DEP0180',
      `--max-old-space-size=${heapLimitMb(memoryMb)}`,
      programFile(CHILD),
    ],
    {
      cwd: root,
      env,
      // The last one is the watchdog's.
      // By number: in a worker thread `process.stderr` is not a file.
      stdio: ['ignore', 2, 2, 'ipc', 'pipe'],
    },
  );
}

/** The limit that Node sets to the heap, for what grows faster than the watchdog looks at the memory of the process. */
function heapLimitMb(memoryMb: number): number {
  return memoryMb * 2;
}

const CHILD = 'codegen/schemas/child';

export interface ModuleMemory {
  readonly memo: Memo;
  readonly states: States;
  /** Takes the reads of all modules. */
  readonly inputs: Inputs;
}

/**
 * {@link importModules} for those modules that have changed, or anything that they depend on; without any, no process
 * is started.
 *
 * A module reads, beside the options of the loader and the classes that are asked for: the bytes of all modules that it
 * loads, as the loader's hooks have seen them, those of linked packages (workspaces) among them; the `package.json` of
 * each installed package, whose version identifies its content; files that the loader has looked for first; every
 * `package.json`, lockfile and record of a package manager in the folders above; and the environment variables, files
 * and folders that any module of the run has looked at.
 *
 * Faults are not kept, and neither is a run that has started a process, or in which a file has changed. Values from the
 * clock, from random numbers or from the network are not seen.
 */
export async function importRemembered(
  modules: readonly ModuleRequest[],
  options: ImportOptions,
  memory: ModuleMemory | undefined,
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  if (memory === undefined || modules.length === 0) return importModules(modules, options);
  const { memo, inputs, states } = memory;
  const { root, loader } = options;
  const outcomes = new Map<string, ModuleOutcome>();
  const markOf = marksIn(root, states);
  const keyOf = ({ classes }: ModuleRequest): string =>
    JSON.stringify([loader, classes.map(({ kind, exportName }) => [kind, exportName])]);
  for (const module of modules) {
    const { file } = module;
    const entry = memo.entry<readonly ClassReading[]>('module', file, keyOf(module), markOf);
    if (entry === undefined) continue;
    inputs.add(entry.reads);
    outcomes.set(file, { kind: 'imported', file, classes: entry.output, reads: NO_READS, loads: [] });
  }
  const start = Date.now();
  const imported = await importModules(
    modules.filter(({ file }) => !outcomes.has(file)),
    options,
  );
  // Which module reads first what several of them need is chance: the reads of each count for all.
  const shared = mergeReads(
    [...imported.values()].map((each) => ('reads' in each && each.reads) || NO_READS),
  );
  for (const module of modules) {
    const outcome = imported.get(module.file);
    if (outcome === undefined) continue;
    outcomes.set(module.file, outcome);
    if (outcome.kind !== 'imported') continue;
    const paths = [...outcome.loads, ...manifestsOf(outcome.loads)];
    const reads = new Map<string, string>([
      [CONDITIONS_READ, markOf(CONDITIONS_READ)],
      ...paths.map((path) => [path, changedSince(start, path) ? 'changed' : markOf(path)] as const),
      ...shared.variables.map(variableRead).map((reading) => [reading, markOf(reading)] as const),
      ...Object.entries(shared.paths),
    ]);
    inputs.add(reads);
    const isCurrent = [...reads].every(([read, mark]) => markOf(read) === mark);
    if (!shared.isOpen && isCurrent && outcome.classes.every(isSound))
      memo.keep('module', module.file, keyOf(module), outcome.classes, reads);
    else inputs.isOpen = true;
  }
  return outcomes;
}

/** What decides which packages the modules find. */
function manifestsOf(files: readonly string[]): readonly string[] {
  const folders = new Set(files.filter((file) => !file.split(sep).includes('node_modules')).map(dirname));
  const manifests = [...new Set([...folders].flatMap(foldersAbove))].flatMap(manifestsIn);
  const missing = manifests
    .map((file) => join(dirname(file), 'node_modules'))
    .filter((each) => !existsSync(each));
  return [...new Set([...manifests, ...missing])];
}

/** Whether a file may have changed after a process has loaded it that was started at this time. */
function changedSince(start: number, path: string): boolean {
  const { mtimeMs, ctimeMs } = statsOf(path) ?? { mtimeMs: 0, ctimeMs: 0 };
  return Math.max(mtimeMs, ctimeMs) > start;
}

/** A fault may be gone in the next run. */
function isSound(reading: ClassReading): boolean {
  switch (reading.kind) {
    case 'tool':
      return [reading.input, reading.output].every((side) => side === undefined || side.kind === 'schema');
    case 'resource':
      return true;
    case 'missing':
      return false;
    default:
      return reading satisfies never;
  }
}
