import { expect, test } from 'vitest';
import type { HttpConnection } from '../protocol-adapter.js';
import { Sessions, type SessionView } from './sessions.js';

/** What the clients see does not matter here. */
const view: SessionView = { path: '/mcp', server: Object.create(null) };

/** Counts the connections that are open. */
function connections() {
  let open = 0;
  return {
    get open() {
      return open;
    },
    async connect(): Promise<HttpConnection> {
      open += 1;
      let end = (): void => {};
      const closed = new Promise<void>((resolve) => {
        end = resolve;
      });
      const close = async (): Promise<void> => {
        open -= 1;
        end();
      };
      return { closed, close, answer: () => Promise.resolve(new Response()) };
    },
  };
}

function sessionsOf(limits: { readonly sessions?: number; readonly sessionsPerOwner?: number }) {
  return new Sessions({ sessions: 10, sessionsPerOwner: 10, sessionIdleMs: 60_000, ...limits });
}

test('openings at the same moment stay within the limit of all sessions', async () => {
  const sessions = sessionsOf({ sessions: 2 });
  const { connect } = connections();
  const opened = await Promise.all(
    ['ann', 'bob', 'cem'].map((holder) => sessions.open(holder, view, connect)),
  );
  expect(opened.map((session) => session?.holder)).toEqual(['ann', 'bob', undefined]);
});

test('openings at the same moment stay within the limit of one caller', async () => {
  const sessions = sessionsOf({ sessionsPerOwner: 2 });
  const { connect } = connections();
  const opened = await Promise.all(
    ['ann', 'ann', 'ann'].map((holder) => sessions.open(holder, view, connect)),
  );
  expect(opened.map((session) => session?.holder)).toEqual(['ann', 'ann', undefined]);
});

test('openings at the same moment each take the place of another unused session', async () => {
  const sessions = sessionsOf({ sessionsPerOwner: 2 });
  const clients = connections();
  const open = () => sessions.open('ann', view, clients.connect);
  const before = [await open(), await open()];
  const after = await Promise.all([open(), open()]);
  expect(before.map((session) => sessions.find(session?.id ?? '', 'ann', '/mcp'))).toEqual([
    undefined,
    undefined,
  ]);
  expect(after.map((session) => sessions.find(session?.id ?? '', 'ann', '/mcp'))).toEqual(after);
  expect(clients.open).toBe(2);
});

test('an opening that fails leaves its place to the next one', async () => {
  const sessions = sessionsOf({ sessions: 1 });
  const fail = () => Promise.reject(new Error('no connection'));
  await expect(sessions.open('ann', view, fail)).rejects.toThrow('no connection');
  expect(await sessions.open('ann', view, connections().connect)).toMatchObject({ holder: 'ann' });
});

test('a session exists for its caller and at its path alone', async () => {
  const sessions = sessionsOf({});
  const session = await sessions.open('ann', view, connections().connect);
  const id = session?.id ?? '';
  expect(sessions.find(id, 'bob', '/mcp')).toBeUndefined();
  expect(sessions.find(id, 'ann', '/mcp/flights')).toBeUndefined();
  expect(sessions.find(id, 'ann', '/mcp')).toBe(session);
});
