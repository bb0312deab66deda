import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/sdk/client/stdio.js';
import { clipText, escapeUnprintable } from '../../../graph/printable-text.js';
import { upstreamTexts } from '../../upstream/port.js';

/** So many lines of stderr are kept for the message of a server that has exited, each of this length at most. */
const LAST_LINES = 10;
const LONGEST_LINE = 300;

/** How long the rest of stderr may take. A process that the server has started may keep it open forever. */
const LAST_OUTPUT_MS = 1_000;

/** A server over stdio, with how its process ended. */
export class UpstreamProcess extends StdioClientTransport {
  readonly #command: string;
  readonly #lines: string[] = [];
  readonly #written: Promise<unknown>;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;

  /**
   * @param say receives what the server writes to stderr, a line at a time.
   * @param mask masks secrets: the part of one that is left of a shortened line could not be found any more.
   */
  constructor(
    parameters: StdioServerParameters,
    say: (line: string) => void,
    mask: (text: string) => string,
  ) {
    super({ ...parameters, stderr: 'pipe' });
    const command = [parameters.command, ...(parameters.args ?? [])].join(' ');
    this.#command = clipText(escapeUnprintable(mask(command)), LONGEST_LINE);
    const lines = createInterface({ input: this.stderr as Readable });
    lines.on('line', (line) => {
      say(line);
      if (line.trim() === '') return;
      this.#lines.push(clipText(escapeUnprintable(mask(line)), LONGEST_LINE));
      if (this.#lines.length > LAST_LINES) this.#lines.shift();
    });
    this.#written = once(lines, 'close');
  }

  override async start(): Promise<void> {
    await super.start();
    // The class of the SDK keeps the process to itself, and does not pass on how it ended.
    const { _process: process } = this as unknown as { readonly _process?: ChildProcess };
    process?.once('exit', (code, signal) => {
      this.#exit = { code, signal };
    });
  }

  /** How the process ended, as a sentence with the end of its stderr; nothing while it runs. */
  async endText(): Promise<string | undefined> {
    if (this.#exit === undefined) return undefined;
    await Promise.race([this.#written, delay(LAST_OUTPUT_MS, undefined, { ref: false })]);
    return upstreamTexts.exited(this.#command, this.#exit, this.#lines);
  }
}
