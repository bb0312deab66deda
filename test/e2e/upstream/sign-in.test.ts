import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { upstreamServers } from 'stepwright/runtime';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { dispatch } from '../../../src/cli/dispatch.js';
import { type Dispatched, dispatched } from '../../../src/cli/dispatched.fixture.js';
import { authorizationFixture } from './authorization.fixture.js';
import { httpFixture } from './http.fixture.js';

const root = mkdtempSync(path.join(tmpdir(), 'stepwright-sign-in-'));
const folder = path.join(root, 'sign-ins');
process.env.STEPWRIGHT_SIGN_INS = folder;
afterAll(() => {
  delete process.env.STEPWRIGHT_SIGN_INS;
  rmSync(root, { recursive: true });
});
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

/** A server, whose project names it, and what signs in at it as a person with a browser. */
async function protectedServer(settings: object = {}) {
  const authorization = await authorizationFixture('unused', 'unused');
  onTestFinished(() => authorization.close());
  const http = await httpFixture(authorization);
  onTestFinished(() => http.close());
  const servers = { crm: { url: http.url, auth: { signIn: true as const, ...settings } } };
  writeFileSync(path.join(root, 'stepwright.config.json'), JSON.stringify({ upstream: servers }));
  const calls = () => {
    const upstream = upstreamServers(servers, { log: () => {} });
    onTestFinished(() => upstream.close());
    return (text: string): Promise<unknown> =>
      upstream
        .call(
          { server: 'crm', tool: 'echo' },
          { text },
          { signal: new AbortController().signal, progress() {} },
        )
        .then(({ structuredContent }) => structuredContent?.text);
  };
  /** Ends the validity of tokens when each program has opened its stream, which would renew them, too. */
  const expire = async (programs: number): Promise<void> => {
    await expect.poll(() => http.streams).toBe(programs);
    authorization.expire();
  };
  return { authorization, calls, expire };
}

const command = (...args: readonly string[]) => dispatched('sign-in', '--root', root, ...args);

/** Signs in, and opens the address that is printed. */
async function signIn(...args: readonly string[]): Promise<Dispatched> {
  let [out, err] = ['', ''];
  const code = await dispatch(['sign-in', 'crm', '--root', root, ...args], {
    out: (text) => {
      out += text;
      const [address] = /http:\S+\/authorize\S+/.exec(text) ?? [];
      if (address !== undefined) void fetch(address);
    },
    err: (text) => {
      err += text;
    },
    color: false,
  });
  return { code, out, err };
}

describe('a person who signs in', () => {
  test('lets each program call the server, and renew its token', async () => {
    const { authorization, calls, expire } = await protectedServer();
    const early = calls();
    await expect(early('a')).rejects.toMatchObject({
      code: 'E_UPSTREAM_UNAVAILABLE',
      message: expect.stringMatching(/: a person has to sign in: run `stepwright sign-in crm`$/),
    });
    const { code, out, err } = await signIn();
    expect([code, err]).toEqual([0, '']);
    const [file = ''] = readdirSync(folder);
    expect(out).toContain(`signed in at 'crm'; the tokens are in ${path.join(folder, file)}`);
    expect(out).not.toContain('granted-token');
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    expect([await early('a'), await calls()('b')]).toEqual(['a', 'b']);
    await expire(2);
    expect([await early('c'), await calls()('d')]).toEqual(['c', 'd']);
    expect(authorization.requests.map(({ params }) => params.grant_type)).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
  });

  test('has tokens that are bound to one key in all programs', async () => {
    const { authorization, calls, expire } = await protectedServer({ dpop: true });
    await signIn();
    expect([await calls()('a'), await calls()('b')]).toEqual(['a', 'b']);
    await expire(2);
    expect(await calls()('c')).toBe('c');
    const keys = authorization.proofs.map((proof) => {
      const [head = ''] = proof.split('.');
      return JSON.parse(Buffer.from(head, 'base64url').toString()).jwk;
    });
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('may have several programs renew a token at the same time', async () => {
    const { authorization, calls } = await protectedServer();
    await signIn();
    const programs = [calls(), calls(), calls()];
    expect(await Promise.all(programs.map((call) => call('a')))).toEqual(['a', 'a', 'a']);
    authorization.expire();
    expect(await Promise.all(programs.map((call) => call('b')))).toEqual(['b', 'b', 'b']);
  });

  test('is asked again when the sign-in has ended', async () => {
    const { authorization, calls } = await protectedServer();
    await signIn();
    authorization.expire('refresh');
    await expect(calls()('a')).rejects.toThrow('run `stepwright sign-in crm`');
    expect(await signIn()).toMatchObject({ code: 0 });
    expect(await calls()('a')).toBe('a');
  });

  test('is told why there is no token', async () => {
    await protectedServer();
    expect(await signIn('--scope', 'refused')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the authorization server refuses: access_denied'),
    });
    await protectedServer({ issuer: 'https://other.example.com' });
    expect(await signIn()).toMatchObject({
      code: 1,
      err: expect.stringContaining('https://other.example.com'),
    });
  });

  test('can be forgotten', async () => {
    const { calls } = await protectedServer();
    await signIn();
    expect(await command('crm', '--forget')).toMatchObject({
      code: 0,
      out: "removed the sign-in at 'crm'\n",
    });
    expect(await command('crm', '--forget')).toMatchObject({ out: "there is no sign-in at 'crm'\n" });
    await expect(calls()('a')).rejects.toThrow('run `stepwright sign-in crm`');
  });

  test('learns of a file that is damaged', async () => {
    const { calls } = await protectedServer();
    await signIn();
    const [file = ''] = readdirSync(folder);
    writeFileSync(path.join(folder, file), readFileSync(path.join(folder, file), 'utf8').slice(1));
    await expect(calls()('a')).rejects.toThrow('is damaged: remove it, and sign in again');
    expect(await signIn()).toMatchObject({ code: 1, err: expect.stringContaining('is damaged') });
    expect(await command('crm', '--forget')).toMatchObject({ code: 0 });
    expect(await signIn()).toMatchObject({ code: 0 });
  });
});

test.each([
  [[], 2, 'needs the name of an upstream server'],
  [['crn'], 2, 'no upstream server `crn` (did you mean `crm`?)'],
  [['crm', '--port', 'x'], 2, '`--port` takes a whole number'],
])('sign-in refuses %j', async (args, code, err) => {
  await protectedServer();
  expect(await command(...args)).toMatchObject({ code, err: expect.stringContaining(err) });
});

test('a server without a sign-in needs none', async () => {
  await protectedServer();
  const upstream = { plain: { url: 'http://127.0.0.1:9/mcp' }, process: { command: 'node' } };
  writeFileSync(path.join(root, 'stepwright.config.json'), JSON.stringify({ upstream }));
  expect(await command('plain')).toMatchObject({ code: 1, err: expect.stringContaining('"signIn": true') });
  expect(await command('process')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not reached over HTTP'),
  });
});
