import { constants } from 'node:os';
import { clip } from '../../graph/printable-text.js';
import { thrownReport } from '../tools/exceptions.js';
import { encodedLog, type Log, type LogFunction } from '../tools/log.js';
import type { StepwrightServer } from './stepwright-server.js';

export interface GuardOptions {
  /** Receives each stray error with its stack and causes, for the operator. Default: writes to stderr. */
  readonly log?: LogFunction;
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
      log(`The server cannot go on and ends with exit code 1: ${thrownReport(error)}`, {
        event: 'process.fatal_error',
      });
      process.exit(1);
    }
    log(
      `${origin === 'unhandledRejection' ? 'A rejection was left unhandled' : 'An error was thrown outside of any call'}; the server keeps serving: ${thrownReport(error)}`,
      { event: 'process.stray_error' },
    );
  };
  process.on('uncaughtException', report);
  // What reads stderr may end first. The failure to write would be reported there, which fails again, and so on for ever.
  process.stderr.on('error', ignore);
  return () => {
    process.off('uncaughtException', report);
    process.stderr.off('error', ignore);
  };
}

function ignore(): void {}

function isFatal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'listen' || syscall === 'bind' || code === 'ERR_INTERNAL_ASSERTION';
}

/**
 * Makes what reports that something writes to stdout, which is the protocol's. Each tool is named once: the first line
 * says what to change.
 */
export function strayOutputReport(server: Pick<StepwrightServer, 'toolsInCall'>, log: Log): () => void {
  const reported = new Set<string>();
  return () => {
    const tools = server.toolsInCall().filter((tool) => !reported.has(tool));
    if (tools.length === 0) return;
    for (const tool of tools) reported.add(tool);
    log(
      `stdout belongs to the protocol: what was written to it during the call of ${toolList(tools)} goes to stderr. Log with \`console.error\` or \`context.log\``,
      { event: 'process.stray_output', level: 'warning', ...only(tools) },
    );
  };
}

/**
 * Reports the end of the process during a call of a tool: nothing else says which tool called `process.exit`.
 *
 * @returns what stops that.
 */
export function reportExitDuringCalls(server: Pick<StepwrightServer, 'toolsInCall'>, log: Log): () => void {
  const report = (code: number): void => {
    const tools = server.toolsInCall();
    if (tools.length > 0)
      log(
        `the process ends with exit code ${code} during the call of ${toolList(tools)}. If that called \`process.exit\`: throw an error instead, which fails the call alone`,
        { event: 'process.exit_in_call', ...only(tools) },
      );
  };
  process.on('exit', report);
  return () => void process.off('exit', report);
}

/** The subject of a record about one tool. */
function only([tool, ...others]: readonly string[]): { readonly tool?: string } {
  return tool === undefined || others.length > 0 ? {} : { tool };
}

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

function toolList(tools: readonly string[]): string {
  return `${tools.length === 1 ? 'tool' : 'tools'} ${tools.map((tool) => `\`${clip(tool)}\``).join(', ')}`;
}
