import { describe, expect, test } from 'vitest';
import { Bearer, type BearerAuth, type VerifiedToken } from './bearer-auth.js';

const URL_OF_MCP = new URL('https://mcp.example.com/mcp');
const ADA: VerifiedToken = { clientId: 'desktop', scopes: ['read'], extra: { sub: 'ada' } };

function bearer(options: Partial<BearerAuth> = {}, log: string[] = []): Bearer {
  return new Bearer({ verify: () => ADA, ...options }, '/mcp', (text) => log.push(text));
}

function check(of: Bearer, authorization?: string) {
  const headers = authorization === undefined ? {} : { authorization };
  return of.check(new Request(URL_OF_MCP, { method: 'POST', headers }), URL_OF_MCP);
}

async function refused(of: Bearer, authorization?: string) {
  const checked = await check(of, authorization);
  if (checked.ok) throw new Error('it was admitted');
  const { response } = checked;
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    body: (await response.json()) as { error: string; error_description: string },
  };
}

const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';

describe('a request', () => {
  test('with a known token is admitted', async () => {
    expect(await check(bearer(), 'Bearer t0ken')).toEqual({ ok: true, auth: ADA });
    expect(await check(bearer(), 'bearer  t0ken ')).toEqual({ ok: true, auth: ADA });
  });

  test('without a token learns where to get one, and no more', async () => {
    expect(await refused(bearer({ requiredScopes: ['read', 'write'] }))).toEqual({
      status: 401,
      challenge: `Bearer scope="read write", ${METADATA}`,
      body: { error: 'invalid_request', error_description: 'This server needs a bearer token' },
    });
  });

  test('without a token is admitted where anonymous callers are', async () => {
    const open = bearer({ allowAnonymous: true, verify: () => undefined });
    expect(await check(open)).toEqual({ ok: true });
    expect((await refused(open, 'Bearer wrong')).status).toBe(401);
  });

  test.each<[string, Partial<BearerAuth>, string, string]>([
    ['of another scheme', {}, 'Basic YTpi', 'must be `Bearer` and a token'],
    ['with no token behind the scheme', {}, 'Bearer', 'must be `Bearer` and a token'],
    ['with two tokens', {}, 'Bearer a b', 'must be `Bearer` and a token'],
    ['with an unknown token', { verify: () => undefined }, 'Bearer t', 'is unknown'],
    ['with an expired token', { verify: () => ({ ...ADA, expiresAt: 1 }) }, 'Bearer t', 'has expired'],
    [
      'with an invalid expiry',
      { verify: () => ({ ...ADA, expiresAt: Number.NaN }) },
      'Bearer t',
      'has expired',
    ],
    [
      'with a token for another server',
      { verify: () => ({ ...ADA, audience: 'https://other.example/mcp' }) },
      'Bearer t',
      'was issued for another server',
    ],
    [
      'with a token for another path of this server',
      { verify: () => ({ ...ADA, audience: ['https://mcp.example.com/other'] }) },
      'Bearer t',
      'was issued for another server',
    ],
  ])('%s gets 401', async (_name, options, header, why) => {
    const { status, challenge, body } = await refused(bearer(options), header);
    expect(status).toBe(401);
    expect(body.error).toBe('invalid_token');
    expect(body.error_description).toContain(why);
    expect(challenge).toBe(
      `Bearer error="invalid_token", error_description="${body.error_description}", ${METADATA}`,
    );
  });

  test('with a token for this server is admitted, however its address is written', async () => {
    for (const audience of [
      'https://mcp.example.com/mcp',
      'https://MCP.example.com:443/mcp/',
      ['https://other.example', 'https://mcp.example.com/mcp'],
      new URL('https://mcp.example.com/mcp'),
    ])
      expect(await check(bearer({ verify: () => ({ ...ADA, audience }) }), 'Bearer t')).toMatchObject({
        ok: true,
      });
  });

  test('the configured address is the one that counts', async () => {
    const resource = 'https://public.example/tools';
    const audience = 'https://mcp.example.com/mcp';
    const { challenge } = await refused(
      bearer({ resource, verify: () => ({ ...ADA, audience }) }),
      'Bearer t',
    );
    expect(challenge).toContain(
      'resource_metadata="https://public.example/.well-known/oauth-protected-resource/tools"',
    );
    const own = bearer({ resource, verify: () => ({ ...ADA, audience: resource }) });
    expect(await check(own, 'Bearer t')).toMatchObject({ ok: true });
  });

  test('that lacks a scope gets 403, with the scopes it lacks', async () => {
    expect(await refused(bearer({ requiredScopes: ['read', 'write'] }), 'Bearer t')).toEqual({
      status: 403,
      challenge: `Bearer error="insufficient_scope", error_description="The token lacks the scopes write", scope="write", ${METADATA}`,
      body: { error: 'insufficient_scope', error_description: 'The token lacks the scopes write' },
    });
  });

  test('gets 500 when verify throws, without the reason', async () => {
    const log: string[] = [];
    const verify = () => {
      throw new Error('the key server is gone');
    };
    const { status, body } = await refused(bearer({ verify }, log), 'Bearer s3cret');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('key server');
    expect(log.join()).toContain('the key server is gone');
    expect(log.join()).not.toContain('s3cret');
  });

  test.each([
    [null, 'null'],
    [true, 'a boolean'],
  ])('gets 500 when verify returns %j', async (verified, what) => {
    const log: string[] = [];
    const { status } = await refused(bearer({ verify: () => verified as never }, log), 'Bearer t');
    expect(status).toBe(500);
    expect(log.join()).toContain(what);
  });

  test.each([
    [{}, 'no text as `clientId`'],
    [{ clientId: '', scopes: [] }, 'no text as `clientId`'],
    [{ clientId: 'a', scopes: 'read' }, 'no list of texts as `scopes`'],
    [{ clientId: 'a', scopes: [1] }, 'no list of texts as `scopes`'],
    [{ clientId: 'a', scopes: [], expiresAt: '1' }, 'no number as `expiresAt`'],
    [{ clientId: 'a', scopes: [], roles: 'lead' }, 'no list of roles as `roles`'],
    [{ clientId: 'a', scopes: [], audience: 7 }, 'no address as `audience`'],
    [
      { clientId: 'a', scopes: [], audience: ['https://mcp.example.com/mcp', {}] },
      'no address as `audience`',
    ],
  ])('with malformed claims gets 401 and a line in the log: %j', async (verified, what) => {
    const log: string[] = [];
    const { status, body } = await refused(bearer({ verify: () => verified as never }, log), 'Bearer t');
    expect(status).toBe(401);
    expect(body.error).toBe('invalid_token');
    expect(log.join()).toContain(what);
  });
});

