import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtPackage } from '../built-package.js';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const repository = path.resolve(import.meta.dirname, '../..');
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(repository, folder, 'package.json'), 'utf8')) as Manifest;

const { dependencies } = manifestIn('.');

// Yarn's Plug'n'Play and pnpm give a package only what the one above it depends on.
test.each(Object.keys(dependencies))('what %s needs beside it is a dependency as well', (name) => {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = manifestIn(`node_modules/${name}`);
  const needed = Object.keys(peerDependencies).filter(
    (peer) => peerDependenciesMeta[peer]?.optional !== true,
  );
  expect(needed.filter((peer) => !Object.hasOwn(dependencies, peer))).toEqual([]);
});

test('the package has no maps: they would name sources that it does not have', { timeout: 240_000 }, () => {
  const dist = path.join(builtPackage(), 'dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  expect(files).toContain('index.d.ts');
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
  const code = files.filter((file) => /\.(js|cjs|ts|gz)$/.test(file));
  const named = code.flatMap((file) => {
    const bytes = readFileSync(path.join(dist, file));
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    const [, map] = /^\/\/# sourceMappingURL=(?:data:.*base64,)?(.*)$/m.exec(text) ?? [];
    if (map === undefined) return [];
    // Temporal's SDK refuses an interpreter without a map: it has one of its own lines.
    if (file !== 'temporal/interpreter.js.gz') return [file];
    const { sources } = JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] };
    return sources.filter((source) => source !== 'interpreter.js');
  });
  expect(named).toEqual([]);
  const licences = readFileSync(path.join(dist, 'LICENSES.txt'), 'utf8');
  for (const name of ['@noble/hashes', '@temporalio/workflow', 'ajv', 're2js', 'saxes', 'yaml', 'long'])
    expect(licences).toContain(`${name}\n\n`);
});
