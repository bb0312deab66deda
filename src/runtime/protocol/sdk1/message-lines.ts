import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type Refusal, readLine, refusal, refusalCodes } from './read-line.js';
import { texts } from './texts.js';

/** The longest message a client may send, in bytes without its newline. */
const MESSAGE_LIMIT_BYTES = 10 * 1024 * 1024;

/** Pieces of a line that has outgrown the limit: kept are none of them. */
const OVERLONG = Symbol('overlong');
const NEWLINE = 0x0a;

/**
 * Bytes in, well-formed protocol messages out, each read once. Every other line is handed to `refuse` and goes no
 * further; blank lines are passed over. An overlong line is not held in memory.
 */
export class MessageLines {
  #pieces: Buffer[] | typeof OVERLONG = [];
  #length = 0;

  constructor(
    readonly take: (message: JSONRPCMessage) => void,
    readonly refuse: (answer: Refusal) => void,
    readonly limit: number = MESSAGE_LIMIT_BYTES,
  ) {}

  write(chunk: Buffer): void {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, to));
      this.#endLine();
      from = to + 1;
    }
    this.#add(chunk.subarray(from));
  }

  /** No more bytes will come. A last line may lack its newline. */
  end(): void {
    this.#endLine();
  }

  #add(piece: Buffer): void {
    if (this.#pieces === OVERLONG || piece.length === 0) return;
    this.#length += piece.length;
    if (this.#length <= this.limit) {
      this.#pieces.push(piece);
      return;
    }
    this.#pieces = OVERLONG;
    this.refuse(refusal(refusalCodes.invalidRequest, texts.messageTooLong(this.limit)));
  }

  #endLine(): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    if (pieces === OVERLONG) return;
    const text = Buffer.concat(pieces).toString('utf8');
    if (text.trim() === '') return;
    const line = readLine(text);
    if (line.ok) this.take(line.message);
    else this.refuse(line.refusal);
  }
}
