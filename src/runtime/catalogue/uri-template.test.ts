import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UriTemplate } from './uri-template.js';

function templateOf(text: string): UriTemplate {
  const template = UriTemplate.parse(text);
  if ('why' in template) throw new Error(template.why);
  return template;
}

describe('parse', () => {
  test.each([
    ['page://x', 'it holds no variable'],
    ['page://{a', 'it holds a brace without its other half'],
    ['page://{a}}', 'it holds a brace without its other half'],
    ['page://{}', 'it holds `{}`: a variable is written {name}, {+name} or {#name}'],
    ['page://{?q}', 'it holds `{?q}`: a variable is written {name}, {+name} or {#name}'],
    ['page://{a,b}', 'it holds `{a,b}`: a variable is written {name}, {+name} or {#name}'],
    ['page://{a}/{a}', 'it holds `a` twice'],
    ['page://{a}{b}', '`{b}` follows a variable with no text between them'],
  ])('%s is none', (text, why) => {
    expect(UriTemplate.parse(text)).toEqual({ why });
  });

  test('knows its variables in order', () => {
    expect(templateOf('page://{b}/{+a}{#c}').names).toEqual(['b', 'a', 'c']);
  });
});

describe('match', () => {
  test.each<[string, string, Record<string, string> | undefined]>([
    ['page://{name}', 'page://home', { name: 'home' }],
    ['page://{name}', 'page://a%2Fb', { name: 'a%2Fb' }],
    ['page://{name}', 'page://', undefined],
    ['page://{name}', 'page://a/b', undefined],
    ['page://{name}', 'page://a?b', undefined],
    ['page://{name}', 'pages://a', undefined],
    ['page://{+path}', 'page://a/b?c#d', { path: 'a/b?c#d' }],
    ['page://{name}{#part}', 'page://a#b/c', { name: 'a', part: 'b/c' }],
    ['page://{name}{#part}', 'page://a', undefined],
    ['page://{name}/{file}.md', 'page://a/b.md.md', { name: 'a', file: 'b.md' }],
    ['page://{a}-{b}', 'page://1-2-3', { a: '1', b: '2-3' }],
    ['page://{+a}/end/{b}', 'page://x/end/y/end/z', { a: 'x/end/y', b: 'z' }],
    ['{kind}://home', 'page://home', { kind: 'page' }],
    ['page://{name}/', 'page://a', undefined],
    ['page://{+name}', 'page://{+name}', undefined],
  ])('%s at %s', (template, uri, variables) => {
    expect(templateOf(template).match(uri)).toEqual(variables);
  });

  test('gives back what was filled in, encoded', () => {
    const value = fc.string({ minLength: 1, unit: 'grapheme' }).map(encodeURIComponent);
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(templateOf('page://{a}/x/{b}').match(`page://${a}/x/${b}`)).toEqual({ a, b });
      }),
    );
  });

  test('what it finds makes up the address again', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab/]{0,12}$/), (rest) => {
        const found = templateOf('p:{x}a{+y}b{z}').match(`p:${rest}`);
        if (found !== undefined) expect(`${found.x}a${found.y}b${found.z}`).toBe(rest);
        // A slow matcher that cannot be wrong.
        const matches = /^[^/?#]+a.+b[^/?#]+$/.test(rest);
        expect(found !== undefined).toBe(matches);
      }),
      { numRuns: 500 },
    );
  });

  test('an address of absurd length is of no template', () => {
    expect(templateOf('page://{+name}').match(`page://${'a'.repeat(10_000)}`)).toBe(undefined);
  });
});
