import { readFile } from 'node:fs/promises';
import { createRequire, type InitializeHook, type LoadHook, type ResolveHook } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { compileFault, isCommonJs, moduleFile, TYPESCRIPT, transformOptions, writtenFor } from './compile.js';
import type { LoadMessage } from './loads.js';
import type { LoaderSettings } from './settings.js';

/** Hooks of Node's `import` for TypeScript; Node runs them in a thread of their own. */

// `import` of a CommonJS package searches its text for exports first.
const { transform } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');

interface HookData {
  readonly settings: LoaderSettings;
  /** Where each module that is found is reported. */
  readonly port: MessagePort;
}

let settings: LoaderSettings = { experimentalDecorators: false };
let report = (_message: LoadMessage): void => {};

export const initialize: InitializeHook<HookData> = (data) => {
  settings = data.settings;
  report = (message) => data.port.postMessage(message);
};

const onMissing = (file: string): void => report({ missing: file });

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await find(specifier, context, next);
  if (context.parentURL?.startsWith('file:') && found.url.startsWith('file:'))
    report({ from: fileURLToPath(context.parentURL), to: fileURLToPath(found.url) });
  return found;
};

const find: ResolveHook = async (specifier, context, next) => {
  const { parentURL } = context;
  const conditions = [...context.conditions, ...(settings.conditions ?? [])];
  if (parentURL === undefined || !isTypeScript(parentURL)) return next(specifier, { ...context, conditions });
  const file = written(specifier, parentURL);
  try {
    return await next(file ?? specifier, { ...context, conditions });
  } catch (error) {
    const source = sourceOf(error);
    if (source === undefined) throw error;
    return next(source, context);
  }
};

/** The URL of the file that a specifier refers to; nothing where Node finds it itself. */
function written(specifier: string, parentUrl: string): string | undefined {
  const [path = '', query = ''] = specifier.startsWith('#') ? [specifier] : specifier.split(/(?=[?#])/, 2);
  const found = moduleFile(decodeURI(path), fileURLToPath(parentUrl), settings, onMissing);
  return found === undefined ? undefined : pathToFileURL(found).href + query;
}

/**
 * The URL of the source of a file that Node has not found: `imports` and `exports` of a `package.json` name JavaScript
 * that is not built yet.
 */
function sourceOf(error: unknown): string | undefined {
  const file = missingFile(error as NotFound);
  if (file === undefined) return undefined;
  onMissing(file);
  const source = writtenFor(file, onMissing);
  return source === undefined ? undefined : pathToFileURL(source).href;
}

interface NotFound {
  readonly code?: unknown;
  /** Of the file, as Node.js has it. */
  readonly url?: unknown;
  /** With the file, as Yarn's Plug'n'Play has it. */
  readonly data?: { readonly unqualifiedPath?: unknown };
}

function missingFile({ code, url, data }: NotFound): string | undefined {
  if (code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  if (typeof url === 'string' && url.startsWith('file:')) return fileURLToPath(url);
  return typeof data?.unqualifiedPath === 'string' ? data.unqualifiedPath : undefined;
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
