import { realpathSync, type Stats } from 'node:fs';
import path from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { realPath, relativePath } from '../formats/source-record.js';
import { type CodegenOptions, type CodegenResult, type ProjectRun, runProject } from './codegen.js';
import { Inputs } from './incremental/inputs.js';
import { CodegenSession, memoryOf } from './incremental/memory.js';
import { recallRun } from './incremental/run-record.js';
import { MANIFEST_FILE } from './manifest.js';

export interface WatchOptions extends Omit<CodegenOptions, 'check' | 'overlay'> {
  /** Called after each run, the first one included. What it throws ends the process, as in any callback. */
  readonly onRun: (run: WatchedRun) => void;
  /** Called where the file system cannot be watched, for example because there are too many files. */
  readonly onError?: (error: Error) => void;
  /** How long there is no further change before a run. Default: 50 ms. */
  readonly debounceMs?: number;
}

/** A run of codegen that a change has caused. */
export interface WatchedRun {
  /** The changed files, relative to the root with `/`; empty for the first run. */
  readonly changes: readonly string[];
  /** Missing where codegen itself failed. */
  readonly result?: CodegenResult;
  /** Why codegen itself failed. */
  readonly error?: Error;
  readonly milliseconds: number;
}

export interface CodegenWatcher {
  /** Stops watching. Resolves once a run in progress is over; `onRun` is not called for it. */
  close(): Promise<void>;
}

/**
 * Runs codegen, and again whenever something changes that a run depends on: sources, files that they import or embed,
 * configurations. Changes that come together cause one run. A file that is written with the bytes it had causes none,
 * and neither do the registries that codegen writes.
 *
 * @throws Error where the root is not there.
 * @example
 * ```ts
 * const watcher = watchCodegen({ onRun: ({ changes, result }) => console.log(changes, result?.written) });
 * process.once('SIGINT', () => watcher.close());
 * ```
 */
export function watchCodegen(options: WatchOptions): CodegenWatcher {
  return new Watcher(options);
}

/** A run, with what a program needs that serves the project. */
interface ProjectChange extends WatchedRun {
  readonly result?: ProjectRun;
  /** The states of what the run has read, by absolute paths. */
  readonly states: ReadonlyMap<string, string>;
}

/** What follows a project for a program that serves it. */
export interface ProjectWatch extends Omit<WatchOptions, 'onRun'> {
  /** Called where a run begins after a change. */
  readonly onStart?: () => void;
  /** The run is recorded for later ones when the promise that it may return resolves. */
  readonly onRun: (run: ProjectChange) => void | Promise<void>;
}

/** As {@link watchCodegen}. */
export function watchProject(options: ProjectWatch): CodegenWatcher {
  return new Watcher(options);
}

/** What a module may load, and what may be a spec file. */
const LOADED = /\.(?:[cm]?[jt]sx?|json|ya?ml|xml)$/;

const NEVER: ReadonlySet<string> = new Set(['node_modules', '.git', '.stepwright']);

const DEBOUNCE_MS = 50;

/** The watcher drops events that follow within 100 ms of another of the same file. */
const SECOND_LOOK_MS = 150;

