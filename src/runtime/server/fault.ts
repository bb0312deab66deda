import type { Json } from '../../graph/json.js';

/** The JSON-RPC codes this server answers with. */
export const faultCodes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  resourceNotFound: -32002,
  /** The authenticated caller cannot be told from others; of the codes that JSON-RPC leaves to servers. */
  unidentified: -32003,
  /** The server ends and takes no further requests; of the codes that JSON-RPC leaves to servers. */
  shuttingDown: -32004,
  /** A limit of this server is reached; of the codes that JSON-RPC leaves to servers. */
  exhausted: -32005,
} as const;

/**
 * A request that is answered with a protocol error rather than a result. Thrown by the server's methods;
 * an adapter sends `code`, `message` and `data` as they are.
 */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';

  constructor(
    /** A JSON-RPC error code, one of {@link faultCodes}. */
    readonly code: number,
    message: string,
    /** Details for programs. */
    readonly data?: Json,
  ) {
    super(message);
  }
}
