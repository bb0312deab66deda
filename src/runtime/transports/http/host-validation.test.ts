import { describe, expect, test } from 'vitest';
import { type HostValidationOptions, type HttpHeaders, hostValidation } from './host-validation.js';

function messageTo(headers: HttpHeaders, options?: HostValidationOptions): string | undefined {
  const refusal = hostValidation(options)(headers);
  if (refusal === undefined) return undefined;
  expect(refusal).toMatchObject({ status: 403, headers: { 'content-type': 'application/json' } });
  return JSON.parse(refusal.body).error.message;
}

describe('hostValidation', () => {
  test.each([
    'localhost',
    'localhost:3000',
    'LOCALHOST.',
    '127.0.0.1:80',
    '[::1]',
    '[::1]:3000',
    '[0:0::1]:1',
  ])('admits this machine by default: %s', (host) => {
    expect(messageTo({ host })).toBeUndefined();
    expect(messageTo({ ':authority': host })).toBeUndefined();
  });

  test.each([
    'evil.example',
    'localhost.evil.example',
    'evil.example:3000',
    'localhost@evil.example',
    'localhost:3000:1',
    'localhost/..',
    'localhost#',
    'localhost evil',
    '[::1',
    '::1',
    '127.0.0.1.nip.io',
    '0.0.0.0',
    '',
  ])('refuses %j', (host) => {
    expect(messageTo({ host })).toBe(
      `Forbidden: this server is not served as '${host}'. Its operator lists its names in \`allowedHosts\`.`,
    );
  });

  test('refuses a request without a host, and one with two', () => {
    expect(messageTo({})).toMatch(/^Forbidden: the request has no Host header/);
    expect(messageTo({ host: ['localhost', 'localhost'] })).toMatch(/^Forbidden/);
  });

  test('admits the hosts of a list, and a port where one is named', () => {
    const options = { allowedHosts: ['MCP.example.com', 'other.example:8443', 'bücher.example'] };
    for (const host of [
      'mcp.example.com',
      'mcp.example.com:1',
      'other.example:8443',
      'xn--bcher-kva.example',
    ])
      expect(messageTo({ host }, options)).toBeUndefined();
    for (const host of ['localhost', 'other.example', 'other.example:443', 'a.mcp.example.com'])
      expect(messageTo({ host }, options)).toContain(`not served as '${host}'`);
  });

  test('admits pages of the server itself, and no others', () => {
    const host = 'localhost:3000';
    for (const origin of [
      undefined,
      'http://localhost:3000',
      'https://localhost:3000',
      'http://LOCALHOST:3000',
    ])
      expect(messageTo({ host, origin })).toBeUndefined();
    for (const secure of ['mcp.example.com', 'mcp.example.com:443'])
      expect(
        messageTo({ host: secure, origin: 'https://mcp.example.com' }, { allowedHosts: ['mcp.example.com'] }),
      ).toBeUndefined();
    for (const origin of [
      'null',
      'http://localhost:9',
      'http://localhost',
      'https://127.0.0.1',
      'http://[::1]:5173',
      'https://evil.example',
      'http://localhost.evil.example',
      'file://localhost',
      '',
    ])
      expect(messageTo({ host, origin })).toBe(
        `Forbidden: pages of '${origin}' must not call this server. Its operator lists those that may in \`allowedOrigins\`.`,
      );
    expect(messageTo({ host, origin: ['http://localhost', 'http://localhost'] })).toMatch(/^Forbidden/);
  });

  test('admits the origins of a list besides', () => {
    const options = { allowedOrigins: ['https://App.example.com', 'vscode-webview://Abc'] };
    const host = 'localhost';
    for (const origin of ['https://app.example.com', 'https://app.example.com:443', 'vscode-webview://abc'])
      expect(messageTo({ host, origin }, options)).toBeUndefined();
    for (const origin of [
      'http://app.example.com',
      'https://app.example.com:444',
      'http://localhost:9',
      'null',
    ])
      expect(messageTo({ host, origin }, options)).toMatch(/^Forbidden/);
  });

  test('shows a header on one line, clipped', () => {
    const message = messageTo({ host: `a\n\u202e${'x'.repeat(5_000)}` });
    expect(message?.length).toBeLessThan(400);
    expect(message).not.toMatch(/[\n\u202e]/);
  });

  test.each([
    [
      { allowedHosts: ['https://example.com'] },
      "`allowedHosts` lists 'https://example.com', which is not a host",
    ],
    [{ allowedHosts: ['*.example.com'] }, 'which is not a host: write `example.com` or `example.com:8443`'],
    [{ allowedHosts: [''] }, "`allowedHosts` lists '', which is not a host"],
    [{ allowedOrigins: ['example.com'] }, "`allowedOrigins` lists 'example.com', which is not an origin"],
    [{ allowedOrigins: ['https://example.com/'] }, 'which is not an origin: write `https://example.com`'],
  ])('refuses the list %j', (options, message) => {
    expect(() => hostValidation(options)).toThrow(RangeError);
    expect(() => hostValidation(options)).toThrow(message);
  });
});
