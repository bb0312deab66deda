import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from './json-document.js';

const TEXT = `\ufeff{
  // The servers.
  "upstream": { "files": { "args": ["a", "b",], }, /* last */ },
  "a/b": 1,
  "twice": 1,
  "twice": 2
}
`;

describe('a JSON document', () => {
  const document = parseJsonDocument('c.json', TEXT);

  test('may have comments and trailing commas, and the last of two members counts', () => {
    expect(document.faults).toEqual([]);
    expect(document.value).toEqual({ upstream: { files: { args: ['a', 'b'] } }, 'a/b': 1, twice: 2 });
  });

  test.each([
    ['/upstream/files/args/1', [3, 42, 3, 45]],
    ['/upstream/files/args/7', [3, 36, 3, 47]],
    ['/a~1b', [4, 10, 4, 11]],
    ['/missing', [1, 1, 7, 2]],
  ])('knows the place of %s', (pointer, span) => {
    expect(document.placeOf(pointer)).toEqual({ file: 'c.json', span, pointer });
  });

  test('knows the places of keys, and of the value where there is no key', () => {
    expect(document.keyPlaceOf('/a~1b').span).toEqual([4, 3, 4, 8]);
    expect(document.keyPlaceOf('/twice').span).toEqual([6, 3, 6, 10]);
    expect(document.keyPlaceOf('/upstream/files/args/1').span).toEqual([3, 42, 3, 45]);
    expect(document.keyPlaceOf('').span).toEqual([1, 1, 7, 2]);
  });

  test('knows which pointers lead to a value', () => {
    expect(['', '/upstream/files', '/upstream/memory', '/twice/0'].map(document.has)).toEqual([
      ...[true, true, false, false],
    ]);
  });

  test.each([
    ['{ "a": }', [1, 8, 1, 9], 'expected a value, and found `}`'],
    ['{\n  a: 1\n}', [2, 3, 2, 4], 'expected a key in double quotes, and found `a`'],
    ['[1,,]', [1, 4, 1, 5], 'expected a value, and found `,`'],
    ['{ "a" 1 }', [1, 7, 1, 8], 'expected `:`, and found `1`'],
    ['[1 /* never ends', [1, 4, 1, 5], 'expected `,` or `]`, and found `/`'],
    ['['.repeat(20_000), [1, 1_001, 1, 1_002], 'it has more than 1000 levels of nesting'],
  ])('has a fault: %s', (text, span, message) => {
    expect(parseJsonDocument('c.json', text)).toMatchObject({
      value: undefined,
      faults: [{ message, place: { file: 'c.json', span } }],
    });
  });

  test.each(['', ' \n', '// only a comment'])('without a value has an empty list of faults: %j', (text) => {
    const empty = parseJsonDocument('c.json', text);
    expect([empty.value, empty.faults, empty.has('')]).toEqual([undefined, [], false]);
    expect(empty.placeOf('/a').span).toEqual([1, 1, 1, 1]);
  });
});
