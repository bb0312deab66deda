import { readFileSync, realpathSync } from 'node:fs';
import Module, { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { programFile } from '../../../formats/own-files.js';
import { compileFault, isCommonJs, moduleFile, TYPESCRIPT, transformOptions } from './compile.js';
import { type LoadMessage, Loads } from './loads.js';
import type { LoaderSettings } from './settings.js';

let registered: { readonly settings: LoaderSettings; readonly loads: Loads } | undefined;

/**
 * Lets this process import the author's TypeScript from now on. Nothing is checked, and nothing is written.
 *
 * The first call decides: a process has one set of hooks.
 *
 * @returns what is loaded from now on.
 */
export function registerLoader(settings: LoaderSettings): Loads {
  if (registered !== undefined) return registered.loads;
  const { port1, port2: port } = new MessageChannel();
  const loads = new Loads(port1);
  registered = { settings, loads };
  process.setSourceMapsEnabled(true);
  register(pathToFileURL(programFile('codegen/schemas/loader/hooks')), {
    data: { settings, port },
    transferList: [port],
  });
  return loads;
}

/**
 * Loads a module, as `import` does where {@link isCommonJs} does not hold for it. `import` of a CommonJS module finds
 * its exports by their JavaScript text, and lists too few of them.
 *
 * @param module - absolute path.
 */
export async function loadModule(module: string): Promise<Readonly<Record<string, unknown>>> {
  const file = realpathSync(module);
  if (!TYPESCRIPT.test(file) || !isCommonJs(file)) return import(pathToFileURL(file).href);
  const { settings, loads } = registered ?? { settings: { experimentalDecorators: false } };
  require ??= compilingRequire(settings, (message) => loads?.add(message));
  return require(file);
}

let require: NodeJS.Require | undefined;

/** What of Node's `Module` a loader of CommonJS replaces; Node keeps it for that use, and does not type it. */
interface CommonJsLoader {
  readonly _extensions: Record<string, (module: CompilingModule, file: string) => void>;
  _resolveFilename(
    request: string,
    parent: { readonly filename?: string } | undefined,
    ...rest: unknown[]
  ): string;
}

interface CompilingModule {
  _compile(code: string, file: string): void;
}

function compilingRequire(settings: LoaderSettings, report: (message: LoadMessage) => void): NodeJS.Require {
  const loader = Module as unknown as CommonJsLoader;
  const require = createRequire(import.meta.url);
  const { transformSync } = require('esbuild') as typeof import('esbuild');
  const compile = (module: CompilingModule, file: string): void =>
    module._compile(compiled(file, settings, transformSync), file);
  for (const extension of ['.ts', '.tsx', '.cts']) loader._extensions[extension] = compile;
  const plain = loader._resolveFilename;
  loader._resolveFilename = function (request, parent, ...rest) {
    const from = parent?.filename;
    const to = moduleFile(request, from, settings, (missing) => report({ missing }));
    if (from !== undefined && to !== undefined) report({ from, to });
    return plain.call(this, to ?? request, parent, ...rest);
  };
  return require;
}

function compiled(
  file: string,
  settings: LoaderSettings,
  transform: typeof import('esbuild').transformSync,
): string {
  try {
    return transform(readFileSync(file, 'utf8'), transformOptions(file, 'cjs', settings)).code;
  } catch (error) {
    throw compileFault(error, file);
  }
}
