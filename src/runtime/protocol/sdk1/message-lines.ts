import { Transform, type TransformCallback } from 'node:stream';
import { checkLine, type Refusal, refusal, refusalCodes } from './check-line.js';
import { texts } from './texts.js';

/** The longest message a client may send, in bytes without its newline. */
export const MESSAGE_LIMIT_BYTES = 10 * 1024 * 1024;

/** Pieces of a line that has outgrown the limit: kept are none of them. */
const OVERLONG = Symbol('overlong');
const NEWLINE = 0x0a;

/**
 * Bytes in, well-formed protocol messages out, one line with its newline per chunk. Every other line is handed to
 * `refuse` and goes no further; blank lines are passed over. An overlong line is not held in memory.
 */
export class MessageLines extends Transform {
  #pieces: Buffer[] | typeof OVERLONG = [];
  #length = 0;

  constructor(
    readonly refuse: (answer: Refusal) => void,
    readonly limit: number = MESSAGE_LIMIT_BYTES,
  ) {
    // As objects, chunks are never joined or split on their way.
    super({ readableObjectMode: true });
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, to));
      this.#endLine();
      from = to + 1;
    }
    this.#take(chunk.subarray(from));
    done();
  }

  /** A last line may lack its newline. */
  override _flush(done: TransformCallback): void {
    this.#endLine();
    done();
  }

  #take(piece: Buffer): void {
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
    const line = Buffer.concat(pieces).toString('utf8');
    if (line.trim() === '') return;
    const problem = checkLine(line);
    if (problem === undefined) this.push(Buffer.from(`${line}\n`));
    else this.refuse(problem);
  }
}
