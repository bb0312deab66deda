#!/usr/bin/env node
import { dispatch, processOutput, reportInternal } from './dispatch.js';

process.on('uncaughtException', (error) => {
  reportInternal(error, processOutput);
  process.exit(3);
});
outliveReaders();

process.exitCode = await dispatch(process.argv.slice(2), processOutput);

/**
 * Keeps the process alive when its output is not read any more, as after `| head -1`: what cannot be written is dropped.
 * The command goes on to its end, since a run may be in the middle of its side effects, and its exit code is its own.
 * Output that is lost for another reason, such as a full disk, ends the process with a sentence and the exit code 1.
 */
export function outliveReaders(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isClosed(error)) return;
    process.stderr.write(`${`stepwright: the output cannot be written: ${error.message}`}\n`);
    process.exit(1);
  });
  // There is no other place for a sentence about it.
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosed(error)) process.exit(1);
  });
}

/** Whether the reader has closed its end: of a pipe, of a socket, or of a terminal that was hung up. */
function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED';
}
