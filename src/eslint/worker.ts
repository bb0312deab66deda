import { type MessagePort, workerData } from 'node:worker_threads';
import type { Answer, Request } from './service.js';

/** The thread that checks: rules of ESLint are synchronous, and codegen is not. */

const { port, signal } = workerData as { readonly port: MessagePort; readonly signal: Int32Array };

port.on('message', (request: Request) => void answer(request));

async function answer(request: Request): Promise<void> {
  const result = await check(request).catch((error: unknown): Answer => {
    return { failure: error instanceof Error ? error.message : String(error) };
  });
  port.postMessage(result);
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}

let checker: Promise<InstanceType<typeof import('./check.js')['Checker']>> | undefined;

async function check(request: Request): Promise<Answer> {
  // Loaded here, so that a compiler that is not installed is said where people look.
  checker ??= import('./check.js').then(({ Checker }) => new Checker());
  return { problems: await (await checker).check(request) };
}
