import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { archiveFaults } from './exports.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'stepwright-archives-'));
  writeFileSync(path.join(root, 'package.json'), '{}');
});
afterEach(() => rmSync(root, { recursive: true }));

const OUT = 'generated/registry.ts';
const messages = (...args: Parameters<typeof archiveFaults>): readonly string[] =>
  archiveFaults(...args).map(({ code, message }) => `${code} ${message}`);

test("a registry of CommonJS is reported under Plug'n'Play of Node.js 20", () => {
  expect(messages(root, [OUT, 'registry.mts'], { node: '20.19.0', pnp: '3' })).toEqual([
    "SW9019 `generated/registry.ts` is CommonJS, and Node.js 20.19.0 does not `require` ES modules from the archives of Yarn's Plug'n'Play",
  ]);
});

test('nothing is reported where it is loaded', () => {
  expect(archiveFaults(root, [OUT], { node: '22.18.0', pnp: '3' })).toEqual([]);
  expect(archiveFaults(root, [OUT], { node: '20.19.0' })).toEqual([]);
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  expect(archiveFaults(root, [OUT], { node: '20.19.0', pnp: '3' })).toEqual([]);
});
