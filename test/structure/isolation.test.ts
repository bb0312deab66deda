import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, sourceFiles } from './source-files.js';

/** Calls that have an effect only on modules that are not loaded yet. */
const REPLACES = /\bvi\.(?:mock|doMock|unmock|doUnmock|resetModules)\(/;

test('every test that replaces modules is run by itself', () => {
  const config = readFileSync(`${ROOT}vitest.config.ts`, 'utf8');
  const [, list = ''] = /^const MOCKING = \[([^\]]*)\];$/m.exec(config) ?? [];
  const isolated = [...list.matchAll(/'([^']+)'/g)].map(([, file]) => file);
  const replacing = sourceFiles('src', 'test').filter(({ text }) => REPLACES.test(text));
  expect(replacing.length).toBeGreaterThan(0);
  expect(replacing.map(({ file }) => file)).toEqual(isolated);
});
