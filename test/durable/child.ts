import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { compilePrograms } from '../compiled-programs.js';

/** Starts a program of this folder. */
export interface Program {
  (...args: readonly string[]): Child;
  /** The same in a process whose files may have so many kB: what is more than that fails, as on a full disk. */
  limited(kB: number, ...args: readonly string[]): Child;
}

/** Compiles a program of this folder for the tests of a file. Returns what starts it. */
export function programOf(name: string): Program {
  let programs: Awaited<ReturnType<typeof compilePrograms>>;
  beforeAll(async () => {
    programs = await compilePrograms({
      [name]: fileURLToPath(new URL(`${name}.fixture.ts`, import.meta.url)),
    });
  }, 60_000);
  afterAll(() => programs.remove());
  const start = (...args: readonly string[]) => new Child([process.execPath, programs.file(name), ...args]);
  const limited = (kB: number, ...args: readonly string[]) => {
    // Bash counts in kB. Without the trap the signal ends the process.
    const limit = `trap '' XFSZ; ulimit -f ${kB}; exec "$@"`;
    return new Child(['bash', '-c', limit, 'bash', process.execPath, programs.file(name), ...args]);
  };
  return Object.assign(start, { limited });
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

  constructor([command = '', ...args]: readonly string[]) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
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
