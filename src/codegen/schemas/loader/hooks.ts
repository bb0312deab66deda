import { readFile } from 'node:fs/promises';
import { createRequire, type InitializeHook, type LoadHook, type ResolveHook } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  compileFault,
  isCommonJs,
  type LoaderSettings,
  TYPESCRIPT,
  transformOptions,
  typeScriptFile,
} from './compile.js';

/** Hooks of Node's `import` for TypeScript; Node runs them in a thread of their own. */

// `import` of a CommonJS package searches its text for exports first.
const { transform } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');

let settings: LoaderSettings = { experimentalDecorators: false };

export const initialize: InitializeHook<LoaderSettings> = (given) => {
  settings = given;
};

export const resolve: ResolveHook = (specifier, context, next) =>
  next(written(specifier, context.parentURL), context);

/** The specifier that Node finds: the URL of a TypeScript file where the specifier refers to one. */
function written(specifier: string, parentUrl: string | undefined): string {
  if (parentUrl === undefined || !isTypeScript(parentUrl)) return specifier;
  const [path = '', query = ''] = specifier.split(/(?=[?#])/, 2);
  const found = typeScriptFile(decodeURI(path), fileURLToPath(parentUrl));
  return found === undefined ? specifier : pathToFileURL(found).href + query;
}

function isTypeScript(url: string): boolean {
  return url.startsWith('file:') && TYPESCRIPT.test(new URL(url).pathname);
}

export const load: LoadHook = async (url, context, next) => {
  if (!isTypeScript(url)) return next(url, context);
  const file = fileURLToPath(url);
  const format = isCommonJs(file) ? 'commonjs' : 'module';
  const options = transformOptions(file, format === 'module' ? 'esm' : 'cjs', settings);
  try {
    const { code } = await transform(await readFile(file, 'utf8'), options);
    return { format, source: code, shortCircuit: true };
  } catch (error) {
    throw compileFault(error, file);
  }
};