describe('the metadata', () => {
  test.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])(
    'is at %s',
    async (path) => {
      const of = bearer({ authorizationServers: ['https://login.example'], scopesSupported: ['read'] });
      const response = of.metadata(new URL(path, URL_OF_MCP));
      expect(await response?.json()).toEqual({
        resource: 'https://mcp.example.com/mcp',
        authorization_servers: ['https://login.example'],
        scopes_supported: ['read'],
        bearer_methods_supported: ['header'],
      });
    },
  );

  test('is at no other path', () => {
    expect(
      bearer().metadata(new URL('/.well-known/oauth-protected-resource/other', URL_OF_MCP)),
    ).toBeUndefined();
    expect(bearer().metadata(URL_OF_MCP)).toBeUndefined();
  });
});

test.each<[Partial<BearerAuth>, string]>([
  [{ resource: 'mcp.example.com' }, 'auth.resource must be an absolute URL'],
  [{ resource: 'https://mcp.example.com/#a' }, 'auth.resource must be an absolute URL'],
  [{ authorizationServers: ['login'] }, "auth.authorizationServers lists 'login'"],
  [{ requiredScopes: ['a b'] }, "auth lists the scope 'a b'"],
  [{ scopesSupported: ['a"b'] }, "auth lists the scope 'a\"b'"],
])('refuses %j', (options, message) => {
  expect(() => bearer(options)).toThrow(RangeError);
  expect(() => bearer(options)).toThrow(message);
});
