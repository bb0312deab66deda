import { describe, expect, test } from 'vitest';
import { MASKED } from '../../graph/printable-text.js';
import { secretMask, upstreamSchemas, withEnvironment } from './config.js';
import { UpstreamError } from './port.js';

/** As a configuration has it. */
const variable = (name: string): string => `$\{${name}}`;

const withAuth = (auth: object) => ({
  a: { url: 'https://example.com/mcp', auth: { issuer: 'https://auth.example.com', clientId: 'a', ...auth } },
});

describe('the configuration of upstream servers', () => {
  test.each([
    ['over stdio', { files: { command: 'node', args: ['server.js'], env: { TOKEN: 't' }, cwd: 'tools' } }],
    ['over HTTP', { tracker: { url: 'https://example.com/mcp', headers: { a: 'b' }, timeoutMs: 5_000 } }],
    ['with a file and a visibility', { a: { command: 'a', out: 'src/a.mts', visibility: 'client' } }],
  ])('takes a server %s', (_, config) => {
    expect(upstreamSchemas().upstream.parse(config)).toEqual(config);
  });

  test.each([
    ['a name that begins no identifier', { '1st': { command: 'a' } }],
    ['a server of both kinds', { a: { command: 'a', url: 'https://example.com' } }],
    ['a server of no kind', { a: {} }],
    ['a limit of no time', { a: { command: 'a', timeoutMs: 0 } }],
    [
      'two values of one header',
      {
        a: {
          url: 'https://example.com/mcp',
          headers: { authorization: 'Bearer t' },
          auth: { issuer: 'https://auth.example.com', clientId: 'a', clientSecret: 'b' },
        },
      },
    ],
    ['a client without credentials', withAuth({})],
    ['a client with a secret and a key', withAuth({ clientSecret: 'a', privateKey: 'b' })],
    [
      'an identity provider without an ID token',
      withAuth({ clientSecret: 'a', identityProvider: { issuer: 'b', clientId: 'c' } }),
    ],
    ['calls that are not objects', { a: { command: 'a', record: { read: ['a.txt'] } } }],
    ['a tool to record without a call', { a: { command: 'a', record: { read: [] } } }],
    ['classes in JavaScript', { a: { command: 'a', out: 'src/a.js' } }],
  ])('refuses %s', (_, config) => {
    expect(upstreamSchemas().upstream.safeParse(config).success).toBe(false);
  });
});

describe('variables', () => {
  const env = { TOKEN: 'sesame-opens', HOST: 'example.com', MODE: 'production', SHORT: 'abc', EMPTY: '' };

  test('are filled in everywhere, and long values are secrets', () => {
    const http = {
      url: `https://${variable('HOST')}/mcp`,
      headers: { auth: `Bearer ${variable('TOKEN')}`, pin: variable('SHORT') },
    };
    expect(withEnvironment('a', http, env)).toEqual({
      server: { url: 'https://example.com/mcp', headers: { auth: 'Bearer sesame-opens', pin: 'abc' } },
      secrets: ['example.com', 'sesame-opens', 'abc'],
    });
    const stdio = {
      command: variable('SHORT'),
      args: ['-t', variable('TOKEN')],
      env: { T: variable('TOKEN') },
      cwd: variable('HOST'),
    };
    expect(withEnvironment('a', stdio, env)).toEqual({
      server: {
        command: 'abc',
        args: ['-t', 'sesame-opens'],
        env: { T: 'sesame-opens' },
        cwd: 'example.com',
      },
      secrets: ['sesame-opens', 'example.com'],
    });
  });

  test('are filled in for an authorization server, whose secret is one wherever it is from', () => {
    const server = {
      url: 'https://example.com/mcp',
      auth: {
        issuer: `https://${variable('HOST')}`,
        clientId: 'a',
        clientSecret: 'written out',
        scope: 'read',
      },
    };
    const { server: resolved, secrets } = withEnvironment('a', server, env);
    expect(resolved).toMatchObject({ auth: { ...server.auth, issuer: 'https://example.com' } });
    expect(secrets).toEqual(['example.com', 'written out']);
  });

  test('are filled in for an identity provider, and lines of a key are secrets', () => {
    const auth = {
      ...{
        issuer: 'https://as.example.com',
        clientId: 'a',
        privateKey: 'first-line-of-a-key\nsecond-line-of-a-key',
      },
      assertionFile: `/${variable('HOST')}/token`,
      identityProvider: {
        tokenEndpoint: `https://${variable('HOST')}`,
        clientId: 'b',
        clientSecret: 'of the provider',
      },
    };
    const { server, secrets } = withEnvironment('a', { url: 'https://example.com/mcp', auth }, env);
    expect(server).toMatchObject({
      auth: {
        assertionFile: '/example.com/token',
        identityProvider: { tokenEndpoint: 'https://example.com' },
      },
    });
    expect(secrets).toEqual([
      ...['example.com', 'of the provider', 'first-line-of-a-key', 'second-line-of-a-key'],
    ]);
  });

  test('of all servers are secrets, those of a server that lacks others as well', () => {
    const servers = {
      a: { command: 'a', args: [variable('TOKEN'), variable('ONE')] },
      b: { url: `https://${variable('HOST')}` },
    };
    expect(secretMask(servers, env)(['sesame-opens', 'example.com', 'abc'])).toEqual([MASKED, MASKED, 'abc']);
  });

  test('may be empty, and are then no secret', () => {
    const { secrets } = withEnvironment('a', { url: 'http://a', headers: { a: variable('EMPTY') } }, env);
    expect(secrets).toEqual([]);
  });

  test('that are plain are no secrets, in headers as well', () => {
    const texts = { mode: variable('MODE'), token: variable('TOKEN') };
    const plain = ['MODE'];
    expect(withEnvironment('a', { command: 'a', env: texts, plain }, env).secrets).toEqual(['sesame-opens']);
    const http = { url: 'http://a', headers: texts, plain };
    expect(withEnvironment('a', http, env).secrets).toEqual(['sesame-opens']);
  });

  test('that are plain have to be there', () => {
    expect(() => withEnvironment('a', { command: 'a', plain: ['MODE', 'TOKEN'] }, env)).toThrow(
      "'plain' of the upstream server 'a' names MODE, TOKEN, which none of its texts has as",
    );
    expect(
      upstreamSchemas().upstream.safeParse({ a: { command: 'a', plain: ['$' + '{MODE}'] } }).success,
    ).toBe(false);
  });

  test('of several lines are secret line by line', () => {
    const key = 'first-line-of-key\nx\nthe-second-line-of-the-key';
    const { secrets } = withEnvironment('a', { command: 'a', env: { k: variable('KEY') } }, { KEY: key });
    expect(secrets).toEqual([key, 'first-line-of-key', 'the-second-line-of-the-key']);
  });

  test('that are missing are named, all of them', () => {
    const server = { command: 'a', args: [variable('ONE')], env: { t: variable('TWO') } };
    expect(() => withEnvironment('a', server, env)).toThrow(
      new UpstreamError(
        'E_UPSTREAM_CONFIG',
        "The upstream server 'a' needs the environment variables ONE, TWO, which are not set",
      ),
    );
  });
});
