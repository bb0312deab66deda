import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ClientCapabilities,
  type Implementation,
  InitializedNotificationSchema,
  type InitializeRequest,
  InitializeRequestSchema,
  type InitializeResult,
  LATEST_PROTOCOL_VERSION,
  type Notification,
  type Request,
  type Result,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';

/** What a server says about itself in its answer to `initialize`. */
interface Introduction {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string;
}

/**
 * The server's side of the protocol: it answers `initialize` and remembers the client. The `Server` of the SDK would do
 * so as well, but it loads and makes a compiler of JSON Schemas when the server starts, and has handlers that answer
 * malformed params with raw lists of issues.
 */
export class ProtocolServer extends Protocol<
  ServerRequest | Request,
  ServerNotification | Notification,
  Result
> {
  readonly #introduction: Introduction;
  #client: InitializeRequest['params'] | undefined;
  /** The version of the protocol that was agreed on. */
  agreedVersion: string | undefined;

  constructor(introduction: Introduction) {
    super();
    this.#introduction = introduction;
    this.setRequestHandler(InitializeRequestSchema, ({ params }) => this.#initialize(params));
    this.setNotificationHandler(InitializedNotificationSchema, () => {});
  }

  /** Undefined before the client has initialized the connection. */
  getClientCapabilities(): ClientCapabilities | undefined {
    return this.#client?.capabilities;
  }

  /** As {@link getClientCapabilities}. */
  getClientVersion(): Implementation | undefined {
    return this.#client?.clientInfo;
  }

  #initialize(params: InitializeRequest['params']): InitializeResult {
    this.#client = params;
    const { info, capabilities, instructions } = this.#introduction;
    const isSupported = SUPPORTED_PROTOCOL_VERSIONS.includes(params.protocolVersion);
    const protocolVersion = isSupported ? params.protocolVersion : LATEST_PROTOCOL_VERSION;
    this.agreedVersion = protocolVersion;
    return {
      protocolVersion,
      capabilities,
      serverInfo: info,
      ...(instructions === undefined || instructions === '' ? {} : { instructions }),
    };
  }

  protected override assertNotificationCapability(method: string): void {
    if (method === 'notifications/message' && this.#introduction.capabilities.logging === undefined)
      throw new Error('the server did not offer to log');
  }

  // Requests to the client are made where it has the capability, and every handler is of a capability of the server.
  protected override assertCapabilityForMethod(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  /**
   * A request that asks for a task is answered at once: servers without tasks have to ignore the wish, not refuse it.
   */
  protected override assertTaskHandlerCapability(): void {}
}
