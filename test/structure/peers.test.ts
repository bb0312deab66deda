import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

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
