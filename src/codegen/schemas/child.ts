import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { observeReads } from './cache/observe.js';
import type { Reads } from './cache/reads.js';
import { readClass } from './class-reading.js';
import { isCommonJs, requireModule } from './commonjs.js';
import type { ChildMessage, ClassReading, ModuleRequest, ReadRequest } from './protocol.js';
import { importFailure } from './reason.js';
import { findSyntaxFault } from './syntax-fault.js';
import { startWatchdog } from './watchdog.js';

/** The process that imports tool and resource modules and reports what their classes declare. */

process.on('disconnect', () => process.exit(1));
// A module's timers and rejections are its own business: its classes can be read all the same.
process.on('uncaughtException', print);
process.on('unhandledRejection', print);
process.once('message', (request) => void answer(request as ReadRequest));

function print(error: unknown): void {
  process.stderr.write(`${inspect(error)}\n`);
}

async function answer({ root, modules, limits }: ReadRequest): Promise<void> {
  // An open channel is no sign that something is still going on.
  process.channel?.unref();
  const watchdog = startWatchdog(limits);
  const takeReads = observeReads();
  for (const [index, module] of modules.entries()) {
    watchdog.enter(index);
    await report(root, module, takeReads);
    watchdog.leave();
  }
  // Servers and timers that a module has opened would keep this process alive for ever.
  process.exit(0);
}

async function report(root: string, { file, classes }: ModuleRequest, takeReads: () => Reads): Promise<void> {
  // Waits until the message is out: a module that blocks the thread would keep it in here.
  await send({ kind: 'importing', file });
  const path = join(root, file);
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = (await Promise.race([load(path), emptyLoop()])) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error === UNSETTLED) {
      await send({ kind: 'unsettled', file });
      return;
    }
    const reads = takeReads();
    const failure = importFailure(error, root, () => findSyntaxFault(path, root));
    // What we have looked at ourselves is no concern of the modules.
    takeReads();
    await send({ kind: 'failed', file, ...failure, reads });
    return;
  }
  const readings: ClassReading[] = classes.map((wanted) => readClass(exports, wanted, path));
  await send({ kind: 'imported', file, classes: readings, reads: takeReads() });
}

const UNSETTLED = Symbol('unsettled');

/** Rejects with {@link UNSETTLED} when nothing is left in this process that could settle a promise. */
function emptyLoop(): Promise<never> {
  return new Promise((_, reject) => {
    rejectUnsettled = () => reject(UNSETTLED);
  });
}

let rejectUnsettled = (): void => {};
process.on('beforeExit', () => rejectUnsettled());

/** `import` of a CommonJS module finds its exports by their JavaScript text, which a TypeScript file has not. */
function load(path: string): unknown {
  return isCommonJs(path) ? requireModule(path) : import(pathToFileURL(path).href);
}

function send(message: ChildMessage): Promise<void> {
  return new Promise((done) => {
    if (process.send === undefined) done();
    else process.send(message, undefined, undefined, () => done());
  });
}
