// Hooks of Node's module loader. Tests start hundreds of processes: each reads what the first one transpiled.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync, version } from 'esbuild';

const { compilerOptions } = JSON.parse(readFileSync(new URL('../tsconfig.json', import.meta.url), 'utf8'));
const { target, experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax } = compilerOptions;

/** The settings of this repository, whatever the folder of a file is. */
const options = {
  loader: 'ts',
  format: 'esm',
  target,
  sourcemap: 'inline',
  tsconfigRaw: { compilerOptions: { experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax } },
};

const cache = new URL('../node_modules/.cache/stepwright-transpiled/', import.meta.url);
mkdirSync(cache, { recursive: true });

/** An import of `x.js` is one of `x.ts` where that is the file. */
export function resolve(specifier, context, next) {
  if (/^(\.|file:).*\.js$/.test(specifier) && !context.parentURL?.includes('/node_modules/')) {
    const url = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export function load(url, context, next) {
  const [file] = url.split(/[?#]/);
  if (!/^file:.*\.ts$/.test(file) || file.includes('/node_modules/')) return next(url, context);
  return { format: 'module', shortCircuit: true, source: transpiled(fileURLToPath(file)) };
}

function transpiled(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256')
    .update(JSON.stringify([version, options, basename(path), source]))
    .digest('hex');
  const stored = new URL(key, cache);
  try {
    return readFileSync(stored, 'utf8');
  } catch {
    const { code } = transformSync(source, { ...options, sourcefile: basename(path) });
    const own = new URL(`${key}.${process.pid}`, cache);
    writeFileSync(own, code);
    renameSync(own, stored);
    return code;
  }
}
