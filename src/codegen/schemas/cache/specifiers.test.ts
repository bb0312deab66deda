import { describe, expect, test } from 'vitest';
import { specifiersOf } from './specifiers.js';

describe('specifiersOf', () => {
  test.each([
    ["import './a.js';", ['./a.js']],
    ["import a, { b as c } from './a.js';", ['./a.js']],
    ["import {\n  a,\n  b,\n} from '../x/a.js';", ['../x/a.js']],
    ['import*as a from\'zod\';import{b}from"@me/b/deep"', ['zod', '@me/b/deep']],
    ["export * from './a.js';\nexport { b } from './b.js'", ['./a.js', './b.js']],
    ["const a = await import('./a.js'); const b = require(`./b.cjs`);", ['./a.js', './b.cjs']],
    ["import a = require('./a.js');", ['./a.js']],
    ["import { type A, b } from './a.js';", ['./a.js']],
    ["import data from './a.json' with { type: 'json' };", ['./a.json']],
    ["import './a.js?fresh';", ['./a.js?fresh']],
    ["// don't\nimport /* it's */ './a.js';", ['./a.js']],
    ["const file = new URL('./a.txt', import.meta.url);", ['./a.txt']],
    ["import '.'; import '..';", ['.', '..']],
    [`Buffer.from(\`$\{a}\`); Array.from("ab"); join("..", "a")`, []],
    ["/* import type { A } from './none.js'; */ export {}", ['./none.js']],
    ["// import type {\nimport { a } from './a.js';", ['./a.js']],
    ["import type from './a.js';", ['./a.js']],
  ])('finds all of %j', (text, named) => {
    expect(specifiersOf(text)).toEqual({ named, isComplete: true });
  });

  test.each([
    ["import type { A } from './a.js';"],
    ["import type {\n  A,\n  B,\n} from './a.js';"],
    ["import type A from './a.js';"],
    ["import type * as a from './a.js';"],
    ["export type { A } from './a.js';"],
    ["export type * from './a.js';"],
  ])('leaves out what is erased: %j', (text) => {
    expect(specifiersOf(text)).toEqual({ named: [], isComplete: true });
  });

  test.each([
    ['await import(path);'],
    [`import(\`./$\{name}.js\`);`],
    ['require(path)'],
    ['require.resolve(path)'],
    ["import(/* lazy */ './a.js')"],
    ['const load = createRequire(import.meta.url);'],
    ['import.meta.resolve(name)'],
    ["import './\\x61.js';"],
  ])('knows that it does not know: %j', (text) => {
    expect(specifiersOf(text).isComplete).toBe(false);
  });
});
