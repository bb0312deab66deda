import { readFile } from 'node:fs/promises';
import {
  createRequire,
  type InitializeHook,
  type LoadHook,
  type LoadHookContext,
  type ResolveHook,
} from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { compilerFile } from '../../../formats/own-files.js';
import {
  compileFault,
  isCommonJs,
  JSON_MODULE,
  type LoaderSettings,
  moduleFile,
  TYPESCRIPT,
  transformOptions,
  writtenFor,
} from './compile.js';
import type { LoadMessage } from './register.js';

/** Hooks of Node's `import` for TypeScript; Node runs them in a thread of their own. */

// `import` of a CommonJS package searches its text for exports first.
const { transform } = createRequire(import.meta.url)(compilerFile('esbuild')) as typeof import('esbuild');

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
  const result = await find(specifier, context, next);
  if (context.parentURL?.startsWith('file:') && result.url.startsWith('file:'))
    report({ from: fileURLToPath(context.parentURL), to: fileURLToPath(result.url) });
  return result;
};

const find: ResolveHook = async (specifier, context, next) => {
  const { parentURL } = context;
  const conditions = [...context.conditions, ...(settings.conditions ?? [])];
  if (parentURL === undefined || !isTypeScript(parentURL)) return next(specifier, { ...context, conditions });
  const file = written(specifier, parentURL);
  // As it is written: links on the way may lead elsewhere later.
  if (file !== undefined) report({ from: fileURLToPath(parentURL), to: fileURLToPath(file) });
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
  const match = moduleFile(decodeURI(path), fileURLToPath(parentUrl), settings, onMissing);
  return match === undefined ? undefined : pathToFileURL(match).href + query;
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

/** JSON that is imported without `with { type: 'json' }`, as bundlers allow it and Node.js does not. */
function isBareJson(url: string, { importAttributes }: LoadHookContext): boolean {
  return isFileNamed(url, JSON_MODULE) && importAttributes.type === undefined;
}

/** The text of a module that exports the value as its default, and its members by their names. */
async function jsonModule(url: string): Promise<string> {
  const file = fileURLToPath(url);
  try {
    return (await transform(await readFile(file, 'utf8'), { loader: 'json', format: 'esm' })).code;
  } catch (error) {
    throw compileFault(error, file);
  }
}

function isTypeScript(url: string): boolean {
  return isFileNamed(url, TYPESCRIPT);
}

function isFileNamed(url: string, name: RegExp): boolean {
  return url.startsWith('file:') && name.test(new URL(url).pathname);
}

export const load: LoadHook = async (url, context, next) => {
  if (isBareJson(url, context))
    return { format: 'module', source: await jsonModule(url), shortCircuit: true };
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
