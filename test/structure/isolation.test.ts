import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, sourceFiles } from './source-files.js';

test.each([
  // Calls that have an effect only on modules that are not loaded yet.
  ['replaces modules', 'MOCKING', /\bvi\.(?:mock|doMock|unmock|doUnmock|resetModules)\(/],
  ['has a document', 'DOCUMENTS', /^\/\/ @vitest-environment /m],
])('every test that %s is run by itself', (_, name, pattern) => {
  const config = readFileSync(`${ROOT}vitest.config.ts`, 'utf8');
  const [, list = ''] = new RegExp(`^const ${name} = \\[([^\\]]*)\\];$`, 'm').exec(config) ?? [];
  const isolated = [...list.matchAll(/'([^']+)'/g)].map(([, file]) => file);
  const files = sourceFiles('src', 'test').filter(({ text }) => pattern.test(text));
  expect(files.length).toBeGreaterThan(0);
  expect(files.map(({ file }) => file)).toEqual(isolated);
});