class Watcher implements CodegenWatcher {
  readonly #options: ProjectWatch;
  readonly #root: string;
  readonly #watcher: FSWatcher;
  readonly #session: CodegenSession;
  /** Absolute paths of files that an event has named since the last look. */
  readonly #changes = new Set<string>();
  /** What the last run has looked at. Its registries are among it. */
  #paths: ReadonlyMap<string, string> = new Map();
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #secondLooks = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(options: ProjectWatch) {
    this.#options = options;
    this.#root = realpathSync(options.root ?? '.');
    this.#session = options.session ?? new CodegenSession();
    // Not `fs.watch`: on Linux its recursive mode misses files in folders that are made or renamed while it looks.
    this.#watcher = watch(this.#root, {
      ignored: (file, stats) => this.#isIgnored(file, stats),
      // A file that is watched later may have changed before: its `add` has it compared.
      ignoreInitial: false,
      // A link may lead to anything. Those that lead to sources are followed once a run has read them.
      followSymlinks: false,
      // Files are compared by their bytes, after a while without changes.
      atomic: false,
      ignorePermissionErrors: true,
    });
    this.#watcher.on('error', (error) => options.onError?.(error as Error));
    // What changes while the first run reads must not be missed.
    this.#watcher.once('ready', () => {
      this.#watcher.on('all', (_event, file) => this.#note(path.resolve(file)));
      this.#start([]);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#timer, ...this.#secondLooks]) clearTimeout(timer);
    await this.#watcher.close();
    await this.#running;
  }

  #isIgnored(file: string, stats: Stats | undefined): boolean {
    if (file === this.#root) return false;
    const names = path.relative(this.#root, file).split(path.sep);
    if (names.some((name) => NEVER.has(name))) return !this.#isReadManifest(file);
    return stats?.isFile() === true && !LOADED.test(file) && !this.#paths.has(file);
  }

  #note(file: string): void {
    if (!this.#paths.has(file) && !LOADED.test(file)) return;
    this.#look(file);
    const timer = setTimeout(() => {
      this.#secondLooks.delete(timer);
      this.#look(file);
    }, SECOND_LOOK_MS);
    this.#secondLooks.add(timer);
  }

  #look(file: string): void {
    this.#changes.add(file);
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#judge(), this.#options.debounceMs ?? DEBOUNCE_MS);
  }

  /** Starts a run, if what has changed may make a difference. */
  #judge(): void {
    // The end of the run looks again.
    if (this.#isClosed || this.#running !== undefined || this.#changes.size === 0) return;
    const changedFiles = [...this.#changes];
    this.#changes.clear();
    const isSeen = (file: string) => this.#paths.has(file);
    const changed = changedFiles.filter(
      (file) => isSeen(file) && this.#stateOf(file) !== this.#paths.get(file),
    );
    // A new file may be a source, and any module may be what a tool imports.
    const others = changedFiles.filter((file) => !isSeen(file));
    if (changed.length > 0) this.#start(changed);
    else if (others.length > 0 && !this.#isUnchanged()) this.#start(others);
  }

  #isUnchanged(): boolean {
    const { configFile, cache = true } = this.#options;
    return cache && recallRun({ root: this.#root, configFile }) !== undefined;
  }

  #start(changes: readonly string[]): void {
    if (this.#isClosed) return;
    this.#running = this.#run(changes).finally(() => {
      this.#running = undefined;
      if (this.#changes.size > 0 && !this.#isClosed) this.#wait();
    });
  }

  async #run(changed: readonly string[]): Promise<void> {
    const { onRun, onStart, onError: _, debounceMs: __, ...options } = this.#options;
    if (changed.length > 0) onStart?.();
    const inputs = new Inputs(this.#root, memoryOf(this.#session).states);
    const start = performance.now();
    const outcome = await runProject({ ...options, root: this.#root, session: this.#session }, inputs).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
    const milliseconds = performance.now() - start;
    const changes = changed.map((file) => relativePath(this.#root, file)).sort();
    if (!this.#isClosed) await onRun({ changes, ...outcome, milliseconds, states: inputs.paths });
    const result = 'result' in outcome ? outcome.result : undefined;
    result?.record();
    this.#watch(inputs, result);
  }

  /** Watches what a run has looked at as well: files outside of the root, and files that it embeds. */
  #watch(inputs: Inputs, result: CodegenResult | undefined): void {
    const paths = new Map(inputs.paths);
    for (const file of [...(result?.written ?? []), ...(result?.current ?? [])]) {
      const out = path.join(this.#root, file);
      paths.set(out, this.#stateOf(out));
    }
    // A run that fails before it reads anything must not forget what it depends on.
    if (result === undefined)
      for (const [file] of this.#paths) if (!paths.has(file)) paths.set(file, this.#stateOf(file));
    this.#paths = paths;
    const files = [...paths].filter(([, state]) => state.startsWith('file ')).map(([file]) => file);
    const further = files.filter((file) => this.#isFurther(file));
    if (!this.#isClosed) this.#watcher.add([...further, ...this.#behindLinks(files)]);
  }

  /** Where links lead that sources are read through: files, and folders. */
  #behindLinks(files: readonly string[]): readonly string[] {
    const targets = files.flatMap((file) => {
      const real = realPath(file);
      const isOwn = file.startsWith(this.#root + path.sep) && !file.split(path.sep).includes('node_modules');
      if (!isOwn || real === file) return [];
      const folder = path.dirname(file);
      return folder === realPath(folder) ? [real] : [real, realPath(folder)];
    });
    return [...new Set(targets)];
  }

  #isFurther(file: string): boolean {
    if (file.split(path.sep).includes('node_modules')) return this.#isReadManifest(file);
    return !file.startsWith(this.#root + path.sep) || !LOADED.test(file);
  }

  /** Installed packages are not watched, except for what they say about their tools. */
  #isReadManifest(file: string): boolean {
    return path.basename(file) === MANIFEST_FILE && this.#paths.has(file);
  }

  #stateOf(file: string): string {
    return memoryOf(this.#session).states.of(file);
  }
}
