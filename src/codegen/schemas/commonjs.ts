import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';

/** True where Node takes a TypeScript file's output for CommonJS: by its extension, else by its package's `type`. */
export function isCommonJs(file: string): boolean {
  const extension = extname(file);
  if (extension === '.cts') return true;
  if (extension === '.mts') return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return packageType(manifest) !== 'module';
    if (folder === dirname(folder)) return true;
  }
}

function packageType(manifest: string): unknown {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

let require: NodeJS.Require | undefined;

/** Loads a module for which {@link isCommonJs} holds. The first call readies `require` for TypeScript. */
export function requireModule(file: string): unknown {
  require ??= compilingRequire();
  return require(file);
}

function compilingRequire(): NodeJS.Require {
  const plain = createRequire(import.meta.url);
  const tsNode = plain('ts-node') as typeof import('ts-node');
  // It finds `./x.ts` where `./x.js` is written, as `import` does. All else comes from the environment.
  tsNode.register({ experimentalResolver: true });
  return plain;
}
