import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

/** Licences that allow use in any product and ask for no more than a notice. */
const ALLOWED = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
]);

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
}

const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

test('what users install has a licence that allows any use', () => {
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  expect(installed.length).toBeGreaterThan(50);
  const others = installed.flatMap(([path, { license }]) =>
    ALLOWED.has(license ?? '') ? [] : [`${path}: ${license ?? 'no licence'}`],
  );
  expect(others).toEqual([]);
});
