import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { programFile } from '../formats/own-files.js';
import type { Answer, Request } from './contract.js';

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
