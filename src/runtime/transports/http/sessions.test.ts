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

type Opened = Awaited<ReturnType<Sessions['open']>>;

/** Whose it is; the limit that left no room for it. */
const holderOf = (opened: Opened): string => (typeof opened === 'object' ? opened.holder : opened);
const idOf = (opened: Opened | undefined): string => (typeof opened === 'object' ? opened.id : '');

function sessionsOf(limits: { readonly sessions?: number; readonly sessionsPerOwner?: number }) {
  return new Sessions({ sessions: 10, sessionsPerOwner: 10, sessionIdleMs: 60_000, ...limits });
}

test('openings at the same moment stay within the limit of all sessions', async () => {
  const sessions = sessionsOf({ sessions: 2 });
  const { connect } = connections();
  const opened = await Promise.all(
    ['ann', 'bob', 'cem'].map((holder) => sessions.open(holder, view, connect)),
  );
  expect(opened.map(holderOf)).toEqual(['ann', 'bob', 'sessions']);
});

test('openings at the same moment stay within the limit of one caller', async () => {
  const sessions = sessionsOf({ sessionsPerOwner: 2 });
  const { connect } = connections();
  const opened = await Promise.all(
    ['ann', 'ann', 'ann'].map((holder) => sessions.open(holder, view, connect)),
  );
  expect(opened.map(holderOf)).toEqual(['ann', 'ann', 'sessionsPerOwner']);
});

test('a limit ends no session, and counts no session that has ended', async () => {
  const sessions = sessionsOf({ sessionsPerOwner: 2 });
  const clients = connections();
  const open = () => sessions.open('ann', view, clients.connect);
  const [first, second] = [await open(), await open()];
  expect(await open()).toBe('sessionsPerOwner');
  expect([first, second].map((each) => sessions.find(idOf(each), 'ann', '/mcp'))).toEqual([first, second]);
  if (typeof first === 'object') await first.connection.close();
  expect(holderOf(await open())).toBe('ann');
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
  const id = idOf(session);
  expect(sessions.find(id, 'bob', '/mcp')).toBeUndefined();
  expect(sessions.find(id, 'ann', '/mcp/flights')).toBeUndefined();
  expect(sessions.find(id, 'ann', '/mcp')).toBe(session);
});
