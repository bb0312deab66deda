import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { withLimit } from '../../runtime/upstream/long-timer.js';
import type { Output } from '../command-line.js';

export interface Terminal {
  print(text: string): void;
  /** A line of the person; undefined after the end of the input. */
  ask(question: string): Promise<string | undefined>;
  close(): void;
}

/** The terminal of this process. Lines may also come from a pipe. */
export function openTerminal(output: Output): Terminal {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const iterator = lines[Symbol.asyncIterator]();
  return {
    print: (text) => output.err(`${text}\n`),
    async ask(question) {
      output.err(`${question} `);
      const { done, value } = await iterator.next();
      return done === true ? undefined : value;
    },
    close: () => lines.close(),
  };
}

export function isYes(line: string | undefined): boolean {
  return /^\s*y(es)?\s*$/i.test(line ?? '');
}

/** A program to run, with a shell or without one. */
interface Program {
  readonly command: string;
  /** Arguments of `command`, which then is the name of a program, and no shell reads them. */
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: empty. */
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

/** What a program printed, as the result of a step of kind `shell`. */
interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly truncated?: boolean;
}

/** So many UTF-16 code units of each stream are kept. */
const LONGEST_OUTPUT = 250_000;

/** A program that is stopped has so long to end by itself. */
const GRACE_MS = 2_000;

/**
 * Runs a program to its end. At its limit, or when `signal` is aborted, the programs that it started end with it.
 * @throws Error when it cannot be started, or is ended by a signal; a `TimeoutError` when its limit has passed.
 */
export async function runProgram({ timeoutMs, signal, ...program }: Program): Promise<Printed> {
  return withLimit(timeoutMs, signal, async (stop, isLate) => {
    try {
      return await runUntil(stop, program);
    } catch (fault) {
      if (isLate()) throw new DOMException(`Timed out after ${timeoutMs} ms.`, 'TimeoutError');
      throw fault;
    }
  });
}

async function runUntil(stop: AbortSignal, program: Omit<Program, 'signal'>): Promise<Printed> {
  stop.throwIfAborted();
  const { command, argv, env, input = '' } = program;
  const child = spawn(command, argv ?? [], {
    env: { ...process.env, ...env },
    shell: argv === undefined,
    detached: HAS_GROUPS,
  });
  const [stdout, stderr] = [new OutputText(), new OutputText()];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.add(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.add(text));
  // A program need not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const exit_code = await exitOf(child, stop);
  const isCut = stdout.isCut || stderr.isCut;
  return { stdout: stdout.text, stderr: stderr.text, exit_code, ...(isCut ? { truncated: true } : {}) };
}

/** The exit code of a program, which ends at a signal: first with a request, then by force. */
async function exitOf(child: ChildProcessWithoutNullStreams, stop: AbortSignal): Promise<number> {
  let grace: NodeJS.Timeout | undefined;
  const end = () => {
    signalGroup(child, 'SIGTERM');
    grace = setTimeout(() => {
      signalGroup(child, 'SIGKILL');
      // A program outside the group may still hold the pipes, which would delay `close`.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    }, GRACE_MS);
  };
  stop.addEventListener('abort', end, { once: true });
  try {
    const [code, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    stop.throwIfAborted();
    if (code === null) throw new Error(`The program was ended by ${ended ?? 'a signal'}`);
    return code;
  } finally {
    stop.removeEventListener('abort', end);
    clearTimeout(grace);
  }
}

/** Whether a program can be the leader of a process group, which has the programs that it starts. */
const HAS_GROUPS = process.platform !== 'win32';

function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(HAS_GROUPS ? -pid : pid, signal);
  } catch {
    // The group has ended.
  }
}

class OutputText {
  text = '';
  isCut = false;

  add(text: string): void {
    this.text += text;
    if (this.text.length <= LONGEST_OUTPUT) return;
    this.text = this.text.slice(0, LONGEST_OUTPUT);
    this.isCut = true;
  }
}
