import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { programFile } from '../codegen/own-files.js';
import type { Answer, Request } from './contract.js';

/** How long an answer may take, in milliseconds: a thread that has ended does not say so while this one waits. */
const LONGEST_MS = 300_000;

let ask: ((request: Request) => Answer) | undefined;
let latest: { readonly request: Request; readonly answer: Answer } | undefined;

/** The problems of a file, from the worker; this thread waits for them. Two rules that ask for one text ask once. */
export function checkFile(request: Request): Answer {
  const isSame = latest?.request.file === request.file && latest.request.text === request.text;
  if (latest !== undefined && isSame && latest.request.root === request.root) {
    const { answer } = latest;
    latest = undefined;
    return answer;
  }
  ask ??= startWorker();
  const answer = ask(request);
  latest = { request, answer };
  return answer;
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
