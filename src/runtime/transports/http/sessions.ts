import type { StepwrightServer } from '../../server/stepwright-server.js';
import { LongTimer } from '../../upstream/long-timer.js';
import type { EventLog, HttpConnection, HttpConversation } from '../protocol-adapter.js';
import type { HttpLimits } from './http-options.js';

/** The delay before a client reconnects after its stream has ended, in ms. */
const RETRY_MS = 1_000;

/** A server as a client sees it, and where. */
export interface SessionView {
  readonly path: string;
  readonly server: StepwrightServer;
}

/** The conversation with one client, over many requests. */
export interface Session {
  readonly id: string;
  /** The caller who began it; it does not exist for others. */
  readonly holder: string;
  /** What the client sees: it does not exist at the path of another profile. */
  readonly view: SessionView;
  readonly connection: HttpConnection;
  /** Responses that are still open. */
  openResponses: number;
  readonly idle: LongTimer;
}

/** Opens the connection of a session. */
type Connect = (conversation: HttpConversation) => Promise<HttpConnection>;

/** The sessions of an HTTP server. One without requests ends after a while. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  /** Sessions that are being opened: they count as the others do. */
  readonly #openings = new Set<{ readonly holder: string }>();

  constructor(readonly limits: Pick<HttpLimits, 'sessions' | 'sessionsPerOwner' | 'sessionIdleMs'>) {}

  /** The session of a caller at a path. Nothing for one that has ended, or that is another caller's. */
  find(id: string, holder: string, path: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.holder !== holder || session.view.path !== path) return undefined;
    session.idle.refresh();
    return session;
  }

  /**
   * Begins a session. A limit ends no other one: clients without authentication that share an address, as behind NAT, are
   * one caller, and so are the clients of one user.
   *
   * @returns the limit that leaves no room for it.
   */
  async open(
    holder: string,
    view: SessionView,
    connect: Connect,
  ): Promise<Session | 'sessions' | 'sessionsPerOwner'> {
    // Nothing is awaited before the opening counts: others at the same moment would take the same room.
    const own = [...this.#sessions.values(), ...this.#openings].filter((each) => each.holder === holder);
    if (own.length >= this.limits.sessionsPerOwner) return 'sessionsPerOwner';
    if (this.#sessions.size + this.#openings.size >= this.limits.sessions) return 'sessions';
    const opening = { holder };
    this.#openings.add(opening);
    try {
      return await this.#begin(holder, view, connect);
    } finally {
      this.#openings.delete(opening);
    }
  }

  async #begin(holder: string, view: SessionView, connect: Connect): Promise<Session> {
    const id = crypto.randomUUID();
    const connection = await connect({ session: id, events: new SessionEvents(), retryMs: RETRY_MS });
    const session: Session = {
      id,
      holder,
      view,
      connection,
      openResponses: 0,
      idle: new LongTimer(() => this.#endIdle(session), this.limits.sessionIdleMs, { keepsProcess: false }),
    };
    this.#sessions.set(id, session);
    void connection.closed.then(() => {
      session.idle.cancel();
      this.#sessions.delete(id);
    });
    return session;
  }

  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ connection }) => connection.close({ graceMs })));
  }

  #endIdle(session: Session): void {
    if (session.openResponses === 0) void session.connection.close();
    else session.idle.refresh();
  }
}

interface StoredEvent {
  readonly stream: string;
  readonly message: object;
}

/** Messages of a session that are kept for a client that reconnects. */
const EVENT_LIMIT = 256;

/** The latest messages of one session, so that a client with a broken connection gets what it missed. */
class SessionEvents implements EventLog {
  readonly #events = new Map<string, StoredEvent>();
  #count = 0;

  async storeEvent(stream: string, message: object): Promise<string> {
    this.#count += 1;
    const id = String(this.#count);
    this.#events.set(id, { stream, message });
    if (this.#events.size > EVENT_LIMIT) this.#events.delete(String(this.#count - EVENT_LIMIT));
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: object) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events.get(lastId)?.stream ?? '';
    for (const [id, event] of this.#events) {
      const isLater = Number(id) > Number(lastId);
      // An event without a method, result or error marks the start of a stream.
      if (isLater && event.stream === stream && Object.keys(event.message).length > 0)
        await send(id, event.message);
    }
    return stream;
  }
}
