import { describe, expect, test } from 'vitest';
import { UrlRules } from './url-rules.js';

const host = new URL('https://team.example.com/');

describe('addresses of hosts', () => {
  const rules = new UrlRules({ allow: ['https://team.example.com'] });

  test.each(['8.8.8.8', '2606:4700::1111'])('%s is public', (address) => {
    expect(rules.addressFault(host, address)).toBeUndefined();
  });

  test.each([
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.0.1', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['0.0.0.0', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['::1', 'loopback'],
    ['::', 'unspecified'],
    ['fc00::1', 'uniqueLocal'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['ff02::1', 'multicast'],
    ['::ffff:127.0.0.1', 'ipv4Mapped'],
    ['::ffff:8.8.8.8', 'ipv4Mapped'],
    ['64:ff9b::7f00:1', 'rfc6052'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['2002:7f00:1::', '6to4'],
    ['2001::1', 'teredo'],
    ['2001:db8::1', 'reserved'],
    ['::7f00:1', 'not assigned'],
    ['4000::1', 'not assigned'],
    ['nothing', 'malformed'],
  ])('%s is %s', (address, range) => {
    expect(rules.addressFault(host, address)).toContain(`the address ${address}, which is ${range}`);
  });

  test('of networks that are listed are allowed', () => {
    const inside = new UrlRules({ allow: [host.href], allowAddresses: ['10.20.0.0/16', 'fd00:1::/32'] });
    expect(inside.addressFault(host, '10.20.1.1')).toBeUndefined();
    expect(inside.addressFault(host, 'fd00:1::1')).toBeUndefined();
    expect(inside.addressFault(host, '10.21.1.1')).toContain('private');
    expect(inside.addressFault(host, '::ffff:10.20.1.1')).toContain('ipv4Mapped');
  });
});

test.each(['https://*.example.com/', '*', 'https://team.example.com/a?b'])(
  '%s cannot be allowed',
  (entry) => {
    expect(() => new UrlRules({ allow: [entry] })).toThrow(/without user, '\?', '#' or '\*'/);
  },
);

test('settings that are no list are refused', () => {
  expect(() => new UrlRules({} as never)).toThrow('specs.remote.allow must be a list of texts');
});

test('an address without a host is named as it is', () => {
  expect(() => new UrlRules({ allow: [host.href] }).check('file:///etc/passwd')).toThrow(
    /^file:\/\/\/etc\/passwd is/,
  );
});

describe('addresses of files', () => {
  const rules = new UrlRules({
    allow: ['https://team.example.com/flows/', 'https://one.example.com/a.yaml', 'http://localhost:8080'],
  });

  test.each([
    'https://team.example.com/flows/a.yaml',
    'https://TEAM.example.com:443/flows/./b/../a.yaml?v=2#top',
    'https://one.example.com/a.yaml',
    'https://one.example.com/a.yaml/more',
    'http://localhost:8080/a.yaml',
  ])('%s is allowed', (url) => {
    expect(rules.check(url).hash).toBe('');
  });

  test.each([
    'https://team.example.com/other/a.yaml',
    'https://team.example.com/flows',
    'https://team.example.com/flows/../a.yaml',
    'https://team.example.com/flows/%2e%2e/a.yaml',
    'https://team.example.com/flows/..%2Fa.yaml',
    'https://team.example.com/flows/..%5ca.yaml',
    'https://team.example.com/flows\\..\\a.yaml',
    'https://team.example.com.evil.example/flows/a.yaml',
    'https://team.example.com@evil.example/flows/a.yaml',
    'https://user@team.example.com/flows/a.yaml',
    'https://team.example.com:8443/flows/a.yaml',
    'http://team.example.com/flows/a.yaml',
    'https://one.example.com/a.yamlx',
    'http://127.0.0.1:8080/a.yaml',
    'file:///flows/a.yaml',
    'data:text/yaml,a',
    'flows/a.yaml',
  ])('%s is refused', (url) => {
    expect(() => rules.check(url)).toThrow(/./);
    expect(() => rules.check(url)).toThrow(expect.objectContaining({ code: 'E_SPEC_NOT_ALLOWED' }));
  });

  test('with a user and a password are refused for these, which are not shown', () => {
    expect(() => rules.check('https://ann:sesame@team.example.com/flows/a.yaml')).toThrow(
      /^https:\/\/team\.example\.com\/flows\/a\.yaml is not read: it has a user or a password before the host/,
    );
  });

  test('are all refused without a list, and the message says what to set', () => {
    expect(() => new UrlRules().check('https://team.example.com/a.yaml?key=secret')).toThrow(
      'https://team.example.com/a.yaml is not read: this server reads nothing from other hosts. Its operator may allow it with specs.remote.allow',
    );
  });
});

test.each([
  [{ allow: ['team.example.com'] }, /specs\.remote\.allow lists 'team\.example\.com'/],
  [{ allow: ['https://a.example/?x'] }, /without user, '\?', '#' or '\*'/],
  [{ allow: ['https://u@a.example/'] }, /without user/],
  [{ allow: ['ftp://a.example/'] }, /write an origin/],
  [{ allow: ['http://a.example/'] }, /use https/],
  [{ allow: ['http://10.0.0.1/'] }, /use https/],
  [{ allow: [], allowAddresses: ['10.0.0.1'] }, /'10\.0\.0\.1', which is not a network/],
  [{ allow: [], headers: { 'https://a.example': {} } }, /not the origin of an entry/],
  [
    { allow: ['https://a.example'], headers: { 'https://a.example': { 'a b': 'x' } } },
    /'a b' is not a header/,
  ],
  [
    { allow: ['https://a.example'], headers: { 'https://a.example': { a: 'x\r\ny' } } },
    /'a' is not a header/,
  ],
])('malformed rules are refused: %j', (remote, message) => {
  expect(() => new UrlRules(remote as never)).toThrow(message);
  expect(() => new UrlRules(remote as never)).toThrow(RangeError);
});
