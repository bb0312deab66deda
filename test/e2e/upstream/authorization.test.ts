import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
  readonly dpop?: boolean;
}

async function authorizationServer(
  isKnown?: Parameters<typeof authorizationFixture>[2],
): Promise<AuthorizationFixture> {
  const authorization = await authorizationFixture('stepwright-tests', SECRET, isKnown);
  onTestFinished(() => authorization.close());
  return authorization;
}

function open(access: Protection, settings: Settings = {}, headers: Record<string, string> = {}) {
  return openWith(access, { clientSecret: `$\{UPSTREAM_TEST_CLIENT_SECRET}`, ...settings }, headers);
}

async function openWith(access: Protection, settings: object, headers: Record<string, string> = {}) {
  const http = await httpFixture(access);
  onTestFinished(() => http.close());
  const auth = { issuer: access.issuer, clientId: 'stepwright-tests', ...settings };
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

/** The parts of a signed token. */
function partsOf(token = ''): readonly Record<string, unknown>[] {
  return token
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>);
}

test.each([
  ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
])('a client signs with its key, by %s', async (alg, { privateKey, publicKey }) => {
  const isSigned = ({ client_assertion = '' }): boolean => {
    const [head, body, signature = ''] = client_assertion.split('.');
    const key = alg === 'ES256' ? ({ key: publicKey, dsaEncoding: 'ieee-p1363' } as const) : publicKey;
    return createVerify('sha256').update(`${head}.${body}`).verify(key, signature, 'base64url');
  };
  const authorization = await authorizationServer(isSigned);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const { echo } = await openWith(authorization, { privateKey: pem });
  expect(await echo('a')).toBe('a');
  const [{ params } = { params: {} }] = authorization.requests;
  const [head, claims] = partsOf((params as Record<string, string>).client_assertion);
  expect(head).toMatchObject({ alg });
  const { issuer } = authorization;
  expect(claims).toMatchObject({ iss: 'stepwright-tests', sub: 'stepwright-tests', aud: issuer });
});

test('a text that is not a key is a fault of the configuration, and is not shown', async () => {
  const authorization = await authorizationServer();
  const { echo } = await openWith(authorization, { privateKey: 'this-is-not-a-key' });
  const failure = await echo('a').catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 'E_UPSTREAM_CONFIG',
    message: expect.stringMatching(
      /^`auth.privateKey` of the upstream server 'fixture' is not a private key/,
    ),
  });
  expect(String((failure as Error).stack)).not.toContain('this-is-not-a-key');
});

function assertionFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-assertion-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return path.join(folder, 'token');
}

const ASSERTED = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

test('a token of the platform is read again for each token', async () => {
  const authorization = await authorizationServer(({ assertion = '' }) =>
    assertion.startsWith('of-platform'),
  );
  const file = assertionFile();
  writeFileSync(file, 'of-platform-1\n');
  const { echo } = await openWith(authorization, { assertionFile: file, scope: 'read' });
  expect(await echo('a')).toBe('a');
  authorization.expire();
  writeFileSync(file, 'of-platform-2');
  expect(await echo('b')).toBe('b');
  expect(authorization.requests.map(({ params }) => params)).toMatchObject([
    { grant_type: ASSERTED, assertion: 'of-platform-1', scope: 'read', client_id: 'stepwright-tests' },
    { grant_type: ASSERTED, assertion: 'of-platform-2', scope: 'read' },
  ]);
  authorization.expire();
  rmSync(file);
  await expect(echo('c')).rejects.toMatchObject({
    code: 'E_UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('ENOENT'),
  });
});

test('an ID token is exchanged at its provider, and is sent to no other server', async () => {
  const provider = await authorizationServer(({ subject_token: token }) => token === 'id-token');
  const authorization = await authorizationServer(({ assertion }) => assertion === 'exchanged-id-token');
  const file = assertionFile();
  writeFileSync(file, 'id-token');
  const identityProvider = { tokenEndpoint: `${provider.issuer}/token`, clientId: 'stepwright-at-provider' };
  const settings = { assertionFile: file, clientSecret: SECRET, identityProvider };
  const { echo, http } = await openWith(authorization, settings);
  expect(await echo('a')).toBe('a');
  expect(provider.requests).toMatchObject([
    { params: { audience: authorization.issuer, resource: http.url, client_id: 'stepwright-at-provider' } },
  ]);
  expect(authorization.requests).toMatchObject([
    { isKnown: true, params: { grant_type: ASSERTED, assertion: 'exchanged-id-token' } },
  ]);
  expect(JSON.stringify([authorization.requests, authorization.headers])).not.toContain('"id-token"');
});

test('tokens are bound to a key, where the configuration says so', async () => {
  const authorization = await authorizationServer();
  const { echo } = await open(authorization, { dpop: true });
  expect(await echo('a')).toBe('a');
  authorization.expire();
  expect(await echo('b')).toBe('b');
  const [first, second] = authorization.proofs.map((proof) => partsOf(proof));
  const [{ jwk }] = first as [{ jwk: object }];
  expect(second).toMatchObject([
    { typ: 'dpop+jwt', jwk },
    { htm: 'POST', htu: `${authorization.issuer}/token` },
  ]);
});
