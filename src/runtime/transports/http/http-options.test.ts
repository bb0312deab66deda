import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress, isTrustProxy } from './http-options.js';

const PROXY = '10.0.0.1';
const inside = (address: string | undefined): boolean => address?.startsWith('10.') === true;

describe('the address of a client', () => {
  test.each([
    ['is that of the connection without a trusted proxy', 0, '203.0.113.9', PROXY],
    ['is that of the connection without the header', 1, null, PROXY],
    ['is what the proxy added', 1, '203.0.113.9', '203.0.113.9'],
    ['is not what the client sent before', 1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['is what the first of two proxies added', 2, '198.51.100.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['is the first entry where fewer proxies were passed', 3, '203.0.113.9', '203.0.113.9'],
    ['is before the last trusted proxy', inside, '198.51.100.1, 203.0.113.9,10.0.0.2', '203.0.113.9'],
    ['is that of the connection that is not a trusted proxy', () => false, '203.0.113.9', PROXY],
    ['is the first entry if all are trusted', () => true, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ] as const)('%s', (_, trust, header, address) => {
    expect(clientAddress(PROXY, header, trust)).toBe(address);
  });

  test.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4:port',
    '[::1',
    '::1]',
    ':::',
    '<script>',
    'a.example',
  ])('is that of the proxy which wrote the malformed entry %j', (entry) => {
    expect(clientAddress(PROXY, entry, 1)).toBe(PROXY);
    expect(clientAddress(PROXY, `203.0.113.9, ${entry}, 10.0.0.2`, 3)).toBe('10.0.0.2');
  });

  test.each([
    ['203.0.113.9:4711', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['[2001:DB8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
  ])('%s is written %s', (entry, address) => {
    expect(clientAddress(PROXY, entry, 1)).toBe(address);
    expect(clientAddress(entry, null, 1)).toBe(address);
  });

  test('may be unknown for the connection, as over a Unix socket', () => {
    expect(clientAddress(undefined, '203.0.113.9', 1)).toBe('203.0.113.9');
    expect(clientAddress(undefined, null, 1)).toBeUndefined();
    expect(clientAddress(undefined, '203.0.113.9', (address) => address === undefined)).toBe('203.0.113.9');
  });

  test('does not depend on what a client sends before its proxy', () => {
    fc.assert(
      fc.property(fc.string(), (sent) => {
        expect(clientAddress(PROXY, `${sent}, 203.0.113.9`, 1)).toBe('203.0.113.9');
      }),
    );
  });
});

test.each([
  [0, true],
  [2, true],
  [() => true, true],
  [-1, false],
  [1.5, false],
  [Number.NaN, false],
  [true, false],
  ['1', false],
])('%s trusts proxies: %s', (trust, expected) => {
  expect(isTrustProxy(trust)).toBe(expected);
});
