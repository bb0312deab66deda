import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Output } from './command-line.js';

/** A person at a terminal. */
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

/** Runs a program to its end. @throws Error when it cannot be started, or is ended by a signal or its limit. */
export async function runProgram(program: Program): Promise<Printed> {
  const { command, argv, env, input = '', timeoutMs, signal } = program;
  const options = {
    env: { ...process.env, ...env },
    signal,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  };
  const child =
    argv === undefined ? spawn(command, { ...options, shell: true }) : spawn(command, argv, options);
  const [stdout, stderr] = [new OutputText(), new OutputText()];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.add(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.add(text));
  // A program need not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const exit_code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, ended) => {
      if (code === null) reject(new Error(`The program was ended by ${ended ?? 'a signal'}`));
      else resolve(code);
    });
  });
  const isCut = stdout.isCut || stderr.isCut;
  return { stdout: stdout.text, stderr: stderr.text, exit_code, ...(isCut ? { truncated: true } : {}) };
}

/** The beginning of an output. */
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
