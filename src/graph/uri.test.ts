import { describe, expect, test } from 'vitest';
import { uriFault } from './uri.js';

describe('uriFault', () => {
  test.each([
    'resource://logseq/intro',
    'https://example.org:8080/a%20b?c=d&e[]=f#g',
    'urn:isbn:0451450523',
    'file:///a/b.md',
    'a+b-c.1:x',
    'http://[::1]/',
  ])('finds nothing wrong with %s', (uri) => {
    expect(uriFault(uri)).toBeUndefined();
  });

  test.each([
    ['', 'it is empty'],
    ['logseq/intro', 'it has no scheme'],
    ['/a:b', 'it has no scheme'],
    ['intro.md', 'it has no scheme'],
    ['1a://x', '`1a` is not a scheme'],
    ['://x', '`` is not a scheme'],
    ['my scheme:x', '`my scheme` is not a scheme'],
    ['resource:', 'nothing follows the scheme'],
    ['resource://a b', 'it holds a space, which must be percent-encoded'],
    ['resource://a\nb', 'it holds a control character, which must be percent-encoded'],
    ['resource://ä', 'it holds `ä`, which must be percent-encoded'],
    ['resource://{name}', 'it holds `{`, which must be percent-encoded'],
    ['resource://100%', 'a `%` must be followed by two hexadecimal digits'],
    ['resource://a#b#c', 'it holds two `#`'],
  ])('%j: %s', (uri, fault) => {
    expect(uriFault(uri)).toBe(fault);
  });
});
