import { constants } from 'node:os';
import type { StepwrightServer } from './stepwright-server.js';

export interface DrainOnSignalsOptions {
  /** Ends the connections to clients. Called once every request has its answer. */
  readonly close?: () => void | Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** How long the process may take to end by itself: a tool may hold a timer or a socket. */
const EXIT_GRACE_MS = 1_000;

/**
 * Drains a server on SIGTERM and SIGINT, closes its connections, and ends the process with exit code 0. How long runs
 * may take to finish is the server's option `drainTimeoutMs`. A second signal ends the process at once, with the exit
 * code of that signal (143 and 130).
 *
 * @returns what stops listening for the signals.
 * @example
 * ```ts
 * drainOnSignals(server, { close: () => http.close() });
 * ```
 */
export function drainOnSignals(
  server: Pick<StepwrightServer, 'drain'>,
  { close }: DrainOnSignalsOptions = {},
): () => void {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    void server
      .drain()
      .then(() => close?.())
      .finally(endProcess);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  return () => {
    for (const signal of SIGNALS) process.off(signal, stop);
  };
}

/** Lets the process end by itself, and ends it when something still holds it after {@link EXIT_GRACE_MS}. */
export function endProcess(): void {
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
}
