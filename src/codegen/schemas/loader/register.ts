import { readFileSync, realpathSync } from 'node:fs';
import Module, { createRequire, register } from 'node:module';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { compilerFile, programFile } from '../../../formats/own-files.js';
import {
  compileFault,
  isCommonJs,
  type LoaderSettings,
  moduleFile,
  TYPESCRIPT,
  transformOptions,
} from './compile.js';

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
  const { transformSync } = require(compilerFile('esbuild')) as typeof import('esbuild');
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

/** A report of the hooks: one module loads another, or a file was looked for that does not exist. Paths are absolute. */
export type LoadMessage = { readonly from: string; readonly to: string } | { readonly missing: string };

/** What the modules of this process have loaded, as the loader's hooks and Node's own cache of `require` have it. */
export class Loads {
  readonly #port: MessagePort;
  readonly #edges = new Map<string, Set<string>>();
  readonly #missing = new Set<string>();
  readonly #before: ReadonlySet<string>;

  /** @param port - of the hooks' reports, which are read when they are asked for. */
  constructor(port: MessagePort) {
    this.#port = port;
    port.unref();
    this.#before = new Set(Object.keys(required));
  }

  add(message: LoadMessage): void {
    if ('missing' in message) this.#missing.add(message.missing);
    else {
      const targets = this.#edges.get(message.from) ?? new Set();
      this.#edges.set(message.from, targets.add(message.to));
    }
  }

  /**
   * The files that a module has loaded, directly or not, and those that were looked for and do not exist. A package
   * that is installed counts by its `package.json`, whose version identifies the rest. A file counts for every module
   * if it is not known which one has loaded it.
   *
   * @param module - absolute path.
   */
  of(module: string): readonly string[] {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
      this.add(next.message as LoadMessage);
    for (const [from, loaded] of Object.entries(required))
      for (const { filename: to } of loaded?.children ?? []) this.add({ from, to });
    const targets = new Set([...this.#edges.values()].flatMap((each) => [...each]));
    const unnamed = Object.keys(required).filter((file) => !this.#before.has(file) && !targets.has(file));
    // Node.js names modules by their real paths.
    const files = new Set([module, realpathSync(module), ...unnamed]);
    // Iteration includes files that are added meanwhile.
    for (const file of files) for (const target of this.#edges.get(file) ?? []) files.add(target);
    return [...new Set([...[...files].map(identityOf), ...this.#missing])];
  }
}

/** All modules that `require` has loaded. */
const required: NodeJS.Dict<NodeModule> = createRequire(import.meta.url).cache;

function identityOf(file: string): string {
  const names = file.split(sep);
  const at = names.lastIndexOf('node_modules');
  if (at === -1) return file;
  const length = names[at + 1]?.startsWith('@') ? 2 : 1;
  return join(names.slice(0, at + 1 + length).join(sep), 'package.json');
}
