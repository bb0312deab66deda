import {
  InitializeRequestParamsSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from '@modelcontextprotocol/sdk/types.js';
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

/** An error response to a message that goes no further. */
export interface Refusal {
  readonly jsonrpc: '2.0';
  /** Of the message it answers; null where that has none. */
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

const refusalCodes = { notJson: -32700, invalidRequest: -32600, invalidParams: -32602 } as const;

function refusal(code: number, message: string, id: Refusal['id'] = null): Refusal {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** What a line holds. */
type Line =
  | { readonly ok: true; readonly message: JSONRPCMessage }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Reads the message of a line, or says why it is none that may go on to the SDK, which drops what it does not know
 * without an answer. `initialize` has its params checked here because the SDK would answer with its raw list of issues.
 */
function readLine(line: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refused(refusal(refusalCodes.notJson, texts.notJson()));
  }
  if (Array.isArray(value)) return refused(refusal(refusalCodes.invalidRequest, texts.batch()));
  if (!isObject(value)) return refused(refusal(refusalCodes.invalidRequest, texts.notObject()));
  const parsed = JSONRPCMessageSchema.safeParse(value);
  if (!parsed.success) return refused(refusal(refusalCodes.invalidRequest, fault(value), idOf(value)));
  const message = parsed.data;
  if (value.method !== 'initialize' || !('id' in value)) return { ok: true, message };
  const params = InitializeRequestParamsSchema.safeParse(value.params ?? {});
  if (params.success) return { ok: true, message };
  const problems = params.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return refused(refusal(refusalCodes.invalidParams, texts.badInitialize(problems.join('; ')), idOf(value)));
}

function refused(refusal: Refusal): Line {
  return { ok: false, refusal };
}

function fault(message: Readonly<Record<string, unknown>>): string {
  if (message.jsonrpc !== '2.0') return texts.badVersion();
  if (message.params !== undefined && !isObject(message.params)) return texts.badParams();
  return texts.badMessage();
}

function idOf({ id }: Readonly<Record<string, unknown>>): Refusal['id'] {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
