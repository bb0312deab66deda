import { describe, expect, test } from 'vitest';
import { duplicates } from '../../scripts/house/duplicates.js';
import { measure } from '../../scripts/house/figures.js';
import { importsUp, longestChain } from '../../scripts/house/imports.js';
import { declaredNames } from '../../scripts/house/names.js';
import type { Import } from './source-files.js';

/** What each figure of `npm run house` may be at the most. A limit falls when its figure does, and rises by what a feature needs alone. */
const LIMITS: Readonly<Record<string, number>> = {
  lines: 135_940,
  files: 585,
  // The room with the largest share grows by itself when the others get smaller.
  room: 22.5,
  small: 22,
  chain: 27,
  'chain-types': 48,
  floors: 9,
  up: 0,
  names: 4,
  duplicates: 0,
  types: 85,
};

// It parses every file.
test('no figure of the source gets worse than its limit', () => {
  const figures = new Map(measure().map(({ id, value }) => [id, value]));
  const worse = Object.entries(LIMITS).filter(([id, limit]) => !((figures.get(id) ?? Number.NaN) <= limit));
  expect(worse.map(([id, limit]) => `${id}: ${figures.get(id)}, at most ${limit}`)).toEqual([]);
});

function imports(...pairs: (readonly [from: string, to: string])[]): Import[] {
  return pairs.map(([from, to]) => ({ from, to, how: 'value' }));
}

describe('imports', () => {
  test('the longest chain names each file once', () => {
    const links = imports(['a', 'b'], ['b', 'c'], ['c', 'd'], ['a', 'd'], ['x', 'c']);
    expect(longestChain(links)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('the fewer of two directions between parts of a folder run up', () => {
    const links = imports(
      ['r/server.ts', 'r/runs/a.ts'],
      ['r/server.ts', 'r/runs/b.ts'],
      ['r/runs/c.ts', 'r/server.ts'],
      ['r/runs/a.ts', 'r/runs/b.ts'],
    );
    expect(importsUp('r', links)).toEqual(['r/runs/c.ts imports r/server.ts']);
    expect(importsUp('r/runs', links)).toEqual([]);
  });

  test('a circle of three parts has one import that runs up', () => {
    const links = imports(['r/a/1.ts', 'r/b/1.ts'], ['r/b/2.ts', 'r/c/1.ts'], ['r/c/2.ts', 'r/a/2.ts']);
    expect(importsUp('r', links)).toHaveLength(1);
  });
});

describe('names', () => {
  const participles = (text: string): string[] =>
    declaredNames({ file: 'a.ts', text })
      .filter(({ isParticiple }) => isParticiple)
      .map(({ name, line }) => `${name}:${line}`);

  test.each([
    ['const found = 1;', 'found:1'],
    ['function f(rowsLeft: number) {}', 'rowsLeft:1'],
    ['\ninterface Meant {}', 'Meant:2'],
    ['const { known } = a;', 'known:1'],
    ['class A { #told = 1; isKept = true; }', 'isKept:1'],
  ])('counts %j', (text, name) => {
    expect(participles(text)).toEqual([name]);
  });

  test.each([
    'function read() {}',
    'interface A { read(): void; write: number; foundation: string; leftOver: string }',
    'const a = b.found;',
    'interface A { left: string; right: string }',
    "import { known } from './a.js';",
  ])('does not count %j', (text) => {
    expect(participles(text)).toEqual([]);
  });
});

describe('duplicates', () => {
  const lines = (...names: string[]): string => names.map((name) => `  ${name}();\n`).join('');

  test('a pair is listed once, as far as it reaches', () => {
    const sources = [
      { file: 'a.ts', text: lines('x', 'a', 'b', 'c', 'd', 'y') },
      { file: 'b.ts', text: `// a comment\n${lines('a', 'b')}\n${lines('c', 'd', 'z')}` },
    ];
    expect(duplicates(sources, 3)).toEqual(['a.ts:2-5 ~ b.ts:2-6']);
    expect(duplicates(sources, 4)).toEqual([]);
  });

  test('imports and comments do not count', () => {
    const text = "import {\n  a,\n  b,\n} from './c.js';\n/** One.\n * Two.\n */\n";
    expect(
      duplicates(
        [
          { file: 'a.ts', text },
          { file: 'b.ts', text },
        ],
        1,
      ),
    ).toEqual([]);
  });
});
