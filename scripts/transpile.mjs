// Module hooks for TypeScript. Tests start many processes: each reads what the first one transpiled.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax } =
  read('tsconfig.json').compilerOptions;
const options = {
  loader: 'ts',
  format: 'esm',
  target: 'es2022',
  sourcemap: 'inline',
  sourcesContent: false,
  tsconfigRaw: { compilerOptions: { experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax } },
};
const cache = join(root, 'node_modules/.cache/stepwright-transpiled');
mkdirSync(cache, { recursive: true });
const label = JSON.stringify([read('node_modules/esbuild/package.json').version, options]);

export function resolve(specifier, context, next) {
  const { parentURL } = context;
  const isOwn = parentURL?.startsWith('file:') && !parentURL.includes('/node_modules/');
  if (isOwn && /^\.{1,2}\/.*\.js$/.test(specifier)) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), parentURL);
    if (existsSync(source)) return next(source.href, context);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: await transpile(fileURLToPath(url)), shortCircuit: true };
}

async function transpile(file) {
  const source = readFileSync(file, 'utf8');
  const sourcefile = basename(file);
  const stored = join(cache, createHash('sha256').update(`${label}\0${sourcefile}\0${source}`).digest('hex'));
  try {
    return readFileSync(stored, 'utf8');
  } catch {
    const { transform } = await import('esbuild');
    const { code } = await transform(source, { ...options, sourcefile });
    const own = `${stored}.${randomUUID()}`;
    writeFileSync(own, code);
    renameSync(own, stored);
    return code;
  }
}
