import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { compilePrograms } from '../compiled-programs.js';

/** Compiles a program of this folder for the tests of a file. Returns what starts it. */
export function programOf(name: string): (...args: readonly string[]) => Child {
  let programs: Awaited<ReturnType<typeof compilePrograms>>;
  beforeAll(async () => {
    programs = await compilePrograms({
      [name]: fileURLToPath(new URL(`${name}.fixture.ts`, import.meta.url)),
    });
  }, 60_000);
  afterAll(() => programs.remove());
  return (...args) => new Child(programs.file(name), args);
}

/** A program in a process of its own. */
export class Child {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  readonly lines: string[] = [];
  /** What it has written to stderr. */
  errors = '';
  readonly closed: Promise<unknown>;
  readonly #watchers = new Set<() => void>();

  constructor(file: string, args: readonly string[]) {
    this.process = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdout, stderr } = this.process;
    if (stdout === null || stderr === null) throw new Error('the process has no output');
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    createInterface({ input: stdout }).on('line', (line) => {
      this.lines.push(line);
      for (const watcher of this.#watchers) watcher();
    });
    this.closed = once(this.process, 'close');
  }

  /** Resolves as soon as so many lines were printed. Rejects if the process ends before. */
  async printed(count: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (this.lines.length < count) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      void this.closed.then(() =>
        reject(new Error(`it ended after ${this.lines.length} lines: ${this.errors}`)),
      );
      look();
    });
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.closed;
  }
}
