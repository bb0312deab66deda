import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { programFile } from '../formats/own-files.js';
import type { Severity } from '../graph/diagnostics/diagnostic.js';
import type { Span } from '../graph/source-location.js';

/** How long an answer may take, in milliseconds: a thread that has ended does not say so while this one waits. */
const LONGEST_MS = 300_000;

let ask: ((request: Request) => Answer) | undefined;

/** The problems of a file, from the worker; this thread waits for them. */
export function checkFile(request: Request): Answer {
  ask ??= startWorker();
  return ask(request);
}

function startWorker(): (request: Request) => Answer {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(programFile('eslint/worker'), {
    workerData: { port: port2, signal },
    transferList: [port2],
  });
  // Neither keeps the process of ESLint alive.
  worker.unref();
  port1.unref();
  return (request) => {
    Atomics.store(signal, 0, 0);
    port1.postMessage(request);
    const ended = Atomics.wait(signal, 0, 0, LONGEST_MS);
    const received = receiveMessageOnPort(port1) as { readonly message: Answer } | undefined;
    if (received !== undefined) return received.message;
    ask = undefined;
    void worker.terminate();
    return { failure: `no answer${ended === 'timed-out' ? ` within ${LONGEST_MS / 1000} s` : ''}` };
  };
}

/** What the rules ask the worker. */
export interface Request {
  /** Absolute path of the file that is linted. */
  readonly file: string;
  /** Its text, saved or not. */
  readonly text: string;
  /** The working directory of ESLint. */
  readonly cwd: string;
  /** The project's folder, relative to the working directory; found by the file where it is missing. */
  readonly root?: string;
  /** Relative to the root. */
  readonly configFile?: string;
}

/** One diagnostic of a file. */
export interface Problem {
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span;
  readonly repair?: Repair;
}

/** A replacement of a part of the text. */
export interface Repair {
  readonly span: Span;
  readonly text: string;
  /** Whether it is right in any case: then ESLint applies it by `--fix`, else it is a suggestion. */
  readonly isCertain: boolean;
}

/** What the worker answers: the problems, or why there is no answer. */
export type Answer = { readonly problems: readonly Problem[] } | { readonly failure: string };
