import { Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { ServerTransport } from './connect.js';
import { MessageLines } from './message-lines.js';
import { texts } from './texts.js';

/** The process's stdin and stdout, taken over for the protocol. */
export interface Stdio {
  readonly transport: ServerTransport;
  /** Settles when the client sends nothing more: stdin ended, and every message of it was taken in. */
  readonly ended: Promise<void>;
  /** Settles when the client reads nothing more: stdout broke. */
  readonly broken: Promise<void>;
  /** Gives stdout back. */
  release(): void;
}

/**
 * Takes stdout over for protocol messages. Whatever else writes to it, `console.*` included, reaches stderr instead:
 * one stray line would make the client drop the connection. Lines of stdin that are no messages are answered with a
 * protocol error here and told of in one line on stderr each.
 */
export function claimStdio(): Stdio {
  const { stdin, stdout, stderr } = process;
  const toClient = stdout.write;
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string, encoding, done) => void toClient.call(stdout, chunk, encoding, done),
  });
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const input = new MessageLines((answer) => {
    stderr.write(`${texts.refused(answer.error.message)}\n`);
    output.write(`${JSON.stringify(answer)}\n`);
  });
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve);
  });
  // A broken stdin has ended as well: `pipe` alone would leave the lines open.
  for (const event of ['close', 'error'] as const) stdin.once(event, () => void input.end());
  stdin.pipe(input);
  const broken = new Promise<void>((resolve) => {
    const gone = (): void => resolve();
    // These stay: a client that left makes every later write fail, which must not end the process by itself.
    output.on('error', gone);
    stdout.on('error', gone);
    stderr.on('error', () => {});
  });
  return {
    // The limit on what a client sends is that of the lines; the SDK gets whole ones only.
    transport: new StdioServerTransport(input, output, { maxBufferSize: Number.POSITIVE_INFINITY }),
    ended,
    broken,
    release: () => {
      stdout.write = toClient;
    },
  };
}
