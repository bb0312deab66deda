import type { EventId, EventStore, StreamId } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

interface StoredEvent {
  readonly stream: StreamId;
  readonly message: JSONRPCMessage;
}

/** Messages of a session that are kept for a client that reconnects. */
const EVENT_LIMIT = 256;

/** The latest messages of one session, so that a client whose connection broke gets what it missed. */
export class SessionEvents implements EventStore {
  readonly #events = new Map<EventId, StoredEvent>();
  #count = 0;

  async storeEvent(stream: StreamId, message: JSONRPCMessage): Promise<EventId> {
    this.#count += 1;
    const id = String(this.#count);
    this.#events.set(id, { stream, message });
    if (this.#events.size > EVENT_LIMIT) this.#events.delete(String(this.#count - EVENT_LIMIT));
    return id;
  }

  async getStreamIdForEventId(id: EventId): Promise<StreamId | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    lastId: EventId,
    { send }: { readonly send: (id: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
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
