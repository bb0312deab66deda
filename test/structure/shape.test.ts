import { describe, expect, test } from 'vitest';
import { MAX_LINES, shapeFaults } from './shape.js';
import { sourceFiles } from './source-files.js';

test('every file keeps the house rules on its form', () => {
  const sources = sourceFiles('src', 'examples', 'scripts', 'test');
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.flatMap(shapeFaults)).toEqual([]);
});

describe('the rule', () => {
  test.each([
    ['export default class A {}', 'a default export'],
    ['const a = 1;\nexport default a;', 'a default export'],
    ['const a = 1;\nexport { a as default };', 'a default export'],
    ['export enum A { b }', 'an enum'],
    ['const enum A { b }', 'an enum'],
    ['namespace A { export const b = 1; }', 'a namespace'],
    ['class TaskManager {}', '`TaskManager`'],
    ['\n'.repeat(MAX_LINES + 1), 'more than'],
  ])('refuses %j', (text, sentence) => {
    expect(shapeFaults({ file: 'a.ts', text })).toEqual([expect.stringContaining(sentence)]);
  });

  test.each(['export class A {}', "declare module 'vitest' { interface X {} }", '\n'.repeat(MAX_LINES)])(
    'allows %j',
    (text) => {
      expect(shapeFaults({ file: 'a.ts', text })).toEqual([]);
    },
  );
});
