import { type LaunchOptions, launchChild } from './launch.js';
import type { ChildMessage, ModuleRequest, ReadRequest } from './protocol.js';
import { texts } from './texts.js';

export type ImportOptions = LaunchOptions & {
  /** How long one process may take for its modules, in milliseconds; the same again for its start. */
  readonly timeoutMs: number;
};

/** How the import of one module ended. A module that nothing is known of is missing from the outcomes. */
export type ModuleOutcome = Exclude<ChildMessage, { kind: 'importing' }> | { readonly kind: 'timedOut' };

/**
 * Imports the modules, in this order, in one process. A process that ends in a module is replaced by one that goes on
 * with the next; a process that hangs is killed, and what it has not reached stays unread.
 */
export async function importModules(
  modules: readonly ModuleRequest[],
  options: ImportOptions,
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  const outcomes = new Map<string, ModuleOutcome>();
  for (;;) {
    const open = modules.filter(({ file }) => !outcomes.has(file));
    const [next] = open;
    if (next === undefined) return outcomes;
    const { timedOut, importing, reason } = await runChild(open, options, outcomes);
    const isDone = open.every(({ file }) => outcomes.has(file));
    if (isDone) return outcomes;
    const culprit = importing ?? next.file;
    outcomes.set(culprit, timedOut ? { kind: 'timedOut' } : { kind: 'failed', file: culprit, reason });
    // A process that ends before its first module would end again: one report is enough.
    if (timedOut || importing === undefined) return outcomes;
  }
}

interface ChildEnd {
  readonly timedOut: boolean;
  /** The module it was in, if it was in one. */
  readonly importing: string | undefined;
  readonly reason: string;
}

/** Runs one process to its end and collects what it reports into `outcomes`. */
function runChild(
  modules: readonly ModuleRequest[],
  options: ImportOptions,
  outcomes: Map<string, ModuleOutcome>,
): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const child = launchChild(options);
    let importing: string | undefined;
    let started = false;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, options.timeoutMs);
    const finish = (reason: string): void => {
      clearTimeout(timer);
      resolve({ timedOut, importing, reason });
    };
    child.on('message', (message: ChildMessage) => {
      // How long a loaded machine takes to start a process is no fault of a module.
      if (!started) timer.refresh();
      started = true;
      importing = message.kind === 'importing' ? message.file : undefined;
      if (message.kind !== 'importing') outcomes.set(message.file, message);
    });
    child.once('error', (error) => finish(error.message));
    child.once('close', (code, signal) => finish(endReason(code, signal)));
    const request: ReadRequest = {
      root: options.root,
      modules: modules.map(({ file, classes }) => ({ file, classes })),
    };
    // A child that dies at once closes the channel; its end is reported by `close`.
    child.send(request, () => {});
  });
}

function endReason(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? texts.exited(code ?? 0) : texts.killed(signal);
}
