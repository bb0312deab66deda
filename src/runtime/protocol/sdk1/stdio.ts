import { Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { ServerTransport } from './connect.js';

/** The process's stdin and stdout, taken over for the protocol. */
export interface Stdio {
  readonly transport: ServerTransport;
  /** Settles when the client has closed its end: stdin ended, or stdout broke. */
  readonly hungUp: Promise<void>;
  /** Gives stdout back. */
  release(): void;
}

/**
 * Takes stdout over for protocol messages. Whatever else writes to it, `console.*` included, reaches stderr instead:
 * one stray line would make the client drop the connection.
 */
export function claimStdio(): Stdio {
  const { stdin, stdout, stderr } = process;
  const toClient = stdout.write;
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string, encoding, done) => void toClient.call(stdout, chunk, encoding, done),
  });
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const hungUp = new Promise<void>((resolve) => {
    const gone = (): void => resolve();
    for (const event of ['end', 'close', 'error'] as const) stdin.once(event, gone);
    // These stay: a client that left makes every later write fail, which must not end the process by itself.
    output.on('error', gone);
    stdout.on('error', gone);
    stderr.on('error', () => {});
  });
  return {
    transport: new StdioServerTransport(stdin, output),
    hungUp,
    release: () => {
      stdout.write = toClient;
    },
  };
}
