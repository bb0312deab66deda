import { expect, test } from 'vitest';
import { compareVersions } from './spec-files.js';

test('versions are in the order of Semantic Versioning', () => {
  const order = [
    ...['', '0.9.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2', '1.0.0-beta.11'],
    ...['1.0.0-rc.1', '1.0.0', '1.2.0', '1.10.0', '2.0.0', 'next'],
  ];
  expect(order.toReversed().sort(compareVersions)).toEqual(order);
});

test('build metadata and a leading v do not count', () => {
  expect([compareVersions('1.0.0+a', '1.0.0+b'), compareVersions('v1.0.0', '1.0.0')]).toEqual([0, 0]);
});
