import { encodedLog } from '../catalogue/log.js';
import { thrownReport } from '../catalogue/thrown.js';
import { texts } from './texts.js';

export interface GuardOptions {
  /** Receives each stray error with its stack and causes, for the operator. Default: writes to stderr. */
  readonly log?: (text: string) => void;
}

/**
 * Keeps the process alive when a tool throws in a callback or leaves a rejection unhandled, over any transport. The call
 * that left the error behind has its own answer, and runs share no state: the other clients are served as before. Each
 * error is logged with its stack.
 *
 * An error after which no client can be served ends the process with exit code 1 all the same: the server cannot listen
 * (`EADDRINUSE` for example), or Node reports that its own state is broken. Call it once the server listens, so that a
 * program that fails to start ends as usual.
 *
 * @returns what takes the guard away.
 */
export function guardProcess(options: GuardOptions = {}): () => void {
  const log = encodedLog(options.log);
  // Unhandled rejections arrive here as well.
  const report = (error: unknown, origin: string): void => {
    if (isFatal(error)) {
      log(texts.fatalError(thrownReport(error)));
      process.exit(1);
    }
    log(texts.strayError(origin === 'unhandledRejection', thrownReport(error)));
  };
  process.on('uncaughtException', report);
  return () => void process.off('uncaughtException', report);
}

function isFatal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'listen' || syscall === 'bind' || code === 'ERR_INTERNAL_ASSERTION';
}
