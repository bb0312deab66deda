import { type UpstreamCall, upstreamServers } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { type AuthorizationFixture, authorizationFixture } from './authorization.fixture.js';
import { httpFixture, type Protection } from './http.fixture.js';

const SECRET = 'a-client-secret-that-is-not-shown';
process.env.UPSTREAM_TEST_CLIENT_SECRET = SECRET;

const call = (): UpstreamCall => ({ signal: new AbortController().signal, progress: () => {} });

interface Settings {
  readonly issuer?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
}

async function authorizationServer(): Promise<AuthorizationFixture> {
  const authorization = await authorizationFixture('stepwright-tests', SECRET);
  onTestFinished(() => authorization.close());
  return authorization;
}

async function open(access: Protection, settings: Settings = {}, headers: Record<string, string> = {}) {
  const http = await httpFixture(access);
  onTestFinished(() => http.close());
  const auth = {
    issuer: access.issuer,
    clientId: 'stepwright-tests',
    clientSecret: `$\{UPSTREAM_TEST_CLIENT_SECRET}`,
    ...settings,
  };
  const upstream = upstreamServers({ fixture: { url: http.url, headers, auth } });
  onTestFinished(() => upstream.close());
  const echo = (text: string): Promise<unknown> =>
    upstream
      .call({ server: 'fixture', tool: 'echo' }, { text }, call())
      .then(({ structuredContent }) => structuredContent?.text);
  return { http, echo, list: () => upstream.list('fixture', call().signal) };
}

test('a server gets a token of its authorization server, once for a connection', async () => {
  const authorization = await authorizationServer();
  const { http, echo, list } = await open(authorization);
  expect([await echo('a'), await echo('b')]).toEqual(['a', 'b']);
  expect((await list()).tools.length).toBeGreaterThan(1);
  expect(authorization.requests).toEqual([
    {
      isKnown: true,
      params: { grant_type: 'client_credentials', resource: http.url },
    },
  ]);
});

test('a token that has expired is replaced, within the call', async () => {
  const authorization = await authorizationServer();
  const { echo } = await open(authorization);
  expect(await echo('a')).toBe('a');
  authorization.expire();
  expect(await echo('b')).toBe('b');
  expect(authorization.tokens).toEqual(['granted-token-1', 'granted-token-2']);
});

test('scopes of the configuration are asked for, and no others that the server names', async () => {
  const authorization = await authorizationServer();
  const { echo } = await open(authorization, { scope: 'read' });
  await echo('a');
  expect(authorization.requests.map(({ params }) => params.scope)).toEqual(['read']);
});

test('a client that is not known is a server that cannot be reached; the failure has no secret', async () => {
  const authorization = await authorizationServer();
  const { echo } = await open(authorization, { clientSecret: 'another-secret' });
  const failure = await echo('a').catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 'E_UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('the client is not known'),
  });
  expect(String((failure as Error).stack)).not.toContain('another-secret');
});

test('credentials go to no other authorization server than the configured one', async () => {
  const [authorization, other] = [await authorizationServer(), await authorizationServer()];
  const { echo } = await open(other, { issuer: authorization.issuer });
  await expect(echo('a')).rejects.toMatchObject({
    code: 'E_UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining(other.issuer),
  });
  expect([authorization.requests, other.requests]).toEqual([[], []]);
});

test('a token that the server refuses all the same is not shown, and is not asked for again', async () => {
  const authorization = await authorizationServer();
  const { issuer } = authorization;
  const { echo } = await open({ issuer, accepts: () => false });
  const failure = await echo('a').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'E_UPSTREAM_UNAVAILABLE' });
  expect(authorization.tokens).toEqual(['granted-token-1']);
  expect(String((failure as Error).stack)).not.toContain('granted-token-1');
});

test('a call whose token cannot be renewed was not made', async () => {
  const authorization = await authorizationServer();
  let isOpen = true;
  const { echo } = await open({ ...authorization, accepts: (sent) => isOpen && authorization.accepts(sent) });
  expect(await echo('a')).toBe('a');
  isOpen = false;
  await authorization.close();
  await expect(echo('b')).rejects.toMatchObject({ code: 'E_UPSTREAM_UNAVAILABLE' });
});

test('a call whose renewal breaks off was not made', async () => {
  const authorization = await authorizationServer();
  const { echo } = await open(authorization);
  expect(await echo('a')).toBe('a');
  authorization.expire();
  authorization.fail();
  const failure = await echo('b').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'E_UPSTREAM_UNAVAILABLE' });
  expect(failure).not.toHaveProperty('outcomeUnknown', true);
});

test('calls at the same time get one token, also where one is refused late', async () => {
  const authorization = await authorizationServer();
  let refused = 0;
  let renewed = (): void => {};
  const isRenewed = new Promise<void>((resolve) => {
    renewed = resolve;
  });
  let isHeld = false;
  const { echo } = await open({
    ...authorization,
    async accepts(sent) {
      const isValid = authorization.accepts(sent);
      if (!isHeld) return isValid;
      if (await isValid) {
        // The refusal arrives while the call with the new token is being answered.
        renewed();
        await new Promise((resolve) => setTimeout(resolve, 100));
        return true;
      }
      refused += 1;
      if (refused === 2) await isRenewed;
      return false;
    },
  });
  expect(await echo('a')).toBe('a');
  authorization.expire();
  isHeld = true;
  expect(await Promise.all([echo('b'), echo('c')])).toEqual(['b', 'c']);
  expect(authorization.tokens).toEqual(['granted-token-1', 'granted-token-2']);
});

test('the headers of a server are not sent to its authorization server', async () => {
  const authorization = await authorizationServer();
  const { echo } = await open(authorization, {}, { 'x-api-key': 'key-of-the-server' });
  expect(await echo('a')).toBe('a');
  expect(authorization.headers.length).toBeGreaterThan(1);
  expect(authorization.headers.filter((each) => each['x-api-key'] !== undefined)).toEqual([]);
});
